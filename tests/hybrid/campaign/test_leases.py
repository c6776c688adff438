from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid import Ask, Campaign, Costs, Plan
from tests.crowds import vote_tuples

ITEMS = [f"i{n}" for n in range(30)]


def campaign(**settings: object) -> Campaign:
    return Campaign(ITEMS, ["no", "yes"], Costs.binary(fp=1, fn=2, crowd=0.02), plan=Plan(**settings))


def assert_same(a: Campaign, b: Campaign) -> None:
    """The same down to the last bit, but for sums of money."""
    np.testing.assert_array_equal(a.posterior(), b.posterior())
    np.testing.assert_array_equal(a._parts.values.values, b._parts.values.values)
    np.testing.assert_array_equal(a._parts.ledger.pending, b._parts.ledger.pending)
    assert a._parts.ledger.leases == b._parts.ledger.leases
    assert a._parts.workers.asked == b._parts.workers.asked
    assert a._parts.workers.asked_count == b._parts.workers.asked_count
    assert a.view.spent == pytest.approx(b.view.spent)
    assert a._parts.ledger.reserved == pytest.approx(b._parts.ledger.reserved)


def test_a_campaign_follows_another_that_does_the_choosing():
    first, second = campaign(explore=0.3), campaign(explore=0.3)
    for turn in range(8):
        worker = f"w{turn % 3}"
        asks = first.ask(worker, 4)
        second.lease(asks, worker)
        votes = [(ask.item, worker, "yes") for ask in asks[:3]]
        first.tell(votes)
        second.tell(votes)
        assert_same(first, second)
        assert first.view.requests == second.view.requests
    assert first.ask("w9", 5) == second.ask("w9", 5)


def test_leasing_twice_is_leasing_once():
    c = campaign()
    asks = c.ask("ann", 3)
    c.lease(asks, "ann")
    assert c._parts.ledger.pending.sum() == 3


def test_some_leases_are_released():
    c = campaign()
    first, *others = c.ask("ann", 3)
    c.release("ann", [first])
    assert c._parts.ledger.pending.sum() == 2
    assert first in c.ask("ann", 30)
    c.release("ann", others, ask_again=False)
    assert not set(others) & set(c.ask("ann", 30))


@pytest.mark.parametrize("seed", range(4))
def test_a_retracted_vote_leaves_no_trace(seed):
    votes = vote_tuples(ITEMS, ["no", "yes"], seed)
    whole, straight = campaign(), campaign()
    item, worker, label = votes[7]
    other = "no" if label == "yes" else "yes"
    whole.tell([*votes[:7], (item, worker, other), *votes[8:]], refit=False)
    whole.retract([Ask(item)], worker)
    assert whole._parts.ledger.pending.sum() == 1
    whole.tell([(item, worker, label)], refit=False)
    straight.tell([*votes[:7], *votes[8:], (item, worker, label)], refit=False)
    np.testing.assert_allclose(whole.posterior(), straight.posterior(), atol=1e-12)
    assert whole.view.spent == pytest.approx(straight.view.spent)
    assert whole._parts.workers.votes_by_kind == straight._parts.workers.votes_by_kind
    assert whole.view.votes_since_refit == straight.view.votes_since_refit
    whole.refit()
    straight.refit()
    np.testing.assert_allclose(whole.posterior(), straight.posterior(), atol=1e-12)


def test_cannot_tell_may_be_retracted():
    c = campaign()
    (ask,) = c.ask("ann", 1)
    c.release("ann", [ask], ask_again=False)
    c.retract([ask], "ann")
    c.tell([(ask.item, "ann", "yes")])
    assert c.decide().votes.sum() == 1


def test_only_answers_can_be_retracted():
    c = campaign()
    asks = c.ask("ann", 1)
    with pytest.raises(ValueError, match="has not answered"):
        c.retract(asks, "ann")
    with pytest.raises(ValueError, match="has not answered"):
        c.retract(asks, "eve")
