from __future__ import annotations

import pytest

from crowdpilot.hybrid.campaign.ledger import Ledger, anyone

ANN, EVE = 0, 1
CROWD, EXPERT = 0, 1


def ledger(budget=1.0, items=3):
    new = Ledger(budget, 1)
    new.grow(items)
    return new


def test_what_is_lent_is_put_aside_and_spent_when_the_vote_comes():
    book = ledger()
    book.lend((0, 2, ANN), 0.3)
    assert (book.spent, book.aside, book.left) == (0, 0.3, 0.7)
    assert book.pending[:, 0].tolist() == [0, 0, 1]
    book.settle((0, 2, ANN), CROWD, 0.3)
    assert (book.spent, book.aside, book.left) == (0.3, 0, 0.7)
    assert not book.pending.any()


def test_the_price_is_that_at_which_it_was_lent():
    book = ledger()
    book.lend((0, 0, ANN), 0.3)
    book.settle((0, 0, ANN), CROWD, 0.9)
    assert book.spent == 0.3


def test_what_was_lent_to_anyone_is_settled_by_whoever_of_the_kind_comes():
    book = ledger()
    book.lend((0, 0, anyone(CROWD)), 0.1)
    book.settle((0, 0, EVE), EXPERT, 0.4)  # an expert whom nobody asked, and who is paid as an expert
    assert book.spent == 0.4
    assert book.pending[0, 0] == 1
    book.settle((0, 0, ANN), CROWD, 0.1)
    assert book.spent == pytest.approx(0.5)
    assert book.lent == {}


def test_a_vote_nobody_asked_for_is_paid_while_there_is_money_and_a_gift_after():
    book = ledger(budget=0.5)
    book.settle((0, 0, ANN), CROWD, 0.4)
    book.settle((0, 1, ANN), CROWD, 0.4)
    assert (book.spent, book.gifts) == (0.4, 1)


def test_money_put_aside_does_not_pay_for_others():
    book = ledger(budget=0.5)
    book.lend((0, 0, ANN), 0.4)
    book.settle((0, 1, EVE), CROWD, 0.4)
    assert (book.spent, book.aside, book.gifts) == (0, 0.4, 1)


def test_there_is_room_for_as_many_votes_as_the_money_pays_in_spite_of_rounding():
    assert ledger(budget=0.3).room(0.1) == 3
    book = ledger(budget=0.3)
    for item in range(3):
        book.lend((0, item, ANN), 0.1)
    assert book.room(0.1) == 0
    assert book.room(0) > 1e9
    assert ledger(budget=float("inf")).room(5) > 1e9


def test_who_leaves_gives_everything_back():
    book = ledger()
    book.lend((0, 0, ANN), 0.1)
    book.lend((0, 1, EVE), 0.1)
    assert book.release(ANN) == [(0, 0, ANN)]
    assert list(book.lent) == [(0, 1, EVE)]
    assert (book.aside, book.spent) == (pytest.approx(0.1), 0)
    book.release(EVE)
    assert book.aside == 0


def test_loans_follow_their_items_when_others_are_forgotten():
    book = ledger()
    book.lend((0, 2, ANN), 0.1)
    book.move([-1, 0, 1])
    assert list(book.lent) == [(0, 1, ANN)]
    assert book.pending[:, 0].tolist() == [0, 1]
