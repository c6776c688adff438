from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid import Ask, Campaign, Costs, Plan

ITEMS = [f"i{n}" for n in range(30)]


def campaign(**settings: object) -> Campaign:
    return Campaign(ITEMS, ["no", "yes"], Costs.binary(fp=1, fn=2, crowd=0.02), plan=Plan(**settings))


def crowd(seed: int, n: int = 90) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(seed)
    places = {(int(i), int(w)) for i, w in zip(rng.integers(0, 30, n), rng.integers(0, 6, n), strict=True)}
    return [
        (f"i{i}", f"w{w}", "yes" if (i % 3 == 0) ^ (rng.random() < 0.2) else "no") for i, w in sorted(places)
    ]


def assert_same(a: Campaign, b: Campaign) -> None:
    """The same down to the last bit, but for sums of money."""
    np.testing.assert_array_equal(a.believed(), b.believed())
    np.testing.assert_array_equal(a.wishes.want, b.wishes.want)
    np.testing.assert_array_equal(a.ledger.pending, b.ledger.pending)
    assert a.ledger.lent == b.ledger.lent
    assert a.staff.seen == b.staff.seen
    assert a.staff.given == b.staff.given
    assert a.ledger.spent == pytest.approx(b.ledger.spent)
    assert a.ledger.aside == pytest.approx(b.ledger.aside)


def test_a_campaign_keeps_up_with_another_that_does_the_choosing():
    first, second = campaign(explore=0.3), campaign(explore=0.3)
    for turn in range(8):
        worker = f"w{turn % 3}"
        asks = first.ask(worker, 4)
        second.lend(asks, worker)
        votes = [(ask.item, worker, "yes") for ask in asks[:3]]
        first.tell(votes)
        second.tell(votes)
        assert_same(first, second)
        assert first.asked == second.asked
    assert first.ask("w9", 5) == second.ask("w9", 5)


def test_lending_twice_is_lending_once():
    c = campaign()
    asks = c.ask("ann", 3)
    c.lend(asks, "ann")
    assert c.ledger.pending.sum() == 3


def test_only_some_of_what_was_lent_comes_back():
    c = campaign()
    first, *others = c.ask("ann", 3)
    c.release("ann", [first])
    assert c.ledger.pending.sum() == 2
    assert first in c.ask("ann", 30)
    c.release("ann", others, again=False)
    assert not set(others) & set(c.ask("ann", 30))


@pytest.mark.parametrize("seed", range(4))
def test_a_vote_that_is_taken_back_leaves_no_trace(seed):
    votes = crowd(seed)
    whole, straight = campaign(), campaign()
    item, worker, label = votes[7]
    other = "no" if label == "yes" else "yes"
    whole.tell([*votes[:7], (item, worker, other), *votes[8:]], refit=False)
    whole.retract([Ask(item)], worker)
    assert whole.ledger.pending.sum() == 1
    whole.tell([(item, worker, label)], refit=False)
    straight.tell([*votes[:7], *votes[8:], (item, worker, label)], refit=False)
    np.testing.assert_allclose(whole.believed(), straight.believed(), atol=1e-12)
    assert whole.ledger.spent == pytest.approx(straight.ledger.spent)
    assert whole.staff.votes == straight.staff.votes
    assert whole.fresh == straight.fresh
    whole.refit()
    straight.refit()
    np.testing.assert_allclose(whole.believed(), straight.believed(), atol=1e-12)


def test_who_could_not_tell_may_take_that_back():
    c = campaign()
    (ask,) = c.ask("ann", 1)
    c.release("ann", [ask], again=False)
    c.retract([ask], "ann")
    c.tell([(ask.item, "ann", "yes")])
    assert c.decide().votes.sum() == 1


def test_what_was_not_answered_cannot_be_taken_back():
    c = campaign()
    asks = c.ask("ann", 1)
    with pytest.raises(ValueError, match="has not answered"):
        c.retract(asks, "ann")
    with pytest.raises(ValueError, match="has not answered"):
        c.retract(asks, "eve")
