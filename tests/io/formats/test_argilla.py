"""Records of Argilla, in its ways to write responses."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather

from crowdpilot.io import ReadingWarning, explain, read

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


FEEDBACK = [
    {
        "text": "x",
        "animal": [
            {"user_id": "u1", "value": "cat", "status": "submitted"},
            {"user_id": "u2", "value": "dog", "status": "submitted"},
        ],
        "animal-suggestion": "dog",
        "animal-suggestion-metadata": {"score": 0.5, "agent": "m"},
        "external_id": "r1",
        "metadata": "{}",
    },
    {
        "text": "y",
        "animal": [
            {"user_id": "u1", "value": None, "status": "discarded"},
            {"user_id": "u2", "value": "cat", "status": "draft"},
        ],
        "animal-suggestion": None,
        "external_id": "r2",
    },
    {"text": "z", "animal": [], "animal-suggestion": None, "external_id": "r3"},
]
LAYOUTS = [LIST, BY_QUESTION, FLAT, FEEDBACK]
NAMES = ["by user", "by question", "flat", "a FeedbackDataset"]


@pytest.mark.parametrize("records", LAYOUTS, ids=NAMES)
@pytest.mark.parametrize("is_array", [True, False])
def test_submitted_responses_are_votes(save, rows, records, is_array):
    content = json.dumps(records) if is_array else "\n".join(map(json.dumps, records))
    reading = explain(save("records.json", content))
    votes = reading.votes
    assert rows(votes) == [("r1", "u1", "cat"), ("r1", "u2", "dog")]
    assert votes.tasks.tolist() == ["r1", "r2", "r3"]
    assert votes.dropped == 2
    assert reading.left_out["draft"] == 1
    assert reading.notes == ()


@pytest.mark.parametrize("records", [BY_QUESTION, FLAT], ids=["by question", "flat"])
def test_records_may_be_columns(save, rows, records):
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    votes = read(save("records.json", json.dumps(columns, indent=1)))
    assert rows(votes) == [("r1", "u1", "cat"), ("r1", "u2", "dog")]


def test_records_may_be_named_by_their_id(save, rows):
    index = {record["id"]: record for record in BY_QUESTION}
    votes = read(save("records.json", json.dumps(index, indent=1)), format="argilla")
    assert rows(votes) == [("r1", "u1", "cat"), ("r1", "u2", "dog")]


@pytest.mark.parametrize("records", [FLAT, FEEDBACK], ids=["flat", "a FeedbackDataset"])
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_files_of_columns_are_read_as_well(tmp_path, rows, records, suffix, request):
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    path = tmp_path / f"records.{suffix}"
    write = pq.write_table if suffix == "parquet" else feather.write_feather
    write(pa.table(columns), path)
    if "plain" in request.node.name:
        with pytest.raises(ValueError, match=r"(Parquet|Arrow) needs"):
            read(path)
        return
    votes = read(path)
    assert rows(votes) == [("r1", "u1", "cat"), ("r1", "u2", "dog")]
    assert votes.tasks.tolist() == ["r1", "r2", "r3"]


def test_responses_without_a_status_may_be_drafts_and_that_is_said(save, rows):
    records = [
        {"id": "r1", "status": "pending", "responses": {"animal": [{"user_id": "u1", "value": "cat"}]}}
    ]
    with pytest.warns(
        ReadingWarning, match="have no status, so that drafts and discarded ones count as votes"
    ):
        assert rows(read(save("records.json", json.dumps(records)))) == [("r1", "u1", "cat")]
    nobody = [{"id": "r1", "fields": {}, "responses": {}}, {"id": "r2", "responses": {"animal": []}}]
    assert len(read(save("nobody.json", json.dumps(nobody)))) == 0


def test_a_validated_annotation_of_argilla_1_is_a_vote_of_its_agent(save, rows):
    def record(number: int, label: Any, agent: str | None, status: str) -> dict[str, Any]:
        about = {"text": "x", "inputs": {"text": "x"}, "prediction": [["dog", 0.9]], "prediction_agent": "m"}
        return {**about, "annotation": label, "annotation_agent": agent, "id": number, "status": status}

    records = [
        record(1, "cat", "ann", "Validated"),
        record(2, None, None, "Default"),
        record(3, "cat", "ann", "Discarded"),
        record(4, "dog", "bob", "Default"),
    ]
    reading = explain(save("records.json", json.dumps(records)))
    assert rows(reading.votes) == [(1, "ann", "cat")]
    assert reading.left_out == {"unlabelled": 1, "discarded": 1, "not validated": 1}
    assert reading.origins["worker"] == "'annotation_agent'"


def test_responses_whose_users_are_not_in_the_file_are_refused(save):
    records = [{"id": "r1", "animal.responses": ["cat", "dog"], "animal.responses.users": ["u1"]}]
    with pytest.raises(ValueError, match=r"'r1' has 2 responses in 'animal.responses' and 1 users of them"):
        read(save("records.json", json.dumps(records)))


@pytest.mark.parametrize("value", [[{"label": "cat", "start": 0, "end": 3}], [{"value": "cat", "rank": 1}]])
def test_spans_and_ranks_are_no_labels(save, value):
    records = [{"id": "r1", "responses": [by_user("u1", animal=value)]}]
    with pytest.raises(ValueError, match="which is about a part or a rank and no label of the whole"):
        read(save("records.json", json.dumps(records)))


def test_later_responses_count(save, rows):
    first, second = by_user("u1", animal="cat"), by_user("u1", animal="dog")
    times = ("2024-01-02T00:00:00", "2024-01-01T00:00:00")
    responses = [{**one, "updated_at": time} for one, time in zip((first, second), times, strict=True)]
    votes = read(save("records.json", json.dumps([{"id": 1, "responses": responses}])))
    assert rows(votes) == [(1, "u1", "cat")]


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


def test_a_field_of_other_responses_is_not_argilla(save, rows):
    record = {"task": "a", "worker": "x", "label": "cat", "responses": ["yes", "no"]}
    assert rows(read(save("votes.jsonl", json.dumps(record)))) == [("a", "x", "cat")]


def test_a_record_without_an_id_is_called_by_its_place(save):
    records = [{"responses": [by_user("u1", animal="cat")]}] * 2
    assert read(save("records.json", json.dumps(records))).tasks.tolist() == [0, 1]


SAID = st.dictionaries(
    st.tuples(st.sampled_from(["r1", "r2", "r3"]), st.sampled_from(["u1", "u2"])),
    st.sampled_from(["cat", "dog"]),
    min_size=1,
)
FIELDS = st.lists(st.sampled_from(["label", "user", "status", "task", "value", "answer"]), unique=True)


@settings(max_examples=40, deadline=None)
@given(said=SAID, fields=FIELDS, layout=st.sampled_from(["list", "question", "flat"]), other=st.booleans())
def test_the_votes_are_found_among_clutter(said, fields, layout, other):
    """Drafts of another user, another question, fields of any name, in each layout."""
    records = []
    for task in ("r1", "r2", "r3"):
        labelled = [(user, label, "submitted") for (t, user), label in said.items() if t == task]
        labelled.append(("u9", "dog", "draft"))
        records.append({**dict.fromkeys(fields, "dog"), **laid_out(task, labelled, layout, other)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.json"
        path.write_text(json.dumps(records))
        if other:
            with pytest.raises(ValueError, match="name one with question=: animal, size"):
                read(path)
        votes = explain(path, question="animal" if other else None).votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    assert {(t, w): label for t, w, label in zip(*(c.tolist() for c in columns), strict=True)} == said


def laid_out(task: str, said: list[tuple[str, str, str]], layout: str, other: bool) -> dict[str, Any]:
    questions = ("animal", "size") if other else ("animal",)
    if layout == "list":
        responses = [by_user(user, status, **dict.fromkeys(questions, label)) for user, label, status in said]
        return {"id": task, "responses": responses}
    if layout == "question":
        rows = [{"user_id": user, "value": label, "status": status} for user, label, status in said]
        return {"id": task, "responses": dict.fromkeys(questions, rows)}
    users, labels, states = map(list, zip(*said, strict=True))
    flat = {question: f"{question}.responses" for question in questions}
    return {
        "id": task,
        **dict.fromkeys(flat.values(), labels),
        **{f"{name}.users": users for name in flat.values()},
        **{f"{name}.status": states for name in flat.values()},
    }
