"""Records of Argilla, in its three ways to write responses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdpilot.io import read

pytestmark = pytest.mark.usefixtures("each_engine")


def by_user(user: str, status: str = "submitted", **values: Any) -> dict[str, Any]:
    return {"user_id": user, "status": status, "values": {name: {"value": v} for name, v in values.items()}}


LIST = [
    {"id": "r1", "fields": {}, "responses": [by_user("u1", animal="cat"), by_user("u2", animal="dog")]},
    {
        "id": "r2",
        "fields": {},
        "responses": [by_user("u1", "discarded"), by_user("u2", "draft", animal="cat")],
    },
    {"id": "r3", "fields": {}, "responses": []},
]
BY_QUESTION = [
    {
        "id": "r1",
        "responses": {"animal": [{"user_id": "u1", "value": "cat"}, {"user_id": "u2", "value": "dog"}]},
    },
    {
        "id": "r2",
        "responses": {
            "animal": [
                {"user_id": "u1", "value": None, "status": "discarded"},
                {"user_id": "u2", "value": "cat", "status": "draft"},
            ]
        },
    },
    {"id": "r3", "responses": {}},
]
FLAT = [
    {
        "id": "r1",
        "animal.responses": ["cat", "dog"],
        "animal.responses.users": ["u1", "u2"],
        "animal.responses.status": ["submitted", "submitted"],
    },
    {
        "id": "r2",
        "animal.responses": [None, "cat"],
        "animal.responses.users": ["u1", "u2"],
        "animal.responses.status": ["discarded", "draft"],
    },
    {"id": "r3", "animal.responses": None},
]


@pytest.mark.parametrize("records", [LIST, BY_QUESTION, FLAT], ids=["by user", "by question", "flat"])
@pytest.mark.parametrize("is_array", [True, False])
def test_submitted_responses_are_votes(save, rows, records, is_array):
    content = json.dumps(records) if is_array else "\n".join(map(json.dumps, records))
    votes = read(save("records.json", content))
    assert rows(votes) == [("r1", "u1", "cat"), ("r1", "u2", "dog")]
    assert votes.tasks.tolist() == ["r1", "r2", "r3"]
    assert votes.dropped == 2


def test_of_several_questions_one_has_to_be_named(save, rows):
    record = {"id": 1, "responses": [by_user("u1", animal="cat", score=3, tags=["a", "b"])]}
    path = save("records.jsonl", json.dumps(record))
    assert rows(read(path, question="score")) == [(1, "u1", 3)]
    with pytest.raises(ValueError, match="name one with question=: animal, score, tags"):
        read(path)
    with pytest.raises(
        ValueError, match=r"found 2 labels \(a, b\) of worker 'u1' about task 1, expected one"
    ):
        read(path, question="tags")


def test_a_record_without_an_id_is_called_by_its_place(save):
    records = [{"responses": [by_user("u1", animal="cat")]}] * 2
    assert read(save("records.json", json.dumps(records))).tasks.tolist() == [0, 1]
