"""Batch results of Mechanical Turk."""

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

from crowdpilot.io import ReadingWarning, explain, read
from crowdpilot.votes import Votes

pytestmark = pytest.mark.usefixtures("each_engine")

ABOUT = {
    "HITId": ["H1", "H1", "H2", "H2"],
    "Title": ["Cats, dogs"] * 4,
    "WorkerId": ["W1", "W2", "W1", "W3"],
    "AssignmentStatus": ["Approved", "Submitted", "Rejected", "Approved"],
    "SubmitTime": ["Fri May 05 10:11:12 PDT 2017"] * 4,
    "WorkTimeInSeconds": ["10", "20", "30", "40"],
    "Input.url": ["a.png", "a.png", "b.png", "b.png"],
}
VOTES = [("H1", "W1", "cat"), ("H1", "W2", "dog"), ("H2", "W3", "cat")]


def batch(**columns: list[str]) -> str:
    table = {**ABOUT, **{f"Answer.{name}": values for name, values in columns.items()}}
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([table.keys(), *zip(*table.values(), strict=True)])
    return stream.getvalue()


PLAIN = batch(animal=["cat", "dog", "dog", "cat"])


def test_rejected_assignments_are_dropped_and_counted(save, rows):
    reading = explain(save("batch.csv", PLAIN))
    votes = reading.votes
    assert rows(votes) == VOTES
    assert votes.dropped == 1
    assert reading.left_out == {"rejected": 1}
    assert votes.tasks.tolist() == ["H1", "H2"]
    np.testing.assert_array_equal(votes.seconds, [10, 20, 40])
    np.testing.assert_array_equal(votes.time, [1494004272] * 3)


def test_the_task_can_be_an_input(save, rows):
    votes = read(save("batch.csv", PLAIN), columns={"task": "Input.url"})
    assert votes.tasks.tolist() == ["a.png", "b.png"]


TICKS = {"animal.cat": ["true", "false", "false", "TRUE"], "animal.dog": ["false", "true", "true", "FALSE"]}
JSON = ['[{"animal":{"label":"cat"}}]', '[{"animal":"dog"}]', "", '[{"animal":{"cat":true,"dog":false}}]']


@pytest.mark.parametrize(
    "columns",
    [
        TICKS,
        {"animal.label": ["cat", "dog", "dog", "cat"]},
        {"animal.labels": ['["cat"]', '["dog"]', "[]", '["cat"]']},
        {"taskAnswers": JSON},
    ],
    ids=["one column for each option", "crowd-classifier", "lists", "JSON"],
)
def test_answers_are_understood_however_they_are_written(save, rows, columns):
    path = save("batch.csv", batch(**columns))
    assert rows(read(path)) == VOTES
    assert rows(read(path, question="animal")) == VOTES


BUTTONS = {
    "cat.on": ["true", "false", "false", "true"],
    "dog.on": ["false", "true", "true", "false"],
}
VALUES = {"b1.cat": BUTTONS["cat.on"], "b2.dog": BUTTONS["dog.on"]}
FORMS = [json.dumps([{"cat": {"on": cat}, "dog": {"on": not cat}}]) for cat in (True, False, False, True)]


@pytest.mark.parametrize(
    "columns",
    [BUTTONS, VALUES, {"taskAnswers": FORMS}],
    ids=["named buttons", "buttons with values", "JSON"],
)
def test_buttons_of_a_group_are_the_options_of_one_question_and_that_is_said(save, rows, columns):
    path = save("batch.csv", batch(**columns))
    with pytest.warns(ReadingWarning, match="is ticked in each row, so they are read as options of one"):
        assert rows(read(path)) == VOTES
    assert rows(explain(path, question="cat | dog").votes) == VOTES
    one = "b1" if columns is VALUES else "cat"
    assert explain(path, question=one).votes.classes.tolist() == ["false", "true"]


def test_boxes_that_are_not_ticked_one_by_one_are_questions_of_their_own(save):
    path = save("batch.csv", batch(**{**BUTTONS, "dog.on": ["true", "true", "true", "false"]}))
    with pytest.raises(ValueError, match="there are 2 questions, name one with question=: cat, dog"):
        read(path)


def test_buttons_beside_another_question_are_refused_by_name(save, rows):
    path = save("batch.csv", batch(**BUTTONS, comment=["", "ok", "", ""]))
    with pytest.raises(ValueError, match=r"name one with question=: comment, cat \| dog"):
        read(path)
    assert rows(read(path, question="cat | dog")) == VOTES


def test_an_option_may_be_called_like_a_field_of_answers(save):
    forms = [json.dumps([{"q": {"label": is_on, "value": not is_on}}]) for is_on in (True, False) * 2]
    votes = read(save("batch.csv", batch(taskAnswers=forms)))
    assert votes.classes.tolist() == ["label", "value"]


