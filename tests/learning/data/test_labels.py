from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crowdpilot.learning.data.labels import align, to_votes
from crowdpilot.votes import Votes


@given(arrays(np.int8, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(-1, 3)))
def test_a_matrix_holds_a_vote_in_every_cell_that_is_not_missing(matrix):
    if (matrix < 0).all():
        with pytest.raises(ValueError, match="no votes"):
            to_votes(matrix, len(matrix))
        return
    votes = to_votes(matrix, len(matrix))
    again = np.full(matrix.shape, -1)
    again[votes.task, votes.workers[votes.worker]] = votes.classes[votes.label]
    np.testing.assert_array_equal(again, matrix)


def test_missing_numbers_and_texts_are_no_votes():
    by_number = to_votes(np.array([[1, np.nan], [0, 1]]), 2)
    by_text = to_votes(np.array([["b", ""], ["a", "b"]]), 2)
    assert len(by_number) == len(by_text) == 3
    np.testing.assert_array_equal(by_number.label, by_text.label)


def test_classes_can_be_more_than_occur():
    assert to_votes([0, 1], 2, classes=[0, 1, 2]).classes.tolist() == [0, 1, 2]


def test_tasks_are_put_into_the_order_of_the_rows_with_their_gold():
    votes = Votes.of(["b", "a"], ["x", "x"], ["cat", "dog"], gold={"a": "cat"})
    aligned = align(votes, ["c", "a", "b"])
    assert aligned.tasks[aligned.task].tolist() == ["b", "a"]
    assert aligned.gold.tolist() == [-1, 0, -1]


def test_votes_on_a_task_without_a_row_are_not_lost_in_silence():
    with pytest.raises(ValueError, match="1 tasks with votes have no row in X, such as 'b'"):
        align(Votes.of(["b", "a"], ["x", "x"], ["cat", "dog"]), ["a"])


def test_votes_for_other_classes_are_named_in_the_error():
    votes = Votes.of(["a", "b"], ["x", "x"], ["dog", "cat"], gold={"b": "dog"})
    again = to_votes(votes, 2, classes=["dog", "owl", "cat"])
    assert again.classes[again.label].tolist() == ["dog", "cat"]
    assert again.classes.tolist() == ["dog", "owl", "cat"]
    assert again.gold.tolist() == [-1, 0]
    with pytest.raises(ValueError, match="there are votes for 'cat', which is none of the classes"):
        to_votes(votes, 2, classes=["dog", "owl"])
