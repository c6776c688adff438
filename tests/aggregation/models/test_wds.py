"""Votes weighed by the diagonal of Dawid and Skene's confusion matrices."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.wds import WDS
from crowdpilot.votes import Votes


def test_it_is_the_formula_of_the_paper(simulated):
    """Section 3 of Lefort et al. (WAUM), written out vote by vote."""
    votes, _ = simulated
    confusion = DawidSkene(smoothing=0.1).fit(votes).params["confusion"]
    expected = np.zeros((len(votes.tasks), 3))
    for i, j, k in zip(votes.task, votes.worker, votes.label, strict=True):
        expected[i, k] += confusion[j, k, k]
    expected /= expected.sum(axis=1, keepdims=True)
    result = WDS(smoothing=0.1).fit(votes)
    np.testing.assert_allclose(result.probs, expected)
    np.testing.assert_allclose(result.params["confusion"], confusion)


def test_it_is_softer_than_dawid_and_skene_and_names_mostly_the_same(simulated):
    votes, _ = simulated
    soft, sure = WDS().fit(votes), DawidSkene().fit(votes)
    assert soft.confidence.mean() < sure.confidence.mean() - 0.1
    assert (soft.codes == sure.codes).mean() > 0.85
    np.testing.assert_allclose(soft.skill, sure.skill)


def test_a_vote_counts_as_often_as_its_worker_is_right_about_that_class():
    """By a heavy gold record x is always right, y about all of b and half of a."""
    votes = Votes.of(
        [1, 2, 3, 4] * 2 + [5, 5, 6, 6],
        [*"xxxxyyyy", *"xyxy"],
        [*"aabbabbb", *"abba"],
        weight=[1e6] * 8 + [1] * 4,
        gold={1: "a", 2: "a", 3: "b", 4: "b"},
    )
    result = WDS().fit(votes)
    np.testing.assert_allclose(result.probs[4:], [[1 / 2, 1 / 2], [1 / 3, 2 / 3]], atol=1e-5)
    np.testing.assert_allclose(result.probs[:4], np.eye(2)[[0, 0, 1, 1]])


def test_a_task_without_votes_is_uniform():
    votes = Votes.of([1, 1, 2, 2], list("xyxy"), list("aabb"), tasks=[3])
    np.testing.assert_allclose(WDS().fit(votes).probs[2], [0.5, 0.5])


def test_history_and_start_reach_dawid_and_skene(simulated):
    votes, _ = simulated
    old, new = votes.take(votes.task < 100), votes.take(votes.task >= 100)
    history, start = WDS().fit(old), WDS().fit(new)
    result = WDS().fit(new, history=history)
    same = DawidSkene().fit(new, history=DawidSkene().fit(old))
    np.testing.assert_allclose(result.params["confusion"], same.params["confusion"])
    assert WDS().fit(new, start=start).trace[0] > WDS().fit(new).trace[0]
