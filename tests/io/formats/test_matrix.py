"""Bare matrices of whole numbers."""

from __future__ import annotations

import pytest

from crowdpilot.io import read, write
from crowdpilot.votes import Votes

pytestmark = pytest.mark.usefixtures("each_engine")

VOTES = [(0, 0, 1), (0, 2, 0), (2, 1, 3)]


@pytest.mark.parametrize(
    "content",
    [
        "1 -1 0\n-1 -1 -1\n-1 3 -1\n",
        "1\t-1\t0\n\n-1\t-1\t-1\n-1\t3\t-1",
        " 1.0  -1.0  0.0 \r\n -1.0 -1.0 -1.0 \r\n -1.0 3.0 -1.0 \r\n",
    ],
)
def test_rows_are_tasks_and_columns_are_workers(save, rows, content):
    votes = read(save("answers.txt", content))
    assert rows(votes) == VOTES
    assert (votes.tasks.tolist(), votes.workers.tolist()) == ([0, 1, 2], [0, 1, 2])
    assert votes.classes.tolist() == [0, 1, 3]
    assert votes.dropped == 0


def test_commas_have_to_be_named(save, rows):
    path = save("answers.csv", "1,-1,0\n-1,-1,-1\n-1,3,-1\n")
    assert rows(read(path, format="matrix")) == VOTES
    with pytest.raises(ValueError, match=r"looks like data; .* or if rows are tasks, say format=matrix"):
        read(path)


def test_one_worker_is_one_column_and_one_task_is_one_row(save, rows):
    assert rows(read(save("a.txt", "1\n0\n"))) == [(0, 0, 1), (1, 0, 0)]
    assert rows(read(save("b.txt", "1 0\n"))) == [(0, 0, 1), (0, 1, 0)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("1 2\n\n1\n", "line 3: found '1', expected 2 whole numbers"),
        ("1 2\n1 x\n", "line 2: found '1 x', expected 2 whole numbers"),
        ("1 2\n\n1 -2\n", "line 3: found -2, expected a label from 0, or -1 for no vote"),
        ("1 2\n1 0.5\n", "line 2: found 0.5, expected a label"),
    ],
)
def test_a_bad_file_is_an_error_with_its_line(save, content, problem):
    with pytest.raises(ValueError, match=f"answers.txt, {problem}"):
        read(save("answers.txt", content), format="matrix")


def test_it_is_written_the_same_way(tmp_path):
    write(Votes.of(["a", "b"], ["x", "y"], [4, 2], tasks=["c"]), tmp_path / "answers.txt")
    assert (tmp_path / "answers.txt").read_text() == "4 -1\n-1 2\n-1 -1\n"


@pytest.mark.parametrize("label", ["cat", -1, 0.5])
def test_labels_that_are_no_numbers_from_zero_are_not_written(tmp_path, label):
    with pytest.raises(ValueError, match="the labels are not whole numbers from 0"):
        write(Votes.of(["a"], ["x"], [label]), tmp_path / "answers.txt")
    assert list(tmp_path.iterdir()) == []
