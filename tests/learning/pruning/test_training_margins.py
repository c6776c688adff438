from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.pruning.training_margins import (
    EachVote,
    Margin,
    MarginAreas,
    MarginRecorder,
    MarginScore,
    margins,
)
from crowdpilot.learning.training.loop import Scores, Training
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes

CPU = torch.device("cpu")
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(4, size=60)
X = (np.eye(4)[TRUTH] + RNG.normal(0, 0.5, (60, 4))).astype(np.float32)
TASK, WORKER = np.repeat(np.arange(60), 3), np.tile(np.arange(3), 60)
LABEL = np.where(RNG.random(180) < 0.7, TRUTH[TASK], RNG.integers(4, size=180))
VOTES = Votes(TASK, WORKER, LABEL, np.arange(60), np.arange(3), np.arange(4))
ROWS = to_rows(X, CPU)
PROCEDURE = TrainingProcedure(
    "linear", "crowdlayer", VoteLoss(), Training(epochs=5, batch_size=20, lr=0.1), CPU
)


class Remember(nn.Module):
    """Keeps the logits after each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.logits: list[Tensor] = []

    def after_epoch(self, method: Method, batches: Batches) -> None:
        method.eval()
        with torch.no_grad():
            self.logits.append(method(batches.batch(torch.arange(len(batches))).x))


def by_hand(logits: list[float], label: int, kind: Margin, topk: int) -> float:
    """The definitions, one label at a time."""
    if kind == "pleiss":
        others = [z for k, z in enumerate(logits) if k != label]
        return logits[label] - sorted(others, reverse=True)[topk - 1]
    probs = torch.tensor(logits, dtype=torch.float64).softmax(0).tolist()
    return float(probs[label] - sorted(probs, reverse=True)[topk])


@pytest.mark.parametrize("kind", ["yang", "pleiss"])
@pytest.mark.parametrize("topk", [1, 2, 3])
def test_margins_are_those_of_the_papers(kind: Margin, topk: int) -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5, 0.3], [1.0, 1.0, -2.0, 0.0], [0.0, 0.0, 0.0, 0.0]]).double()
    wanted = [[by_hand(row, label, kind, topk) for label in range(4)] for row in logits.tolist()]
    np.testing.assert_allclose(margins(logits, kind, topk), wanted, atol=1e-12)


def test_only_the_likeliest_label_has_a_positive_margin() -> None:
    logits = torch.randn(50, 6, generator=torch.Generator().manual_seed(0))
    for kind in ("yang", "pleiss"):
        assert torch.equal(margins(logits, kind) > 0, F.one_hot(logits.argmax(1), 6).bool())


@pytest.mark.parametrize("kind", ["yang", "pleiss"])
def test_the_area_is_the_mean_margin_of_all_epochs(kind: Margin) -> None:
    tasks = np.array([41, 3, 17], np.int32)
    seen, all_of_them = MarginRecorder(tasks, 4, kind=kind, topk=2), Remember()
    PROCEDURE.with_changes(method=EachVote).train(ROWS, VOTES, callbacks=[seen, all_of_them])
    logits = torch.stack(all_of_them.logits)[:, tasks].double()
    wanted = torch.stack([margins(epoch, kind, 2) for epoch in logits]).mean(0)
    np.testing.assert_allclose(seen.area, wanted, atol=1e-6)
    np.testing.assert_allclose(seen.probs, logits[-1].softmax(-1), atol=1e-6)


def test_watching_changes_nothing() -> None:
    network = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 4))
    loop = PROCEDURE.with_changes(network=network, method=EachVote)
    watched, _ = loop.train(ROWS, VOTES, callbacks=[MarginRecorder(np.arange(60, dtype=np.int32), 4)])
    alone, _ = loop.train(ROWS, VOTES)
    for a, b in zip(watched.parameters(), alone.parameters(), strict=True):
        assert torch.equal(a, b)


def test_each_vote_is_an_example() -> None:
    weight = np.linspace(0.5, 2, len(VOTES))
    votes = replace(VOTES, weight=weight)
    method = EachVote(nn.Linear(4, 4), votes)
    batch = Batches(ROWS, votes).batch(torch.arange(60))
    each = F.cross_entropy(method(torch.from_numpy(X[TASK])), torch.as_tensor(LABEL), reduction="none")
    wanted = (torch.as_tensor(weight) * each).sum() / weight.sum()
    assert method.loss(batch).item() == pytest.approx(wanted.item(), rel=1e-5)


class Stopped(Exception):
    pass


def test_a_run_that_was_stopped_ends_as_if_it_was_not(tmp_path: Path) -> None:
    def stop(stage: str, scores: Scores) -> None:
        if scores["epoch"] == 2 and stage.startswith("margins-2of3"):
            raise Stopped

    kept = replace(PROCEDURE, checkpoint=tmp_path)
    with pytest.raises(Stopped):
        MarginScore(folds=3).held_out_areas(replace(kept, on_epoch=stop), ROWS, VOTES)
    done, whole = (MarginScore(folds=3).held_out_areas(r, ROWS, VOTES) for r in (kept, PROCEDURE))
    for a, b in zip(done, whole, strict=True):
        np.testing.assert_array_equal(a, b)


def test_margins_of_another_kind_do_not_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    kept = replace(PROCEDURE, checkpoint=tmp_path)
    MarginScore().held_out_areas(kept, ROWS, VOTES)
    for other in (MarginScore(margin="pleiss"), MarginScore(topk=2), MarginScore(folds=1)):
        fresh, after = other.held_out_areas(PROCEDURE, ROWS, VOTES), other.held_out_areas(kept, ROWS, VOTES)
        np.testing.assert_array_equal(fresh.area, after.area)


def without_word_of(task: int, folds: int) -> tuple[MarginAreas, MarginAreas]:
    """Areas with the votes on a task as they are, and with all of them turned and its class epochs_seen."""
    mine = VOTES.task == task
    turned = replace(
        VOTES, label=np.where(mine, (LABEL + 1) % 4, LABEL), gold=np.where(np.arange(60) == task, 2, -1)
    )
    return MarginScore(folds=folds).held_out_areas(PROCEDURE, ROWS, VOTES), MarginScore(
        folds=folds
    ).held_out_areas(PROCEDURE, ROWS, turned)


@pytest.mark.parametrize("task", [0, 31])
def test_what_is_said_of_a_task_does_not_reach_the_network_that_judges_it(task: int) -> None:
    before, after = without_word_of(task, folds=3)
    np.testing.assert_array_equal(before.area[task], after.area[task])
    np.testing.assert_array_equal(before.probs[task], after.probs[task])
    assert (before.area != after.area).any(axis=1).mean() > 0.5


def test_with_one_fold_it_does() -> None:
    before, after = without_word_of(0, folds=1)
    assert (before.area[0] != after.area[0]).any()


def test_tasks_without_votes_have_no_area() -> None:
    area, probs = MarginScore().held_out_areas(PROCEDURE, ROWS, VOTES.take(VOTES.task % 7 != 0))
    none = np.arange(60) % 7 == 0
    np.testing.assert_array_equal(np.isnan(area).all(axis=1), none)
    np.testing.assert_array_equal(np.isnan(probs).any(axis=1), none)


def test_there_may_be_fewer_tasks_than_folds() -> None:
    area, _ = MarginScore(folds=9).held_out_areas(PROCEDURE, ROWS, VOTES.take(VOTES.task < 2))
    assert np.isfinite(area[:2]).all()
    alone, _ = MarginScore(folds=9).held_out_areas(PROCEDURE, ROWS, VOTES.take(VOTES.task == 5))
    assert np.isfinite(alone[5]).all()


def test_margins_are_watched_to_the_end_whatever_validates() -> None:
    impatient = replace(PROCEDURE.with_changes(patience=1), validate=lambda method: {"score": 0.0})
    for a, b in zip(
        *(MarginScore(epochs=7).held_out_areas(r, ROWS, VOTES) for r in (impatient, PROCEDURE)), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("asked", "procedure", "watched"), [(None, 5, 5), (None, 50, 20), (3, 5, 3), (30, 5, 30)]
)
def test_margins_are_watched_as_long_as_the_recipe_says_but_not_too_long(
    asked: int | None, procedure: int, watched: int
) -> None:
    epochs_seen: list[float] = []
    loop = replace(
        PROCEDURE.with_changes(epochs=procedure),
        on_epoch=lambda stage, scores: epochs_seen.append(scores["epoch"]),
    )
    MarginScore(folds=1, epochs=asked).held_out_areas(loop, ROWS, VOTES)
    assert len(epochs_seen) == watched


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"margin": "yung"}, "expected one of yang, pleiss"),
        ({"topk": 4}, "less than the 4 classes"),
        ({"topk": 0}, "topk is 0"),
        ({"folds": 0}, "folds is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"alpha": 1.5}, "alpha is 1.5"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        MarginScore(**settings).held_out_areas(PROCEDURE, ROWS, VOTES)  # type: ignore[arg-type]  # wrong on purpose
