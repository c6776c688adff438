from __future__ import annotations

import pytest

from crowdpilot.hybrid.campaign.ledger import Ledger, anyone

ANN, EVE = 0, 1
CROWD, EXPERT = 0, 1


def ledger(budget=1.0, items=3):
    new = Ledger(budget, 1)
    new.add_items(items)
    return new


def test_the_price_of_a_lease_is_reserved_and_spent_when_the_vote_arrives():
    account = ledger()
    account.reserve((0, 2, ANN), 0.3)
    assert (account.spent, account.reserved, account.left) == (0, 0.3, 0.7)
    assert account.pending[:, 0].tolist() == [0, 0, 1]
    account.settle((0, 2, ANN), CROWD, 0.3)
    assert (account.spent, account.reserved, account.left) == (0.3, 0, 0.7)
    assert not account.pending.any()


def test_the_price_is_that_of_the_lease():
    account = ledger()
    account.reserve((0, 0, ANN), 0.3)
    account.settle((0, 0, ANN), CROWD, 0.9)
    assert account.spent == 0.3


def test_a_lease_to_anyone_is_settled_by_any_worker_of_the_kind():
    account = ledger()
    account.reserve((0, 0, anyone(CROWD)), 0.1)
    account.settle((0, 0, EVE), EXPERT, 0.4)  # an expert whom nobody asked, and who is paid as an expert
    assert account.spent == 0.4
    assert account.pending[0, 0] == 1
    account.settle((0, 0, ANN), CROWD, 0.1)
    assert account.spent == pytest.approx(0.5)
    assert account.leases == {}


def test_an_unasked_vote_is_paid_while_there_is_money_and_unpaid_after():
    account = ledger(budget=0.5)
    account.settle((0, 0, ANN), CROWD, 0.4)
    account.settle((0, 1, ANN), CROWD, 0.4)
    assert (account.spent, account.unpaid) == (0.4, 1)


def test_reserved_money_does_not_pay_for_others():
    account = ledger(budget=0.5)
    account.reserve((0, 0, ANN), 0.4)
    account.settle((0, 1, EVE), CROWD, 0.4)
    assert (account.spent, account.reserved, account.unpaid) == (0, 0.4, 1)


def test_as_many_votes_are_affordable_as_the_money_pays_in_spite_of_rounding():
    assert ledger(budget=0.3).affordable_votes(0.1) == 3
    account = ledger(budget=0.3)
    for item in range(3):
        account.reserve((0, item, ANN), 0.1)
    assert account.affordable_votes(0.1) == 0
    assert account.affordable_votes(0) > 1e9
    assert ledger(budget=float("inf")).affordable_votes(5) > 1e9


def test_a_release_ends_all_leases_of_a_worker():
    account = ledger()
    account.reserve((0, 0, ANN), 0.1)
    account.reserve((0, 1, EVE), 0.1)
    assert account.release(ANN) == [(0, 0, ANN)]
    assert list(account.leases) == [(0, 1, EVE)]
    assert (account.reserved, account.spent) == (pytest.approx(0.1), 0)
    account.release(EVE)
    assert account.reserved == 0


def test_leases_follow_their_items_when_others_are_dropped():
    account = ledger()
    account.reserve((0, 2, ANN), 0.1)
    account.renumber_items([-1, 0, 1])
    assert list(account.leases) == [(0, 1, ANN)]
    assert account.pending[:, 0].tolist() == [0, 1]
