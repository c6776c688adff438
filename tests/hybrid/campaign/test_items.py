from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid.campaign.items import Pool


def test_items_are_found_by_name_wherever_they_were_added():
    pool = Pool(1, seed=0)
    assert pool.add(["a", "b"]).tolist() == [0, 1]
    assert pool.add(["c"]).tolist() == [2]
    assert pool.rows(["c", "a"]).tolist() == [2, 0]


@pytest.mark.parametrize("names", [["b", "b"], ["a"], ["c", "a"]])
def test_a_name_that_is_taken_is_refused_and_nothing_changes(names):
    pool = Pool(1, seed=0)
    pool.add(["a"])
    with pytest.raises(ValueError, match=f"there is an item '{names[-1]}' already"):
        pool.add(names)
    assert pool.items == ["a"]


@pytest.mark.parametrize("item", ["z", ["a"], None])
def test_an_unknown_item_is_named(item):
    with pytest.raises(ValueError, match="there is no item"):
        Pool(1, seed=0).row(item)


def test_an_item_is_open_until_it_is_withdrawn_or_closed():
    pool = Pool(1, seed=0)
    pool.add(["a", "b", "c"])
    pool.withdrawn[0], pool.closed[1] = True, 0
    assert pool.open.tolist() == [False, False, True]


def test_lots_and_folds_depend_on_names_and_seed_alone():
    one, other = Pool(1, seed=3), Pool(1, seed=3)
    one.add(["a", "b", "c", "d"])
    other.add(["d", "c"])
    other.add(["b", "a"])
    for column in ("lot", "fold"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column)[::-1])
    fresh = Pool(1, seed=4)
    fresh.add(["a", "b", "c", "d"])
    assert (fresh.lot != one.lot).all()


def test_there_are_as_many_pilots_as_wanted_and_no_more_after_some_are_forgotten():
    pool = Pool(1, seed=0, pilot=3)
    pool.add(range(2))
    pool.add(range(2, 10))
    assert pool.pilot.sum() == 3
    pool.keep(np.flatnonzero(~pool.pilot))
    pool.add(range(10, 20))
    assert pool.pilot.sum() == 0


def test_what_is_kept_keeps_all_that_is_known_of_it():
    pool = Pool(2, seed=0)
    pool.add(["a", "b", "c"])
    pool.shut[2, 1], pool.closed[1], lot = True, 1, pool.lot.copy()
    pool.keep(np.array([1, 2]))
    assert pool.items == ["b", "c"]
    assert pool.row("c") == 1
    assert pool.closed.tolist() == [1, -1]
    assert pool.shut.tolist() == [[False, False], [False, True]]
    np.testing.assert_array_equal(pool.lot, lot[1:])
    assert pool.forgotten == 1
    pool.add(["a"])  # the name is free again
