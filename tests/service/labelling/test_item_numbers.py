"""Workers see numbers of items that tell nothing, and that stay readable while a secret is rotated."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.labelling.item_numbers import MAX_ID, NOT_SHOWN, ItemNumbers

OLD, NEW = "o" * 40, "n" * 40


@given(id=st.integers(1, MAX_ID - 1))
def test_a_number_leads_back_to_its_item(id: int) -> None:
    numbers = ItemNumbers(OLD, "birds")
    assert numbers.find(numbers.show(id)) == id
    assert 0 <= numbers.show(id) < 2**52, "every program reads it exactly"


def test_numbers_of_two_projects_or_secrets_have_nothing_in_common() -> None:
    shown = [
        {numbers.show(id) for id in range(1, 200)}
        for numbers in (ItemNumbers(OLD, "birds"), ItemNumbers(OLD, "films"), ItemNumbers(NEW, "birds"))
    ]
    assert [len(some) for some in shown] == [199] * 3
    assert len(set.union(*shown)) == 3 * 199


def test_numbers_have_no_order() -> None:
    shown = [ItemNumbers(OLD, "birds").show(id) for id in range(1, 1001)]
    rising = sum(a < b for a, b in pairwise(shown))
    assert 400 < rising < 600


def test_a_page_of_before_a_rotation_is_read_and_new_ones_are_made_by_the_new_key() -> None:
    before, now = ItemNumbers(OLD, "birds"), ItemNumbers(f"{NEW} {OLD}", "birds")
    assert [now.find(before.show(id)) for id in range(1, 100)] == list(range(1, 100))
    assert now.show(7) == ItemNumbers(NEW, "birds").show(7)


@pytest.mark.parametrize("odd", [0, 1, 2**36, 2**52 - 1, 2**52, 2**63 - 1, 2**70])
def test_a_number_that_was_never_shown_leads_nowhere(odd: int) -> None:
    assert ItemNumbers(OLD, "birds").find(odd) == NOT_SHOWN
