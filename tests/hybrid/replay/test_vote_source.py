from __future__ import annotations

from collections import Counter

import numpy as np

from crowdpilot.hybrid import Ask, RecordedVotes, Scenario, SimulatedVotes
from crowdpilot.votes import Votes

VOTES = Votes.of(list("aaabbc"), list("xyzxyx"), ["yes", "no", "yes", "no", "no", "yes"])

CODES = list(zip(VOTES.task, VOTES.worker, VOTES.label, strict=True))


def scenario(criteria=("",)):
    items = np.array(["a", "b", "c", "d"], object)
    return Scenario(items, VOTES.classes, np.array([1, 0, 1, 0], np.int32), dict.fromkeys(criteria, VOTES))


def test_recorded_votes_are_drawn_without_replacement_and_only_where_asked():
    source = RecordedVotes(scenario(), seed=0)
    votes = source.answer([Ask("a"), Ask("b"), Ask("a"), Ask("a")])
    names = [(VOTES.tasks[t], VOTES.workers[w], VOTES.classes[k]) for t, w, k in CODES]
    assert Counter(vote[:3] for vote in votes) <= Counter(names)
    assert sum(vote[0] == "a" for vote in votes) == 3


def test_a_question_without_further_votes_is_returned_once():
    source = RecordedVotes(scenario(), seed=0)
    assert source.exhausted() == [Ask("d")]
    assert source.exhausted() == []
    source.answer([Ask("c"), Ask("b")])
    assert source.exhausted() == [Ask("c")]


def test_another_seed_is_another_order_of_the_same_votes():
    orders = {tuple(RecordedVotes(scenario(), seed=s).answer([Ask("a")] * 3)) for s in range(20)}
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1


def test_each_criterion_has_its_own_votes():
    source = RecordedVotes(scenario(("old", "big")), seed=0)
    assert scenario(("old", "big")).criteria == ("old", "big")
    assert scenario().criteria == ()
    assert source.answer([Ask("c", "old"), Ask("c", "big")]) == [
        ("c", "x", "yes", "old"),
        ("c", "x", "yes", "big"),
    ]


def test_simulated_workers_err_as_their_matrices_say_and_answer_an_item_once():
    K, N = 3, 400
    truth = np.arange(N) % K
    confusion = np.tile([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.0, 0.5, 0.5]], (5, 1, 1))
    source = SimulatedVotes(np.arange(N), np.arange(K), truth, confusion, seed=1)
    votes = [vote for _ in range(5) for vote in source.answer([Ask(n) for n in range(N)])]
    assert len({vote[:2] for vote in votes}) == 5 * N
    assert len(source.exhausted()) == N
    counts = np.zeros((K, K))
    for item, _, label, _ in votes:
        counts[truth[item], label] += 1
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), confusion[0], atol=0.06)
