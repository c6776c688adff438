"""Responses to surveys of Qualtrics."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import ReadingWarning, explain, read

pytestmark = pytest.mark.usefixtures("each_engine")

ABOUT = {"StartDate": "startDate", "Status": "status", "Progress": "progress", "ResponseId": "_recordId"}
Ids = dict[str, str | dict[str, str]]


def survey(ids: Ids, *responses: dict[str, str], delimiter: str = ",") -> str:
    """Three rows of headers, and one row for each response."""
    all_ids: Ids = {**ABOUT, **ids}
    stream = io.StringIO()
    rows = csv.writer(stream, delimiter=delimiter)
    rows.writerow(all_ids)
    rows.writerow([name if name in ABOUT else f"What about\n{name}?" for name in all_ids])
    rows.writerow([json.dumps({"ImportId": i} if isinstance(i, str) else i) for i in all_ids.values()])
    for n, response in enumerate(responses):
        about = {"StartDate": "2026-03-01 10:00:00", "Status": "IP Address", "ResponseId": f"R_{n}"}
        rows.writerow([{"Progress": "100", **about, **response}.get(name, "") for name in all_ids])
    return stream.getvalue()


ITEMS: Ids = {"Q1": "QID1", "Q2": "QID2"}
SAID = ({"Q1": "cat", "Q2": "dog"}, {"Q1": "dog", "Q2": ""})
VOTES = [("Q1", "R_0", "cat"), ("Q1", "R_1", "dog"), ("Q2", "R_0", "dog")]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_question_is_a_task_and_a_response_a_worker_and_that_is_said(save, rows, delimiter):
    path = save("survey", survey(ITEMS, *SAID, delimiter=delimiter))
    with pytest.warns(ReadingWarning, match=r"each of the 2 questions \('Q1', 'Q2'\) is read as a task"):
        votes = read(path)
    assert rows(votes) == VOTES
    assert votes.classes.tolist() == ["cat", "dog"]
    assert rows(read(path, question="Q1,Q2")) == rows(read(path, question="Q*")) == VOTES


def test_columns_that_hold_no_label_are_no_tasks(save, rows):
    more: Ids = {
        "Q2_TEXT": "QID2_TEXT", "Q1_DO": "QID1_DO", "time": "QID9_PAGE_SUBMIT", "PROLIFIC_PID": "pid",
        "Q7_1": {"ImportId": "QID7", "choiceId": "1"}, "Q7_2": {"ImportId": "QID7", "choiceId": "2"},
    }  # fmt: skip
    content = survey({**more, **ITEMS}, *({**dict.fromkeys(more, "cat"), **said} for said in SAID))
    assert rows(explain(save("survey.csv", content)).votes) == VOTES


def test_rows_of_a_table_of_questions_and_loops_are_tasks(save):
    ids: Ids = {"Q1_1": "QID1_1", "Q1_2": "QID1_2", "1_Q5": "1_QID5", "2_Q5": "2_QID5"}
    path = save("survey.csv", survey(ids, dict.fromkeys(ids, "cat")))
    assert explain(path).votes.tasks.tolist() == list(ids)
    assert read(path, question="Q1_*").tasks.tolist() == ["Q1_1", "Q1_2"]


def test_a_question_with_other_answers_is_refused(save, rows):
    ids: Ids = {"age": "QID9", **ITEMS}
    path = save("survey.csv", survey(ids, *({"age": str(30 + n), **said} for n, said in enumerate(SAID))))
    with pytest.raises(
        ValueError, match=r"the answers to age \('30', '31'\) occur in no other question.*Q1,Q2"
    ):
        read(path)
    assert rows(read(path, question="Q1, Q2")) == VOTES
    with pytest.raises(ValueError, match="there is no question 'Q9', only 'age', 'Q1', 'Q2'"):
        read(path, question="Q1,Q9")


@pytest.mark.parametrize("status", ["Survey Preview", "1", "Spam", "8"])
def test_previews_and_spam_are_no_votes(save, rows, status):
    reading = explain(save("survey.csv", survey(ITEMS, *SAID, {"Q1": "cat", "Q2": "cat", "Status": status})))
    assert rows(reading.votes) == VOTES
    assert reading.left_out == {"of previews, tests or spam": 2}


def test_the_worker_may_be_another_column_but_the_task_may_not(save):
    ids: Ids = {**ITEMS, "pid": "pid"}
    path = save("survey.csv", survey(ids, *({**said, "pid": f"P{n}"} for n, said in enumerate(SAID))))
    assert read(path, question="Q1", columns={"worker": "pid"}).workers.tolist() == ["P0", "P1"]
    with pytest.raises(
        ValueError, match="columns= names the label, but the tasks are the columns of questions"
    ):
        read(path, columns={"label": "Q1"})


def test_a_survey_without_such_questions_is_an_error(save):
    with pytest.raises(ValueError, match="found no column of a question with options"):
        read(save("survey.csv", survey({"why": "QID1_TEXT"}, {"why": "because"})))


def test_a_survey_without_responses_has_no_votes(save):
    votes = explain(save("survey.csv", survey(ITEMS))).votes
    assert (len(votes), votes.tasks.tolist()) == (0, ["Q1", "Q2"])


CELLS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.sampled_from(["Q1", "Q2", "Q3"])),
    st.sampled_from(["cat", "dog"]),
    min_size=1,
)
CLUTTER = st.lists(st.sampled_from(["task", "label", "worker", "Q9_TEXT", "answer", "1"]), unique=True)


@settings(max_examples=40, deadline=None)
@given(said=CELLS, fields=CLUTTER, is_other=st.booleans(), data=st.data())
def test_the_answers_are_found_or_the_reading_is_refused(said, fields, is_other, data):
    ids: Ids = {**{name: name for name in fields}, "Q1": "QID1", "Q2": "QID2", "Q3": "QID3"}
    ids |= {"age": "QID4"} if is_other else {}
    ids = dict(data.draw(st.permutations([*ids.items()])))
    responses = [
        {
            **dict.fromkeys(fields, "cat"),
            "age": "33",
            **{q: label for (w, q), label in said.items() if w == n},
        }
        for n in range(4)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.csv"
        path.write_text(survey(ids, *responses))
        assert outcome(path, question="Q1,Q2,Q3") == said
        assert isinstance(outcome(path), str)


def outcome(path: Path, **options: Any) -> dict[tuple[int, str], str] | str:
    """The votes, a note or an error."""
    try:
        reading = explain(path, **options)
    except ValueError as error:
        return str(error)
    votes = reading.votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    found = zip(*(column.tolist() for column in columns), strict=True)
    pairs = {(int(worker[2:]), task): label for task, worker, label in found}
    return next((note for note in reading.notes if "is read as a task" in note), pairs)
