from __future__ import annotations

import copy

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.growing_arrays import append_rows


@given(st.lists(st.integers(0, 40), max_size=8), st.sampled_from([(), (3,), (2, 2)]))
def test_growing_is_concatenating(sizes, shape):
    rng = np.random.default_rng(len(sizes))
    parts = [rng.normal(size=(n, *shape)) for n in sizes]
    array = np.zeros((0, *shape))
    for part in parts:
        array = append_rows(array, part)
    np.testing.assert_array_equal(array, np.concatenate([np.zeros((0, *shape)), *parts]))


def test_rows_that_were_there_are_not_copied_each_time():
    array = append_rows(np.arange(10), [10])
    assert np.shares_memory(append_rows(array, [11]), array)


def test_an_array_can_grow_in_two_ways_without_one_writing_over_the_other():
    array = append_rows(np.zeros(2), [1.0])
    one, other = append_rows(array, [2.0]), append_rows(array, [3.0])
    assert [one.tolist(), other.tolist()] == [[0, 0, 1, 2], [0, 0, 1, 3]]


def test_a_part_of_an_array_or_its_copy_grows_by_itself():
    array = append_rows(np.arange(5), [5])
    for part in (array[:3], array[::-1], array[1:], copy.deepcopy(array)):
        expected = [*part.tolist(), 9]
        assert append_rows(part, [9]).tolist() == expected
    assert array.tolist() == [0, 1, 2, 3, 4, 5]


def test_the_type_stays():
    assert append_rows(np.zeros(0, np.int32), [1.0]).dtype == np.int32
