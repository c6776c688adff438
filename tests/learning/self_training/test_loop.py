from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.registry import MakeMethod
from crowdpilot.learning.self_training.loop import SelfTraining, SelfTrainingResult, parse_self_training
from crowdpilot.learning.self_training.pseudo_votes import SELECTIONS
from crowdpilot.learning.training.loop import Scores, Training
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes

CPU = torch.device("cpu")


def imbalanced_crowd(tasks: int = 200, workers: int = 12) -> tuple[np.ndarray, Votes, np.ndarray]:
    """Three classes, the first with six tasks in ten, told apart by X; a fifth of all possible votes."""
    rng = np.random.default_rng(0)
    truth = rng.choice(3, tasks, p=[0.6, 0.25, 0.15])
    x = np.eye(3)[truth] + rng.normal(0, 0.45, (tasks, 3))
    task, worker = np.nonzero(rng.random((tasks, workers)) < 0.2)
    right = rng.random(len(task)) < 0.8
    label = np.where(right, truth[task], rng.integers(3, size=len(task)))
    votes = Votes(task, worker, label, np.arange(tasks), np.arange(workers), np.arange(3))
    return x.astype(np.float32), votes, truth.astype(np.int32)


X, VOTES, TRUTH = imbalanced_crowd()
ROWS: Rows = to_rows(X, CPU)
SMALL = SelfTraining(add=200, rounds=3)


def procedure(method: str | MakeMethod = "crowdlayer", **settings: object) -> TrainingProcedure:
    loop = Training(epochs=6, batch_size=50, lr=0.05)
    return replace(TrainingProcedure("linear", method, VoteLoss(), loop, CPU), **settings)


def fixed_scores(*scores: float) -> TrainingProcedure:
    """A procedure whose validation gives these scores, one after the other."""
    rest = iter(scores)
    pseudo_votes = procedure(validate=lambda method: {"score": next(rest)})
    return pseudo_votes.with_changes(epochs=1)


def state(done: SelfTrainingResult) -> dict[str, Tensor]:
    return dict(done.method.state_dict())


def same(a: SelfTrainingResult, b: SelfTrainingResult) -> bool:
    return all(torch.equal(x, y) for x, y in zip(state(a).values(), state(b).values(), strict=True))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_each_round_has_its_votes_and_its_numbers(selection: str) -> None:
    done = SelfTraining(selection, add=200, rounds=3).run(procedure(), ROWS, VOTES, TRUTH)
    base, *later = done.rounds
    real = np.bincount(VOTES.label)
    assert sum(base.pseudo_votes) == 0
    assert np.isnan([base.imbalance_pseudo_votes, base.precision, base.recall]).all()
    for number, one in enumerate(later, start=1):
        pseudo_votes = np.array(one.pseudo_votes)
        assert 100 * number < pseudo_votes.sum() <= 200 * number + 3
        assert one.imbalance_votes == real.max() / real.min()
        assert one.imbalance_pseudo_votes == pseudo_votes.max() / pseudo_votes.min()
        assert one.imbalance_all == (pseudo_votes + real).max() / (pseudo_votes + real).min()
        assert 0.3 < min(one.precision, one.recall) <= max(one.precision, one.recall) <= 1
    assert [h["round"] for h in done.history] == np.repeat(range(4), 6).tolist()


def test_dasc_makes_classes_more_equal_and_confidence_less() -> None:
    """The finding of the paper's Figure 4."""
    ends = {
        c: SelfTraining(c, add=300, rounds=2).run(procedure(), ROWS, VOTES).rounds[-1] for c in SELECTIONS
    }
    assert ends["dasc"].imbalance_all < ends["random"].imbalance_all < ends["confidence"].imbalance_all
    assert ends["dasc"].imbalance_all < ends["dasc"].imbalance_votes


def test_the_base_is_what_the_recipe_alone_gives() -> None:
    done = SMALL.run(fixed_scores(9, 1, 1, 1), ROWS, VOTES)
    alone, _ = procedure().with_changes(epochs=1).train(ROWS, VOTES)
    assert done.best_round == 0
    assert all(
        torch.equal(x, y) for x, y in zip(state(done).values(), alone.state_dict().values(), strict=True)
    )


@pytest.mark.parametrize(("scores", "best_round"), [((1, 3, 2, 0), 1), ((1, 1, 1, 1), 0), ((0, 1, 2, 3), 3)])
def test_the_round_that_validates_best_is_kept(scores: tuple[float, ...], best_round: int) -> None:
    done = SMALL.run(fixed_scores(*scores), ROWS, VOTES)
    until = SMALL if best_round == 0 else replace(SMALL, rounds=best_round)
    assert done.best_round == best_round
    assert [one.scores["score"] for one in done.rounds] == list(scores)
    assert same(done, until.run(fixed_scores(*(scores if best_round == 0 else range(9))), ROWS, VOTES))


def test_without_validation_the_last_round_is_kept() -> None:
    assert SMALL.run(procedure(), ROWS, VOTES).best_round == 3


