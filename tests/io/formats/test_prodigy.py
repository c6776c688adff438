"""Exports of Prodigy."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import ReadingWarning, explain, read

pytestmark = pytest.mark.usefixtures("each_engine")


def record(answer: str, worker: str = "set-ann", **more: Any) -> str:
    fields = {"text": "?", "_input_hash": 7, "_task_hash": 8, "answer": answer, "_annotator_id": worker}
    return json.dumps({**fields, "_session_id": worker, "_timestamp": 1707211049, **more}) + "\n"


def test_a_choice_is_a_vote_and_what_was_not_chosen_is_none(save, rows):
    content = (
        record("accept", accept=["cat"], options=[{"id": "cat"}, {"id": "dog"}])
        + record("ignore", "set-bob", accept=["dog"])
        + record("reject", "set-eve", accept=["dog"])
        + record("accept", "set-joe", accept=[])
    )
    reading = explain(save("file", content))
    assert rows(reading.votes) == [(7, "set-ann", "cat")]
    assert reading.votes.dropped == 3
    assert reading.left_out == {"ignored": 1, "rejected": 1, "without a choice": 1}
    assert reading.votes.time.tolist() == [1707211049]


def test_a_label_that_is_shown_is_a_question(save, rows):
    path = save("file", record("accept", label="SPORT") + record("reject", "set-bob", label="SPORT"))
    assert rows(read(path)) == [(7, "set-ann", "accept"), (7, "set-bob", "reject")]
    path = save("file", record("accept", label="SPORT") + record("reject", label="MUSIC"))
    assert rows(read(path, question="MUSIC")) == [(7, "set-ann", "reject")]
    with pytest.raises(ValueError, match="2 questions, name one with question=: MUSIC, SPORT"):
        read(path)


def test_a_field_label_beside_a_choice_is_not_the_answer(save, rows):
    path = save("file", record("accept", accept=["cat"], label="imported", options=[{"id": "cat"}]))
    assert rows(read(path)) == [(7, "set-ann", "cat")]


def test_the_session_identifies_the_annotator_in_older_exports(save, rows):
    old = json.dumps({"_input_hash": 7, "answer": "accept", "accept": ["cat"], "_session_id": "set-bob"})
    assert rows(read(save("file", old))) == [(7, "set-bob", "cat")]


def test_sessions_without_a_name_are_pointed_out(save, rows):
    path = save("file", record("accept", "2024-02-06_10-17-19", accept=["cat"]))
    with pytest.warns(ReadingWarning, match="1 of 1 workers are sessions without a name"):
        assert len(read(path)) == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            record("accept", accept=["cat", "dog"]),
            r"found 2 labels \(cat, dog\) of worker 'set-ann' about task 7",
        ),
        (
            record("accept", spans=[{"start": 0, "end": 1, "label": "X"}]),
            "found neither options that were chosen",
        ),
    ],
)
def test_what_is_no_single_label_is_an_error(save, content, problem):
    with pytest.raises(ValueError, match=f"file: {problem}"):
        read(save("file", content))


SAID = st.dictionaries(
    st.tuples(st.integers(-9, 9), st.sampled_from(["ann", "bob"])),
    st.sampled_from(["cat", "dog"]),
    min_size=1,
)
FIELDS = st.lists(st.sampled_from(["label", "user", "worker", "id", "class", "meta", "flagged"]), unique=True)


@settings(max_examples=30, deadline=None)
@given(said=SAID, fields=FIELDS, data=st.data())
def test_the_votes_are_found_among_clutter(said, fields, data):
    records = [
        {
            **dict.fromkeys(fields, "dog"),
            **json.loads(record("accept", worker, accept=[label])),
            "_input_hash": task,
        }
        for (task, worker), label in said.items()
    ]
    records.append({**json.loads(record("ignore", "eve", accept=["dog"])), "_input_hash": 1})
    shuffled = [
        dict(data.draw(st.permutations([*one.items()]))) for one in data.draw(st.permutations(records))
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_text("\n\n".join(map(json.dumps, shuffled)))
        votes = explain(path).votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    found = {(task, user): label for task, user, label in zip(*(c.tolist() for c in columns), strict=True)}
    assert found == said
