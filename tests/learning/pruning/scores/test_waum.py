from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score

from crowdpilot.aggregation import DawidSkene, parse_strategy
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.pruning.scores import Difficulty, Entropy
from crowdpilot.learning.pruning.scores.waum import AUM, WAUM, WAUMPerWorker, WaumResult
from crowdpilot.learning.pruning.training_margins import EachVote
from crowdpilot.learning.training.loop import Training
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes
from tests.crowds import votes_and_features

CPU = torch.device("cpu")
SKILL = np.array([0.95, 0.9, 0.85, 0.7, 0.6, 0.5])


def swapped_labels(tasks: int = 240, swapped: int = 12) -> tuple[np.ndarray, Votes, np.ndarray]:
    """All votes on the first tasks are for one and the same wrong class."""
    x, votes, truth = votes_and_features(tasks, SKILL, 4, 3, seed=1, centres=np.eye(4), noise=0.25)
    label = np.where(votes.task < swapped, (truth[votes.task] + 1) % 4, votes.label)
    return x, replace(votes, label=label), np.arange(tasks) < swapped


X, VOTES, WRONG = swapped_labels()
ROWS = to_rows(X, CPU)
PROCEDURE = TrainingProcedure(
    "linear", "crowdlayer", VoteLoss(), Training(epochs=8, batch_size=40, lr=0.05), CPU
)


@pytest.fixture(scope="module")
def found() -> WaumResult:
    return WAUM().explain(PROCEDURE, ROWS, VOTES)


def test_waum_is_the_mean_of_the_areas_weighed_by_trust(found: WaumResult) -> None:
    """Equation 3, one task at a time."""
    for task in (0, 7, 100, 239):
        mine = VOTES.task == task
        wanted = (found.trust[mine] * found.aum[mine]).sum() / found.trust[mine].sum()
        assert found.waum[task] == pytest.approx(wanted)


def test_trust_is_how_likely_a_worker_is_right_on_such_a_task(found: WaumResult) -> None:
    """Equation 4, one vote at a time."""
    confusion = DawidSkene().fit(VOTES).params["confusion"]
    _, probs = WAUM().held_out_areas(PROCEDURE, ROWS, VOTES, "waum")
    for vote in (0, 11, 500):
        task, worker = VOTES.task[vote], VOTES.worker[vote]
        wanted = sum(confusion[worker, k, k] * probs[task, k] for k in range(4))
        assert found.trust[vote] == pytest.approx(wanted)
    assert ((found.trust >= 0) & (found.trust <= 1)).all()
    np.testing.assert_array_equal(np.argsort(-found.worker_trust)[:3], [0, 1, 2])


def test_labels_of_good_workers_have_large_margins(found: WaumResult) -> None:
    assert found.worker_aum[:2].min() > found.worker_aum[4:].max()


def test_swapped_tasks_are_found_better_than_by_other_scores() -> None:
    scores = (WAUM(margin="pleiss"), AUM(margin="pleiss"), Entropy(), Difficulty())
    precision = {s.name: average_precision_score(WRONG, -s.score(PROCEDURE, ROWS, VOTES)) for s in scores}
    assert precision["waum"] > 0.6
    assert max(precision, key=precision.__getitem__) == "waum"


def test_aum_is_the_area_of_the_label_of_an_aggregator() -> None:
    label = parse_strategy("dawid_skene").fit(VOTES).codes
    alone = Votes(np.arange(240), np.zeros(240), label, VOTES.tasks, np.arange(1), VOTES.classes)
    area, _ = AUM().held_out_areas(PROCEDURE, ROWS, alone, "aum")
    score = AUM(labels="dawid_skene").score(PROCEDURE, ROWS, VOTES)
    np.testing.assert_array_equal(score, area[np.arange(240), label])


@pytest.mark.parametrize("score", [AUM(), WAUM(), WAUMPerWorker(epochs=3)], ids=lambda s: s.name)
def test_tasks_without_votes_have_no_score(score: AUM | WAUM) -> None:
    votes = VOTES.take((VOTES.task != 4) & (VOTES.task < 60))
    scores = score.score(PROCEDURE, ROWS, votes)
    assert np.isnan(scores[4])
    assert np.isfinite(np.delete(scores[:60], 4)).all()
    assert np.isnan(scores[60:]).all()


@pytest.mark.parametrize("score", [AUM(), WAUM(), WAUMPerWorker(epochs=3)], ids=lambda s: s.name)
def test_the_same_votes_give_the_same_scores(score: AUM | WAUM) -> None:
    first, second = (score.score(PROCEDURE, ROWS, VOTES) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_per_worker_no_vote_is_judged_by_those_of_others() -> None:
    others = VOTES.worker != 2
    changed = replace(VOTES, label=np.where(others, (VOTES.label + 1) % 4, VOTES.label))
    before, after = (WAUMPerWorker(epochs=3).explain(PROCEDURE, ROWS, v) for v in (VOTES, changed))
    np.testing.assert_array_equal(before.aum[~others], after.aum[~others])
    assert (before.aum[others] != after.aum[others]).mean() > 0.9


def test_per_worker_the_network_learns_from_their_votes_alone() -> None:
    mine = VOTES.take(VOTES.worker == 2)
    method, _ = PROCEDURE.with_changes(method=EachVote).train(ROWS, mine)
    with torch.no_grad():
        probs = method(torch.from_numpy(X[mine.task])).softmax(1).double().numpy()
    diagonal = np.diag(DawidSkene().fit(VOTES).params["confusion"][2])
    trust = WAUMPerWorker().explain(PROCEDURE, ROWS, VOTES).trust[VOTES.worker == 2]
    np.testing.assert_allclose(trust, probs @ diagonal, atol=1e-6)


def test_per_worker_a_single_vote_is_left_out() -> None:
    votes = VOTES.take((VOTES.worker != 5) | (VOTES.task == VOTES.task[VOTES.worker == 5][0]))
    found = WAUMPerWorker(epochs=3).explain(PROCEDURE, ROWS, votes)
    assert np.isnan(found.aum[votes.worker == 5]).all()
    assert np.isfinite(found.waum).all()


def test_a_vote_of_weight_two_counts_like_two(found: WaumResult) -> None:
    weight = np.where(VOTES.worker == 0, 2.0, 1.0)
    twice = np.concatenate([np.arange(len(VOTES)), np.flatnonzero(VOTES.worker == 0)])
    heavy = WaumResult(replace(VOTES, weight=weight), found.aum, found.trust)
    repeated = WaumResult(VOTES.take(twice), found.aum[twice], found.trust[twice])
    np.testing.assert_allclose(heavy.waum, repeated.waum)
    assert (heavy.waum != found.waum).any()


def test_an_aggregator_without_confusion_matrices_is_refused() -> None:
    with pytest.raises(ValueError, match="majority_voting has no confusion matrices"):
        WAUM(confusion="majority_voting").score(PROCEDURE, ROWS, VOTES)


def test_per_worker_holds_nothing_out() -> None:
    with pytest.raises(ValueError, match="folds is 5"):
        WAUMPerWorker(folds=5)
