"""Message passing between tasks and workers."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.models.kos import KOS
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes

LIARS = [0.8, 0.8, 0.8, 0.7, 0.7, 0.1, 0.1]


def right(result, truth) -> float:
    return float((result.codes == truth).mean())


def share_of_yes(votes: Votes, rounds: int) -> np.ndarray:
    """The algorithm as the paper writes it, one edge at a time, without scaling; classes 0 and 1."""
    said = {(i, j): 2.0 * k - 1 for i, j, k in zip(votes.task, votes.worker, votes.label, strict=True)}
    y = dict.fromkeys(said, 1.0)
    for _ in range(rounds):
        x = {(i, j): sum(a * y[e] for e, a in said.items() if e[0] == i and e[1] != j) for i, j in said}
        y = {(i, j): sum(a * x[e] for e, a in said.items() if e[1] == j and e[0] != i) for i, j in said}
    messages = [[a * y[e] for e, a in said.items() if e[0] == i] for i in range(len(votes.tasks))]
    return np.array([sum(max(m, 0) for m in own) / sum(map(abs, own)) for own in messages])


def test_the_messages_are_those_of_the_paper():
    votes, _ = one_coin(tasks=12, skill=LIARS, votes_per_task=4, seed=3)
    got = KOS(max_iter=3, average=False).fit(votes).probs[:, 1]
    np.testing.assert_allclose(got, share_of_yes(votes, 3))


def test_means_and_sums_are_the_same_when_all_workers_have_as_many_votes():
    votes, _ = one_coin(tasks=30, skill=LIARS, seed=0)
    np.testing.assert_allclose(KOS(average=False).fit(votes).probs, KOS().fit(votes).probs)


def test_workers_who_are_mostly_wrong_have_negative_reliability_and_help():
    votes, truth = one_coin(tasks=300, skill=LIARS, seed=0)
    result = KOS().fit(votes)
    assert (np.sign(result.params["reliability"]) == [1, 1, 1, 1, 1, -1, -1]).all()
    without = votes.take(votes.worker < 5)
    assert right(result, truth) > right(KOS().fit(without), truth) > right(MajorityVoting().fit(votes), truth)


def test_spammers_of_three_classes_are_seen_through():
    votes, truth = one_coin(tasks=300, skill=[0.95, 0.9, *[0.34] * 6], classes=3, seed=0)
    assert right(KOS().fit(votes), truth) > right(MajorityVoting().fit(votes), truth) + 0.15


def test_the_two_questions_about_two_classes_are_one():
    votes, _ = one_coin(tasks=40, skill=LIARS, votes_per_task=4, seed=0)
    (no, one), (yes, other) = (KOS().ask(votes.merged, k, None) for k in (0, 1))
    np.testing.assert_allclose(no + yes, 1)
    np.testing.assert_allclose(one, other)


def test_a_tie_stays_a_tie():
    votes = Votes.of([1, 1, 2, 2], list("xyxy"), list("abab"))
    np.testing.assert_allclose(KOS().fit(votes).probs, 0.5)


def test_where_no_message_arrives_the_votes_are_counted():
    votes = Votes.of([1, 2, 2, 2], list("xyzw"), list("aaab"))
    np.testing.assert_allclose(KOS().fit(votes).probs, [[1, 0], [2 / 3, 1 / 3]])


def test_many_iterations_do_not_overflow():
    votes, truth = one_coin(tasks=100, skill=[0.9] * 8, seed=0)
    weighty = Votes(votes.task, votes.worker, votes.label, votes.tasks, votes.workers, votes.classes,
                    weight=np.full(len(votes), 1e6))  # fmt: skip
    assert right(KOS(max_iter=500, average=False).fit(weighty), truth) > 0.95


def test_gold_turns_a_majority_of_liars_over():
    votes, truth = one_coin(tasks=200, skill=[0.2, 0.2, 0.2, 0.8, 0.8], seed=0)
    assert right(KOS().fit(votes), truth) < 0.2
    taught = votes.with_gold({n: truth[n] for n in range(100)})
    assert right(KOS().fit(taught), truth) > 0.85


def test_a_start_near_the_truth_turns_a_majority_of_liars_over_too():
    votes, truth = one_coin(tasks=200, skill=[0.2, 0.2, 0.2, 0.8, 0.8], seed=0)
    known = KOS().fit(votes.with_gold(dict(enumerate(truth))))
    assert right(KOS().fit(votes, start=known), truth) > 0.8


def test_the_seed_draws_the_first_messages_and_hardly_matters():
    votes, _ = one_coin(tasks=100, skill=LIARS, votes_per_task=5, seed=0)
    a, b, c = (KOS(spread=1, max_iter=2, seed=seed).fit(votes).probs for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert np.abs(a - c).max() > 1e-3
    settled = [KOS(spread=1, max_iter=50, seed=seed).fit(votes).probs for seed in (1, 2)]
    np.testing.assert_allclose(*settled, atol=1e-6)


def test_history_is_refused():
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    with pytest.raises(ValueError, match="kos cannot use the history of workers"):
        KOS().fit(votes, history=KOS().fit(votes))
