"""Votes in memory: records, triples, nested dicts and matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from crowdpilot.io import explain, read

pytestmark = pytest.mark.usefixtures("each_engine")
VOTES = [("a", "x", "cat"), ("a", "y", "dog"), ("b", "x", "cat")]
RECORDS = [{"item": task, "rater": worker, "answer": label} for task, worker, label in VOTES]
MATRIX = np.array([[0, 1, -1, 1], [1, 1, 0, -1], [-1, -1, -1, -1]])
CELLS = [(0, 0, 0), (0, 1, 1), (0, 3, 1), (1, 0, 1), (1, 1, 1), (1, 2, 0)]


class Vote(NamedTuple):
    """A record with names."""

    item: str
    rater: str
    answer: str


@pytest.mark.parametrize(
    "source",
    [
        RECORDS,
        tuple(RECORDS),
        VOTES,
        [list(vote) for vote in VOTES],
        [Vote(*vote) for vote in VOTES],
        {"a": {"x": "cat", "y": "dog"}, "b": {"x": "cat"}},
        {name: [record[name] for record in RECORDS] for name in RECORDS[0]},
        {name: dict(enumerate(record[name] for record in RECORDS)) for name in RECORDS[0]},
        dict(enumerate(RECORDS)),
        {"columns": list(RECORDS[0]), "index": [0, 1, 2], "data": [list(vote) for vote in VOTES]},
        np.array(VOTES, [("item", "U1"), ("rater", "U1"), ("answer", "U3")]),
    ],
    ids=[
        "dicts", "tuple of dicts", "tuples", "lists", "named tuples", "nested", "columns", "pandas by column",
        "pandas by row", "pandas split", "structured array",
    ],
)  # fmt: skip
def test_votes_are_read_however_they_are_kept(rows, source):
    assert rows(read(source)) == VOTES


def test_records_may_come_one_by_one_and_lack_values(rows):
    assert rows(read(record for record in RECORDS)) == VOTES
    votes = read([*RECORDS, {"item": "c"}])
    assert (votes.dropped, votes.tasks.tolist()) == (1, ["a", "b", "c"])


def test_no_rows_are_no_votes():
    assert len(read([])) == 0


# Nested dicts ---------------------------------------------------------------------------------


def test_tasks_without_votes_stay_and_names_may_be_numbers(rows):
    votes = read({7: {1: "cat"}, 8: {}, 9: {1: "dog", 2: None}})
    assert rows(votes) == [(7, 1, "cat"), (9, 1, "dog")]
    assert votes.tasks.tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    "answers",
    [{"worker_1": {"a": "cat"}, "worker_2": {"a": "dog"}}, {"x": {"task 1": 0}, "y": {"task 2": 1}}],
)
def test_names_that_say_otherwise_are_refused_until_the_format_is_named(rows, answers):
    with pytest.raises(ValueError, match="if workers are outside, say format='peerannot_inverse'"):
        read(answers)
    (worker, ((task, label),)), *_ = [(outer, [*inner.items()]) for outer, inner in answers.items()]
    assert rows(read(answers, format="peerannot_inverse"))[0] == (task, worker, label)
    assert rows(read(answers, format="peerannot"))[0] == (worker, task, label)


def test_many_more_workers_than_tasks_are_noted():
    answers = {name: {f"p{n}": "cat" for n in range(30)} for name in ("x", "y")}
    (note,) = explain(answers).notes
    assert note.startswith("read as 2 tasks outside with 30 workers inside; if workers are outside, say")
    assert not explain(answers, format="peerannot").notes
    assert len(read(answers, format="peerannot_inverse").tasks) == 30


# Matrices -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [MATRIX, np.where(MATRIX < 0, np.nan, MATRIX), np.ma.masked_less(MATRIX, 0), MATRIX.astype(np.int8)],
    ids=["negative", "nan", "masked", "small"],
)
def test_a_matrix_is_tasks_by_workers(rows, array):
    votes = read(array)
    assert rows(votes) == CELLS
    assert (len(votes.tasks), len(votes.workers)) == (3, 4)
    assert votes.classes.dtype == np.int64


def test_a_matrix_may_hold_texts(rows):
    texts: Any = np.array([["cat", None, "dog", ""], ["cat", "cat", np.nan, "dog"]], object)
    assert rows(read(texts)) == [(0, 0, "cat"), (0, 2, "dog"), (1, 0, "cat"), (1, 1, "cat"), (1, 3, "dog")]
    assert rows(read(np.array([["cat", ""], ["cat", "dog"]])))[-1] == (1, 1, "dog")


def test_a_reading_says_what_the_axes_are():
    assert "task from the number of the row, worker from the number of the column" in str(explain(MATRIX))


@pytest.mark.parametrize(
    "array",
    [
        np.array(VOTES),
        np.array([[2, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 1]]),
        np.array([[n % 50, n % 7, n % 2] for n in range(400)]),
    ],
    ids=["texts", "numbers", "repeats"],
)
def test_three_columns_may_be_votes(rows, array):
    with pytest.raises(
        ValueError, match="the array: its three columns may be workers, or task, worker and label"
    ):
        read(array)
    assert len(explain(array, format="wide").votes.workers) == 3
    columns = dict(zip(("task", "worker", "label"), array.T, strict=True))
    assert len(read(columns, repeats="all")) == len(array)


def test_three_columns_of_the_same_answers_are_workers(rows):
    array = np.array([[0, 1, 1], [0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 1]] * 2)
    assert len(read(array)) == 30
    array[0, 1] = -1
    assert len(read(array[:2])) == 5


def test_rows_of_three_numbers_may_be_either():
    with pytest.raises(
        ValueError, match="its rows may be tasks with three workers, or task, worker and label"
    ):
        read([[0, 1, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (np.zeros(3), r"the array: it has the shape \(3,\), expected \(tasks, workers\)"),
        (np.zeros((2, 2, 2)), r"the array: it has the shape \(2, 2, 2\), expected"),
        (np.array([[0.25, 0.75]]), "the array: found 0.25, expected whole numbers; shares .* from_shares"),
        (3, "builtins.int is no path and no table of votes, expected a path, a stream"),
        (iter, "no path and no table of votes, expected a path, a stream"),
        (None, "builtins.NoneType is no path and no table of votes"),
        ([1, 2], "the table: found 1, expected a dict, or three values"),
        ([None], "the table: found None, expected a dict, or three values"),
        ([{"task": "a"}, 3], "the table: found 3, expected a dict like the others"),
        (np.array([[np.inf, 1]]), "the array: found inf, expected whole numbers"),
        ({"task": ["a"], "worker": 3}, "the table: found 3 as column 'worker', expected its values"),
        ({"task": ["a"], "worker": ["x", "y"]}, "the table: column 'worker' has 2 rows, but 'task' has 1"),
        ([("a", "x")], r"found \('a', 'x'\), expected a dict, or three values: task, worker, label"),
        ({"task": ["a"], "worker": ["x"], "label": [["cat"]]}, "found values of type list in column 'label'"),
        (
            [("a", "x", {"cat": 1}), ("b", "x", "cat")],
            "found {'cat': 1} in column 'label', expected one text",
        ),
    ],
)
def test_what_is_no_table_of_votes_is_one_sentence(source, problem):
    with pytest.raises(ValueError, match=problem) as error:
        read(source)
    assert "\n" not in str(error.value)


def test_a_single_record_is_a_single_vote(rows):
    assert rows(read({"task": "abc", "worker": "xyz", "label": "cat"})) == [("abc", "xyz", "cat")]


def test_a_dict_of_lists_without_a_task_has_two_readings():
    answers = {name: ["bird", "fish", "bird", "fish"] for name in ("owl", "eel", "ray")}
    with pytest.raises(ValueError, match=r"'owl', 'eel', 'ray' may be workers .* or tasks .* format='wide'"):
        read(answers)
    assert read(answers, format="wide").workers.tolist() == ["owl", "eel", "ray"]
