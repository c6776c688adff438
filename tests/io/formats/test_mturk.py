"""Batch results of Mechanical Turk."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from crowdpilot.io import read

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
    votes = read(save("batch.csv", PLAIN))
    assert rows(votes) == VOTES
    assert votes.dropped == 1
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
            "line 5: found 2 ticks in Answer.animal.cat",
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
