"""Robust rank-one completion of the agreement between workers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.mmsr import MMSR
from crowdpilot.aggregation.workers.agreement import Pairs
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def right(result, truth) -> float:
    return float((result.codes == truth).mean())


def rank_one(s: np.ndarray, seen: np.ndarray) -> Pairs:
    """Pairs whose agreement is exactly what these s say, and a last worker whom nobody met."""
    one, other = np.nonzero(seen & ~np.eye(len(s), dtype=bool))
    return Pairs(one, other, s[one] * s[other], np.ones(len(one)))


def colluding(seed: int = 0) -> tuple[Votes, np.ndarray]:
    """14 of 40 workers agree on a wrong label for each task; the rest are right half of the time or more."""
    skill = np.random.default_rng(seed).uniform(0.5, 0.95, 40)
    votes, truth = one_coin(tasks=400, skill=skill.tolist(), classes=4, votes_per_task=8, seed=seed)
    lie = (truth + np.random.default_rng(seed).integers(1, 4, len(truth))) % 4
    return replace(votes, label=np.where(votes.worker < 14, lie[votes.task], votes.label)), truth


def test_an_exact_matrix_is_completed_exactly():
    s = np.array([0.9, 0.7, 0.5, 0.3, -0.6, 0.8, 0.4])
    seen = np.random.default_rng(0).random((7, 7)) < 0.7
    got, converged = MMSR(tol=1e-9).iterate(rank_one(s, seen | seen.T), np.ones(8), 2)
    assert converged
    np.testing.assert_allclose(got[:-1], s, atol=1e-6)


def test_corrupted_pairs_do_no_harm():
    s = np.linspace(0.4, 0.9, 9)
    pairs = rank_one(s, np.ones((9, 9), bool))
    bad = (np.abs(pairs.one - pairs.other) == 1) & (np.minimum(pairs.one, pairs.other) % 2 == 0)
    spoiled = pairs._replace(excess=np.where(bad, -1.0, pairs.excess))
    first = np.ones(10)
    robust, _ = MMSR().iterate(spoiled, first, 2)
    naive, _ = MMSR(trim=0).iterate(spoiled, first, 2)
    assert np.abs(robust[:-1] - s).max() < 0.1 < 0.3 < np.abs(naive[:-1] - s).max()


@pytest.mark.parametrize("classes", [2, 5])
def test_the_weights_are_log_odds_of_the_skills(classes):
    skill = np.array([0.9, 0.8, 0.7, 0.6, 0.85])
    votes, _ = one_coin(tasks=4000, skill=skill.tolist(), classes=classes, seed=0)
    result = MMSR().fit(votes)
    np.testing.assert_allclose(result.skill, skill, atol=0.03)
    np.testing.assert_allclose(
        result.params["weight"], np.log((classes - 1) * skill / (1 - skill)), atol=0.25
    )


def test_a_worker_who_is_always_wrong_has_negative_weight_and_helps():
    votes, truth = one_coin(tasks=300, skill=[0.8, 0.75, 0.7, 0.7, 0.02], seed=0)
    result = MMSR().fit(votes)
    assert (np.sign(result.params["weight"]) == [1, 1, 1, 1, -1]).all()
    assert right(result, truth) > 0.95 > 0.9 > right(MajorityVoting().fit(votes), truth)


def test_a_third_of_the_crowd_that_lies_together_is_outvoted():
    votes, truth = colluding()
    result = MMSR().fit(votes)
    assert right(result, truth) > 0.93 > 0.65 > right(MajorityVoting().fit(votes), truth)
    assert result.params["weight"][:14].max() < result.params["weight"][14:].min()


def test_gold_turns_a_majority_of_liars_over():
    votes, truth = one_coin(tasks=200, skill=[0.1, 0.1, 0.1, 0.8, 0.8], seed=0)
    assert right(MMSR().fit(votes), truth) < 0.1
    taught = votes.with_gold({n: truth[n] for n in range(60)})
    assert right(MMSR().fit(taught), truth) > 0.9


def test_history_counts_as_if_its_votes_were_here():
    votes, _ = one_coin(tasks=300, skill=[0.9, 0.8, 0.7, 0.6], votes_per_task=3, seed=0)
    early = votes.task < 200
    before = MMSR().fit(votes.take(early).with_gold({3: 1, 5: 0}))
    later = MMSR().fit(votes.take(~early), history=before)
    both = MMSR().fit(votes.with_gold({3: 1, 5: 0}))
    np.testing.assert_allclose(later.skill, both.skill)


def test_history_is_matched_by_name():
    before = MMSR().fit(Votes.of(np.repeat([1, 2, 3], 4), list("wxyz") * 3, list("aaab") * 3))
    votes = Votes.of([9, 9], ["z", "new"], ["a", "b"])
    alone, with_gold = MMSR().fit(votes), MMSR().fit(votes, history=before)
    np.testing.assert_allclose(alone.probs, [[0.5, 0.5]])
    assert with_gold.labels.tolist() == ["b"]


def test_a_start_among_good_workers_gives_the_same_answer():
    votes, _ = one_coin(tasks=200, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    result = MMSR(tol=1e-8).fit(votes)
    np.testing.assert_allclose(MMSR(tol=1e-8).fit(votes, start=result).probs, result.probs, atol=1e-6)


def test_workers_who_share_no_task_are_taken_for_as_good_as_the_rest():
    votes, _ = one_coin(tasks=200, skill=[0.9, 0.8, 0.85], seed=0)
    alone = Votes.of(
        [*votes.task, 999], [*votes.worker, "alone"], [*votes.label, 1], weight=[*np.ones(len(votes)), 1e6]
    )
    skill = MMSR().fit(alone).skill
    np.testing.assert_allclose(skill[3], skill[:3].mean(), atol=0.01)


def test_a_single_vote_decides():
    assert MMSR().fit(Votes.of([1], ["x"], ["b"], classes=["a", "b"])).labels.tolist() == ["b"]


def test_dropping_half_of_the_ratios_at_each_end_is_refused():
    with pytest.raises(ValueError, match=r"trim of mmsr is 0.5, expected 0 or more and below 0.5"):
        MMSR(trim=0.5)