def test_truth_decides_nothing() -> None:
    with_truth, without = (SMALL.run(procedure(), ROWS, VOTES, truth) for truth in (TRUTH, None))
    assert same(with_truth, without)
    assert np.isnan(without.rounds[-1].precision)


def test_gold_measures_the_quality_of_pseudo_votes() -> None:
    gold = np.where(np.arange(200) < 100, TRUTH, -1).astype(np.int32)
    known = replace(VOTES, gold=gold)
    assert SMALL.run(procedure(), ROWS, known).rounds[-1].precision > 0.5


def test_rounds_end_when_there_is_nothing_left_to_add() -> None:
    missing = 200 * 12 - len(VOTES)
    done = SelfTraining("random", add=missing // 2 + 1, rounds=9).run(procedure(), ROWS, VOTES)
    assert [sum(one.pseudo_votes) for one in done.rounds] == [0, missing // 2 + 1, missing]


def test_a_share_is_one_of_the_missing_votes() -> None:
    missing = 200 * 12 - len(VOTES)
    done = SelfTraining("random", add=0.25, rounds=1).run(procedure(), ROWS, VOTES)
    assert sum(done.rounds[1].pseudo_votes) == round(missing / 4)


def test_pseudo_votes_can_be_predicted_again_in_each_round() -> None:
    done = SelfTraining("confidence", add=200, rounds=3, accumulate=False).run(procedure(), ROWS, VOTES)
    assert [sum(one.pseudo_votes) for one in done.rounds] == [0, 200, 200, 200]


class Recorder(Method):
    """Remembers with which weights and votes it began."""

    name = "recorder"
    seen: list[tuple[Tensor, Votes]] = []  # noqa: RUF012 (shared by all on purpose)

    def __init__(self, net: nn.Module, votes: Votes) -> None:
        super().__init__(net, votes)
        self.register_buffer("total", torch.tensor(float(len(votes))))
        self.votes = votes

    def before_epoch(self, epoch: int, epochs: int, evaluate_all: object) -> None:
        if epoch == 0:
            self.seen.append((next(self.net.parameters()).detach().clone(), self.votes))

    def loss(self, batch: object) -> Tensor:
        return ((self(batch.x) - 1) ** 2).mean()  # type: ignore[attr-defined]

    def confusion(self) -> Tensor:
        return torch.eye(self.classes).expand(self.workers, -1, -1)


@pytest.mark.parametrize("warm_start", [True, False])
def test_a_round_starts_from_the_last_weights_if_wanted(warm_start: bool) -> None:
    Recorder.seen.clear()
    done = replace(SMALL, warm_start=warm_start, rounds=2).run(procedure(Recorder), ROWS, VOTES)
    (first, _), (second, votes), (_, last) = Recorder.seen
    assert torch.equal(first, second) is not warm_start
    assert done.method.total == len(last)  # what follows from the votes is not taken over
    assert len(votes) < len(last)


def test_pseudo_votes_follow_the_votes_with_their_weight() -> None:
    Recorder.seen.clear()
    replace(SMALL, weight=0.25, rounds=1).run(procedure(Recorder), ROWS, VOTES)
    votes = Recorder.seen[1][1]
    n = len(VOTES)
    np.testing.assert_array_equal(votes.label[:n], VOTES.label)
    assert set(votes.weights[:n]) == {1.0}
    assert set(votes.weights[n:]) == {0.25}


def test_a_run_that_is_stopped_goes_on_to_the_same_result(tmp_path: Path) -> None:
    whole = SMALL.run(procedure(), ROWS, VOTES)

    def stop(stage: str, scores: Scores) -> None:
        if (stage, scores["epoch"]) == ("round2", 3):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SMALL.run(procedure(checkpoint=tmp_path, on_epoch=stop), ROWS, VOTES)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"round{n}.safetensors" for n in range(3)]
    resumed = SMALL.run(procedure(checkpoint=tmp_path), ROWS, VOTES)
    assert same(resumed, whole)
    assert resumed.history == whole.history


def test_a_text_says_what_to_do() -> None:
    assert parse_self_training("DASC") == SelfTraining()
    assert parse_self_training("confidence[add=.5, rounds=2]") == SelfTraining(
        "confidence", add=0.5, rounds=2
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dask", "did you mean dasc"),
        ("dasc[much=1]", "no option 'much'"),
        ("dasc[add=0]", "add is 0"),
        ("dasc[add=1.5]", "add is 1.5"),
        ("random[rounds=0]", "rounds is 0"),
        ("random[weight=0]", "weight is 0"),
    ],
)
def test_a_wrong_text_is_explained(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_self_training(text)


def test_an_unknown_choice_is_explained() -> None:
    with pytest.raises(ValueError, match="expected one of dasc, confidence, random"):
        SelfTraining("best")  # type: ignore[arg-type]


def test_a_base_without_a_model_of_workers_says_so() -> None:
    with pytest.raises(ValueError, match="confusion matrices"):
        SMALL.run(procedure("two_stage"), ROWS, VOTES)
