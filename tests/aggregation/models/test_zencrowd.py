"""ZenCrowd: the one-coin model with no favourite class."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.one_coin import OneCoin
from crowdpilot.aggregation.models.zencrowd import ZenCrowd
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def right(result, truth) -> float:
    return float((result.codes == truth).mean())


def test_skills_are_found_and_beat_the_plain_count():
    skill = [0.95, 0.9, 0.5, 0.45, 0.4, 0.35]
    votes, truth = one_coin(tasks=500, skill=skill, classes=3, seed=0)
    result = ZenCrowd().fit(votes)
    np.testing.assert_allclose(result.skill, skill, atol=0.06)
    assert right(result, truth) > right(MajorityVoting().fit(votes), truth) + 0.1


def test_the_classes_are_equally_likely_beforehand():
    votes, _ = one_coin(tasks=300, skill=[0.8, 0.7, 0.6], prior=(0.9, 0.1), seed=0)
    np.testing.assert_allclose(ZenCrowd().fit(votes).params["prior"], [0.5, 0.5])


def test_it_comes_to_rest_where_one_coin_with_a_uniform_prior_does(simulated):
    votes, _ = simulated
    mine, other = ZenCrowd(tol=1e-12).fit(votes), OneCoin(prior="uniform", tol=1e-12).fit(votes)
    np.testing.assert_allclose(mine.probs, other.probs, atol=1e-5)


def test_before_the_first_iteration_every_vote_counts_the_same():
    votes = Votes.of([1, 1, 1], list("xyz"), list("aab"), classes=list("abc"))
    guess = ZenCrowd(reliability=0.6).initial_posterior(votes)
    odds = np.array([(0.6 / 0.2) ** 2, 0.6 / 0.2, 1])
    np.testing.assert_allclose(guess[0], odds / odds.sum())


def test_a_start_replaces_the_equal_reliabilities():
    votes, truth = one_coin(tasks=200, skill=[0.1, 0.1, 0.1, 0.8, 0.8], seed=0)
    assert right(ZenCrowd().fit(votes), truth) < 0.2
    known = MajorityVoting().fit(votes.with_gold(dict(enumerate(truth))))
    assert right(ZenCrowd().fit(votes, start=known), truth) > 0.9


def test_the_objective_never_falls(simulated):
    votes, _ = simulated
    assert np.diff(ZenCrowd(tol=1e-10, max_iter=500).fit(votes).trace).min() > -1e-9


@pytest.mark.parametrize("reliability", [0.5, 1.0])
def test_a_reliability_of_guessing_or_certainty_is_refused(reliability):
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    with pytest.raises(ValueError, match="expected a number between 1/2 and 1"):
        ZenCrowd(reliability=reliability).fit(votes)
