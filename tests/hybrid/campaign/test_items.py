from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid.campaign.items import Items


def test_items_are_found_by_name_wherever_they_were_added():
    items = Items(1, seed=0)
    assert items.add(["a", "b"]).tolist() == [0, 1]
    assert items.add(["c"]).tolist() == [2]
    assert items.rows(["c", "a"]).tolist() == [2, 0]


@pytest.mark.parametrize("names", [["b", "b"], ["a"], ["c", "a"]])
def test_an_existing_name_is_refused_and_nothing_changes(names):
    items = Items(1, seed=0)
    items.add(["a"])
    with pytest.raises(ValueError, match=f"there is an item '{names[-1]}' already"):
        items.add(names)
    assert items.names == ["a"]


@pytest.mark.parametrize("item", ["z", ["a"], None])
def test_an_unknown_item_is_named(item):
    with pytest.raises(ValueError, match="there is no item"):
        Items(1, seed=0).row(item)


def test_an_item_is_open_until_it_is_withdrawn_or_closed():
    items = Items(1, seed=0)
    items.add(["a", "b", "c"])
    items.withdrawn[0], items.closed[1] = True, 0
    assert items.open.tolist() == [False, False, True]


def test_tie_breaks_and_folds_depend_on_names_and_seed_alone():
    one, other = Items(1, seed=3), Items(1, seed=3)
    one.add(["a", "b", "c", "d"])
    other.add(["d", "c"])
    other.add(["b", "a"])
    for column in ("tie_break", "fold"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column)[::-1])
    another = Items(1, seed=4)
    another.add(["a", "b", "c", "d"])
    assert (another.tie_break != one.tie_break).all()


def test_the_pilot_has_the_size_that_is_set_and_no_more_after_some_are_dropped():
    items = Items(1, seed=0)
    items.pilot_left = 3
    items.add(range(2))
    items.add(range(2, 10))
    assert items.pilot.sum() == 3
    items.keep(np.flatnonzero(~items.pilot))
    items.add(range(10, 20))
    assert items.pilot.sum() == 0


def test_kept_items_keep_their_state():
    items = Items(2, seed=0)
    items.add(["a", "b", "c"])
    items.stopped[2, 1], items.closed[1], tie_break = True, 1, items.tie_break.copy()
    items.keep(np.array([1, 2]))
    assert items.names == ["b", "c"]
    assert items.row("c") == 1
    assert items.closed.tolist() == [1, -1]
    assert items.stopped.tolist() == [[False, False], [False, True]]
    np.testing.assert_array_equal(items.tie_break, tie_break[1:])
    assert items.dropped == 1
    items.add(["a"])  # the name is free again
