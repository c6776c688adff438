"""Tables in one JSON value, and what only looks like one."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from crowdpilot.io import explain, read
from crowdpilot.io.tables.json_layouts import records_of

pytestmark = pytest.mark.usefixtures("each_engine")
FRAME = pd.DataFrame({"item": ["a", "a", "b"], "rater": ["x", "y", "x"], "rating": [1, 2, 1]})
VOTES = [("a", "x", 1), ("a", "y", 2), ("b", "x", 1)]


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "table"])
def test_every_layout_of_pandas_is_a_table(save, rows, orient):
    reading = explain(save("frame.json", FRAME.to_json(orient=orient)))
    assert reading.format == "jsonl"
    assert rows(reading.votes) == VOTES


def test_columns_as_lists_and_lists_of_three_are_tables(save, rows):
    assert rows(read(save("votes.json", json.dumps(FRAME.to_dict("list"))))) == VOTES
    assert rows(read(save("votes.json", json.dumps([list(vote) for vote in VOTES])))) == VOTES
    with pytest.raises(ValueError, match=r'votes.json: found \["a", "x"\], expected a record like'):
        read(save("votes.json", '[["a", "x"]]'))


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        None,
        {"a": {"x": 1}, "b": {"x": 2}},
        {"task": {"x": 1}, "b": {"x": 2}},
        {"task": {"id": 1, "text": "?"}, "worker": {"id": 2}},
        {"task": [1, 2], "worker": [1]},
        {"data": [1, 2], "columns": ["a"]},
        {"task": "a", "worker": "x", "label": "cat"},
        {1: {2: "cat"}},
    ],
    ids=str,
)
def test_nothing_else_is_one(document):
    assert records_of(document) is None


def test_answers_by_task_are_no_table(save, rows):
    reading = explain(save("votes.json", '{"a": {"x": 1, "y": 2}, "b": {"x": 1}}'))
    assert reading.format == "peerannot"
    assert rows(reading.votes) == VOTES


def test_workers_outside_are_noticed_unless_the_file_has_the_name_of_peerannot(save):
    answers = {f"worker{n}": {f"t{task}": 1 for task in range(9)} for n in range(2)}
    with pytest.raises(
        ValueError, match=r"votes.json: found 'worker0' outside and 't0' inside.*--format peerannot_inverse"
    ):
        read(save("votes.json", json.dumps(answers)))
    assert len(read(save("answers.json", json.dumps(answers))).tasks) == 2
    assert len(read(save("votes.json", json.dumps(answers)), format="peerannot_inverse").tasks) == 9


def test_few_tasks_of_many_workers_are_noted(save):
    answers = {name: {f"p{n}": 1 for n in range(40)} for name in ("x", "y")}
    (note,) = explain(save("votes.json", json.dumps(answers))).notes
    assert note.startswith("read as 2 tasks outside with 40 workers inside; if workers are outside")
