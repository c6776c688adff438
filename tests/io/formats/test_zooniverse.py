"""Classification exports of Zooniverse."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import explain, read

NAMES = (
    "classification_id", "user_name", "user_id", "user_ip", "workflow_id", "created_at", "metadata",
    "annotations", "subject_ids",
)  # fmt: skip
TIMES = '{"started_at":"2020-01-01T00:00:00.000Z","finished_at":"2020-01-01T00:00:12.500Z","session":"x"}'


def row(
    user: str, subject: str, answers: dict[str, Any], flow: str = "12", times: str = TIMES
) -> tuple[str, ...]:
    said = json.dumps([{"task": task, "task_label": "?", "value": value} for task, value in answers.items()])
    return "1", user, "", "0a1b", flow, "2020-01-01 00:00:13 UTC", times, said, subject


def export(*lines: tuple[str, ...]) -> str:
    stream = io.StringIO()
    csv.writer(stream).writerows([NAMES, *lines])
    return stream.getvalue()


PLAIN = export(
    row("ann", "101", {"T0": "Yes"}),
    row("not-logged-in-9f", "101", {"T0": "No"}),
    row("", "102", {"T0": ["Yes"]}),
    row("ann", "103", {"T0": None}),
    row("ann", "104", {}),
)
VOTES = [(101, "ann", "Yes"), (101, "not-logged-in-9f", "No"), (102, "0a1b", "Yes")]


def test_answers_are_votes_and_silence_is_not(save, rows):
    votes = read(save("classifications.csv", PLAIN))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == [101, 102, 103, 104]
    assert votes.dropped == 2
    np.testing.assert_allclose(votes.seconds, [12.5] * 3)
    np.testing.assert_allclose(votes.time, [1577836813] * 3)


def test_of_several_tasks_one_has_to_be_named(save, rows):
    path = save("classifications.csv", export(row("ann", "1", {"T0": "Yes", "T1": ["a", "b"]})))
    assert rows(read(path, question="T0")) == [(1, "ann", "Yes")]
    with pytest.raises(ValueError, match="there are 2 questions, name one with question=: T0, T1"):
        read(path)
    with pytest.raises(ValueError, match=r"line 2: found 2 labels \(a, b\), expected one label"):
        read(path, question="T1")


def test_tasks_of_several_workflows_are_kept_apart(save, rows):
    path = save(
        "classifications.csv",
        export(row("ann", "1", {"T0": "Yes"}), row("ann", "2", {"T0": "Red"}, flow="13")),
    )
    with pytest.raises(ValueError, match="name one with question=: 12/T0, 13/T0"):
        read(path)
    votes = read(path, question="13/T0")
    assert rows(votes) == [(2, "ann", "Red")]
    assert votes.tasks.tolist() == [2]


def test_tasks_within_a_task_and_surveys_are_understood(save, rows):
    combined = [{"task": "T1", "value": "Big"}, {"task": "T2", "value": [{"choice": "LION", "answers": {}}]}]
    path = save("classifications.csv", export(row("ann", "1", {"T0": "Yes", "T9": combined})))
    assert rows(read(path, question="T1")) == [(1, "ann", "Big")]
    assert rows(read(path, question="T2")) == [(1, "ann", "LION")]


def test_two_answers_to_one_task_have_to_agree(save, rows):
    twice = [{"task": "T1", "value": "Big"}, {"task": "T1", "value": "Small"}]
    path = save("classifications.csv", export(row("ann", "1", {"T9": twice})))
    with pytest.raises(ValueError, match=r"line 2: found 2 labels \(Big, Small\)"):
        read(path)


def test_the_later_classification_counts(save, rows):
    later, earlier = row("ann", "1", {"T0": "Yes"}), row("ann", "1", {"T0": "No"})
    earlier = (*earlier[:5], "2019-12-31 00:00:13 UTC", *earlier[6:])
    assert rows(read(save("classifications.csv", export(later, earlier)))) == [(1, "ann", "Yes")]


def test_a_column_may_be_named_and_its_errors_keep_their_line(save):
    lines = [row("ann", "1", {"T0": "Yes"}), row("ann", "2", {"T0": "Red"}, flow="13", times="soon")]
    path = save("classifications.csv", export(*lines))
    with pytest.raises(ValueError, match="line 3: found 'soon' in column 'metadata', expected a number"):
        read(path, question="13/T0", columns={"seconds": "metadata"})


def test_users_may_have_no_names(save, rows):
    path = save("classifications.csv", PLAIN.replace("user_name", "nickname"))
    assert read(path, columns={"worker": "nickname"}).workers.tolist() == ["ann", "not-logged-in-9f"]
    assert read(path, columns={"worker": "user_ip"}).workers.tolist() == ["0a1b"]


def test_times_that_cannot_be_read_are_left_out(save):
    path = save("classifications.csv", export(row("ann", "1", {"T0": "Yes"}, times='{"started_at":"x"}')))
    assert read(path).seconds is None


def test_broken_annotations_are_an_error_with_their_line(save):
    content = PLAIN.replace('""value"": ""No""', '""value"": ""No')
    with pytest.raises(
        ValueError, match=r"classifications.csv, line 3: found '.*', expected answers as JSON"
    ):
        read(save("classifications.csv", content))


SAID = st.dictionaries(
    st.tuples(st.integers(1, 4), st.sampled_from(["ann", "bob"])), st.sampled_from(["Yes", "No"]), min_size=1
)


@settings(max_examples=30, deadline=None)
@given(said=SAID, has_more=st.booleans(), has_flows=st.booleans(), data=st.data())
def test_the_votes_are_found_among_clutter(said, has_more, has_flows, data):
    """Other tasks, silence, and another workflow with the same names."""
    more = {"T1": ["a", "b"], "T2": None} if has_more else {}
    lines = [row(user, str(task), {**more, "T0": label}) for (task, user), label in said.items()]
    lines.append(row("eve", "1", {**more, "T0": None}))
    lines += [row("eve", "1", {"T0": "Red"}, flow="13")] if has_flows else []
    question = "12/T0" if has_flows else "T0"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classifications.csv"
        path.write_text(export(*data.draw(st.permutations(lines))))
        if has_more or has_flows:
            with pytest.raises(ValueError, match="name one with question=: "):
                read(path)
        votes = explain(path, question=question if has_more or has_flows else None).votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    assert {(t, w): label for t, w, label in zip(*(c.tolist() for c in columns), strict=True)} == said
