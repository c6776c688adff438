"""A worker takes memory from the first vote on; until then they have the confusion matrix of their kind."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from crowdpilot.hybrid import Campaign, Costs
from crowdpilot.hybrid.campaign.estimation.worker_matrices import WorkerMatrices
from tests.crowds import vote_tuples

CLASSES = [f"class {k}" for k in range(100)]
ITEMS = [f"i{n}" for n in range(30)]


def test_workers_without_votes_take_no_memory_for_matrices() -> None:
    campaign = Campaign(["a", "b"], CLASSES, Costs.equal(len(CLASSES)))
    tracemalloc.start()
    for n in range(2000):
        campaign.register_worker(f"guest {n}")
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 2000 * 8 * len(CLASSES)  # less than a row of a matrix for each
    campaign.tell([("a", "guest 7", "class 3")], refit=False)
    assert campaign._parts.questions[0].matrices.with_votes.tolist() == [7]


def test_a_campaign_of_a_thousand_classes_is_made_without_large_arrays() -> None:
    classes = [f"class {k}" for k in range(1000)]
    costs = Costs.equal(1000)
    tracemalloc.start()
    Campaign([], classes, costs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * costs.errors.nbytes  # (classes, classes), and nothing with one dimension more


@pytest.mark.parametrize("refit", [False, True])
def test_people_who_come_and_do_not_vote_change_nothing(refit: bool) -> None:
    votes = vote_tuples(ITEMS, ["no", "yes"], 0)
    alone, crowded = (Campaign(ITEMS, ["no", "yes"], Costs.binary(crowd=0.02)) for _ in range(2))
    for n in range(20):
        crowded.register_worker(f"guest {n}")
    for campaign in (alone, crowded):
        campaign.tell(votes[:40], refit=refit)
        campaign.tell(votes[40:], refit=refit)
    np.testing.assert_allclose(crowded.posterior(), alone.posterior(), atol=1e-12)
    estimates = crowded.view.estimates()
    kind = crowded._parts.questions[0].matrices.kind_confusion
    np.testing.assert_allclose(np.exp(estimates.log_confusion[0]), kind[0])
    assert len(estimates.log_confusion) == len(crowded.view.workers().names)


def test_a_model_update_carries_matrices_of_workers_with_votes_only() -> None:
    votes = vote_tuples(ITEMS, ["no", "yes"], 1)
    source, follower = (Campaign(ITEMS, ["no", "yes"], Costs.binary(crowd=0.02)) for _ in range(2))
    for campaign in (source, follower):
        for n in range(9):
            campaign.register_worker(f"guest {n}")
        campaign.tell(votes[:50], refit=False)
    source.refit()
    update = source.model_update()
    assert update["questions"][0]["log_confusion"]["shape"][0] == len({worker for _, worker, _ in votes[:50]})
    follower.tell([("i0", "guest 3", "yes")], refit=False)
    follower.apply_model_update(update)
    source.tell([("i0", "guest 3", "yes")], refit=False)
    np.testing.assert_allclose(follower.posterior(), source.posterior(), atol=1e-12)


def test_matrices_may_be_asked_for_in_any_order() -> None:
    matrices = WorkerMatrices(np.array([[[8.0, 2.0], [1.0, 9.0]], [[5.0, 5.0], [5.0, 5.0]]]))
    for kind in (0, 1, 0, 1):
        matrices.add_worker(kind)
    said = matrices.of_labels(np.array([3, 0]), np.array([0, 1]))
    np.testing.assert_allclose(np.exp(said), [[0.5, 0.5], [0.2, 0.9]])
    matrices.change(np.array([3]), np.log([[[0.7, 0.3], [0.3, 0.7]]]))
    assert matrices.with_votes.tolist() == [0, 3]
    np.testing.assert_allclose(np.exp(matrices.own()[1]), [[0.7, 0.3], [0.3, 0.7]])
    np.testing.assert_allclose(np.exp(matrices.all())[:, 0, 0], [0.8, 0.5, 0.8, 0.7])
    np.testing.assert_allclose(matrices.accuracy(np.array([0.5, 0.5])), [0.85, 0.5, 0.85, 0.7])
