"""Exports of doccano."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdpilot.io import read

pytestmark = pytest.mark.usefixtures("each_engine")


def lines(*records: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, records))


def test_a_folder_has_one_file_for_each_user(save, rows):
    save(
        "export/ann.jsonl",
        lines({"id": 1, "text": "x", "label": ["cat"]}, {"id": 2, "text": "y", "label": []}),
    )
    path = save("export/bob.jsonl", lines({"id": 1, "text": "x", "label": ["dog"], "Comments": []}))
    votes = read(path.parent)
    assert rows(votes) == [(1, "ann", "cat"), (1, "bob", "dog")]
    assert votes.tasks.tolist() == [1, 2]
    assert votes.dropped == 1


def test_a_file_alone_is_of_one_user(save, rows):
    assert rows(read(save("ann.jsonl", lines({"id": 1, "text": "x", "label": ["cat"]})))) == [
        (1, "ann", "cat")
    ]


@pytest.mark.parametrize(
    "record",
    [
        {"id": 1, "label": ["cat"], "annotator": "ann"},
        {"id": 1, "labels": ["cat"], "username": "ann"},
        {"id": 1, "cats": {"cat": 1.0, "dog": 0.0}, "user": "ann"},
        {"id": 1, "annotations": [{"label": "cat", "user": "ann"}], "meta": {}},
    ],
)
def test_the_user_may_be_in_the_record(save, rows, record):
    assert rows(read(save("all.jsonl", lines(record)))) == [(1, "ann", "cat")]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"id": 1, "label": ["cat", "dog"]}, r"found 2 labels \(cat, dog\) of worker 'all' about task 1"),
        ({"id": 1, "label": [[0, 5, "NAME"]]}, r"found 3 labels \(0, 5, NAME\)"),
        (
            {"id": 1, "annotations": [{"label": 1, "user": 2}, {"label": 3, "user": 2}]},
            r"found 2 labels \(1, 3\)",
        ),
    ],
)
def test_more_than_one_label_is_an_error(save, record, problem):
    with pytest.raises(ValueError, match=f"all.jsonl: {problem}"):
        read(save("all.jsonl", lines(record)))
