"""The loop that PM and CATD share."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.base import NotConverged
from crowdpilot.aggregation.models.catd import CATD
from crowdpilot.aggregation.models.pm import PM
from crowdpilot.aggregation.truth_discovery import TruthDiscovery
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes

both = pytest.mark.parametrize("model", [PM(), CATD()], ids=str)
HARD = [0.95, 0.9, 0.55, 0.55, 0.5, 0.5, 0.5]  # two who know, five who hardly do


def right(result, truth) -> float:
    return float((result.codes == truth).mean())


@both
def test_the_weights_beat_the_plain_count(model):
    votes, truth = one_coin(tasks=400, skill=HARD, classes=3, seed=0)
    counted = votes.tally().argmax(axis=1)
    assert right(model.fit(votes), truth) > (counted == truth).mean() + 0.025


@both
def test_better_workers_weigh_more(model):
    votes, _ = one_coin(tasks=400, skill=[0.9, 0.8, 0.7, 0.6, 0.5], seed=0)
    assert (np.diff(model.fit(votes).params["weight"]) < 0).all()


@both
def test_the_truth_is_where_most_weight_is_and_the_errors_are_counted_from_it(model):
    votes, _ = one_coin(tasks=60, skill=HARD, votes_per_task=3, seed=1)
    result = model.fit(votes)
    truth = result.probs.argmax(axis=1)  # no ties in this crowd
    errors = votes.worker_sum((votes.label != truth[votes.task]).astype(float))
    np.testing.assert_allclose(result.params["errors"], errors)
    np.testing.assert_allclose(result.params["weight"], model.worker_weights(errors, votes.worker_sum()))
    tally = votes.tally(result.params["weight"][votes.worker])
    np.testing.assert_allclose(result.probs, tally / tally.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(result.skill, 1 - errors / votes.worker_sum())


@both
def test_a_tie_is_half_an_error(model):
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    result = model.fit(votes)
    np.testing.assert_allclose(result.probs, [[0.5, 0.5]])
    np.testing.assert_allclose(result.params["errors"], [0.5, 0.5])


@both
def test_gold_tells_who_is_wrong(model):
    votes = Votes.of(np.repeat([1, 2, 3, 4], 3), list("xyz") * 4, list("abb") * 4)
    assert model.fit(votes).labels.tolist() == ["b", "b", "b", "b"]
    taught = model.fit(votes.with_gold({1: "a", 2: "a", 3: "a"}))
    assert taught.params["errors"].tolist() == [0, 4, 4]
    assert taught.labels.tolist() == ["a", "a", "a", "a"]


@both
def test_history_counts_as_if_its_votes_were_here(model):
    old = Votes.of([1, 2, 3] * 3, list("xxxyyyzzz"), list("abaabaaaa"))
    before = model.fit(old)
    votes = Votes.of([7, 7, 7], ["z", "new", "x"], list("bba"))
    errors = np.array([1, 0, 0])
    got = model.fit(votes, history=before).params["weight"]
    voted = np.array([4, 1, 4])
    truth_is_b = model.worker_weights(errors * 1.0 + [0, 0, 1], voted * 1.0)
    np.testing.assert_allclose(got, truth_is_b)
    assert not np.allclose(got, model.fit(votes).params["weight"])


@both
def test_a_start_at_the_answer_stays_there(model):
    votes, _ = one_coin(tasks=100, skill=HARD, votes_per_task=3, seed=2)
    result = model.fit(votes)
    again = model.fit(votes, start=result)
    np.testing.assert_allclose(again.probs, result.probs)


def test_labels_that_never_converge_are_a_warning():
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    swing = iter([np.array([1.0, 2.0]), np.array([2.0, 1.0])] * 3)

    class Swing(TruthDiscovery):
        name = "swing"

        def worker_weights(self, errors, vote_weight):
            return next(swing)

    with pytest.warns(NotConverged, match="did not converge in 6 iterations"):
        result = Swing(max_iter=6).fit(votes)
    assert not result.converged


@pytest.mark.parametrize("setting", ["smoothing", "max_iter"])
def test_a_setting_of_zero_is_refused(setting):
    with pytest.raises(ValueError, match=f"{setting} of pm is 0, expected a number above 0"):
        PM(**{setting: 0})