def test_answers_in_two_styles_are_one_question_unless_they_disagree(save, rows):
    half = {"animal": ["cat", "", "", ""], "taskAnswers": ["", *JSON[1:]]}
    assert rows(read(save("batch.csv", batch(**half)))) == VOTES
    both = {"animal": ["dog", "dog", "", "cat"], "taskAnswers": JSON}
    with pytest.raises(ValueError, match="line 2: found 'cat' and 'dog' as answers to 'animal'"):
        read(save("batch.csv", batch(**both)))


def test_a_time_of_rejection_is_a_rejection(save, rows):
    content = PLAIN.replace("AssignmentStatus", "RejectionTime")
    for word in ("Approved", "Submitted"):
        content = content.replace(word, "")
    assert rows(read(save("batch.csv", content))) == VOTES


def test_a_single_box_is_ticked_or_not(save):
    votes = read(save("batch.csv", batch(**{"spam.on": ["true", "false", "true", "false"]})))
    assert votes.classes.tolist() == ["false", "true"]


def test_of_several_questions_one_has_to_be_named(save, rows):
    content = batch(
        animal=["cat", "dog", "dog", "cat"], comment=["", "ok", "", ""], **{"x.labels": ["[]"] * 4}
    )
    path = save("batch.csv", content)
    assert rows(read(path, question="animal")) == VOTES
    assert rows(read(path, columns={"label": "Answer.animal"})) == VOTES
    with pytest.raises(
        ValueError, match=r"batch.csv: there are 3 questions, name one .*: animal, comment, x$"
    ):
        read(path)
    with pytest.raises(ValueError, match=r"there is no question 'animals'; did you mean animal\?"):
        read(path, question="animals")


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        (
            {**TICKS, "animal.dog": ["false", "true", "true", "true"]},
            r"line 5: found 2 ticks of 'animal' \(cat, dog\)",
        ),
        (
            {"a.labels": ['["x"]', '["x","y"]', "", ""]},
            r"line 3: found 2 labels \(x, y\), expected one label",
        ),
        ({"taskAnswers": ["[]", '[{"a":', "", ""]}, "line 2: found '.*', expected answers as JSON"),
    ],
)
def test_bad_answers_are_errors_with_their_line(save, columns, problem):
    with pytest.raises(ValueError, match=f"batch.csv, {problem}"):
        read(save("batch.csv", batch(**columns)))


def test_a_batch_without_answers_is_an_error(save):
    with pytest.raises(ValueError, match="there is no answer in it"):
        read(save("batch.csv", batch()))


# Clutter --------------------------------------------------------------------------------------

SAID = st.dictionaries(
    st.tuples(st.sampled_from(["H1", "H2", "H3"]), st.sampled_from(["W1", "W2"])),
    st.sampled_from(["cat", "dog"]),
    min_size=1,
)
STYLES = st.sampled_from(["plain", "label", "labels", "ticks", "buttons", "json", "json buttons"])
FIELDS = st.lists(st.sampled_from(["Input.label", "Input.worker", "label", "answer", "Title"]), unique=True)


def answers(style: str, label: str) -> dict[str, str]:
    """The answer to `animal` in a style of the forms of MTurk."""
    ticks = {name: name == label for name in ("cat", "dog")}
    return {
        "plain": {"Answer.animal": label},
        "label": {"Answer.animal.label": label},
        "labels": {"Answer.animal.labels": json.dumps([label])},
        "ticks": {f"Answer.animal.{name}": str(is_on).lower() for name, is_on in ticks.items()},
        "buttons": {f"Answer.{name}.on": str(is_on).lower() for name, is_on in ticks.items()},
        "json": {"Answer.taskAnswers": json.dumps([{"animal": ticks}])},
        "json buttons": {"Answer.taskAnswers": json.dumps([{n: {"on": on} for n, on in ticks.items()}])},
    }[style]


@settings(max_examples=60, deadline=None)
@given(said=SAID, style=STYLES, fields=FIELDS, data=st.data())
def test_the_votes_are_found_among_clutter_in_each_style(said, style, fields, data):
    lines = [
        {"HITId": task, "WorkerId": worker, "AssignmentStatus": "Approved", **answers(style, label)}
        for (task, worker), label in said.items()
    ]
    lines.append({**lines[0], "WorkerId": "W9", "AssignmentStatus": "Rejected"})
    names = data.draw(st.permutations([*lines[0], *fields]))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, restval="dog")
    writer.writeheader()
    writer.writerows(data.draw(st.permutations(lines)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batch.csv"
        path.write_text(stream.getvalue())
        reading = explain(path)
    assert by_name(reading.votes) == said
    assert any("options of one question" in note for note in reading.notes) == ("buttons" in style)


def by_name(votes: Votes) -> dict[tuple[Any, Any], Any]:
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return {(task, worker): label for task, worker, label in zip(*(c.tolist() for c in columns), strict=True)}
