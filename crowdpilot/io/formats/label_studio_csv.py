"""Votes exported from Label Studio as CSV or TSV: a row for each annotation, answers beside the task data.

Layout: https://labelstud.io/guide/export, and what version 1.23 writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from crowdpilot.io.columns import Column, Table
from crowdpilot.io.csv_reading import read_columns
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.inference.column_names import REMARK_KEYS, name_key
from crowdpilot.io.nested_answers import LABEL_FIELDS, Mask, chosen_answers, text_questions
from crowdpilot.io.source import Source

ABOUT = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history")
PRESET = {"task": "id", "worker": "annotator", "seconds": "lead_time"}
TIMES = ("updated_at", "created_at")
DATA = "_data_"  # before the name of a data field that is called like a control
ANNOTATION = "annotation_id"
MIN_NEW_SHARE = 0.8  # of tasks with a value of their own, as texts and addresses have
MIN_TASKS_TO_ELIMINATE = 10  # with fewer tasks, answers may all be different as well
MIN_UNANIMOUS_TASKS = 5  # so many tasks with equal values in all annotations: it is data, not an answer
ANSWER_FIELDS = {*LABEL_FIELDS, "taxonomy", "type"}


def sniff(source: Source) -> bool:
    """Whether there are the columns of such an export."""
    return {"annotator", "annotation_id", "lead_time"} <= {*source.header}


def parse(source: Source) -> VotesTable:
    """The answers in one of the columns that are not about the annotation."""
    header = source.header
    preset = {role: name for role, name in PRESET.items() if name in header}
    if time := next((name for name in TIMES if name in header), None):
        preset["time"] = time
    roles = source.roles(header, preset)
    table = read_columns(source, header)
    notes: list[str] = []
    answer = roles.pop("label", None) or answer_column(source, table, table[roles.get("task", "id")], notes)
    questions = {answer: partial(_labels, source, table[answer])}
    table = table.select([*roles.values(), answer])
    votes = chosen_answers(replace(source, question=answer), table, roles, questions)
    return replace(votes, notes=[*votes.notes, *notes])


def _labels(source: Source, column: Column) -> Column:
    questions: dict[str, Callable[[], Column]] = text_questions(source, column, _cell)
    return questions[""]() if questions else column


def _cell(text: str) -> dict[str, Any]:
    value = structure(text)
    return {"": text if value is None else plain_answer(value)}


def structure(text: Any) -> Any:
    """The list or the record that a text holds as JSON; None if it is plain text."""
    if isinstance(text, (dict, list)):
        return text
    if not isinstance(text, str) or text[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def plain_answer(value: Any) -> Any:
    """An answer in which each path of a taxonomy is one label, such as `animal/cat`.

    Examples
    --------
    >>> plain_answer([{"taxonomy": [["animal", "cat"]]}])
    [['animal/cat']]
    """
    if isinstance(value, list):
        return [plain_answer(inner) for inner in value]
    if isinstance(value, dict) and isinstance(value.get("taxonomy"), list):
        return ["/".join(map(str, path)) if isinstance(path, list) else path for path in value["taxonomy"]]
    return (
        {name: inner for name, inner in value.items() if name != "type"} if isinstance(value, dict) else value
    )


# Which column holds the answers ---------------------------------------------------------------


def answer_column(source: Source, table: Table, task: Column, notes: list[str]) -> str:
    """The column of answers among those of task data, which look alike.

    Data are the same in all annotations of a task, and are there without an annotation as well. What
    differs within a task is an answer. If nothing differs, a column with a new value in most tasks is
    taken as data, and what was assumed is added to `notes`.
    """
    names = [name for name in table.column_names if name not in ABOUT and not name.startswith(DATA)]
    if source.question is not None:
        return source.choose(names)
    answered = _is_filled(table[ANNOTATION])
    if not answered.any():
        return ANNOTATION  # there are tasks only
    evidence = {name: _evidence(table, name, task.distinct.codes, answered) for name in names}
    sure, maybe, unanimous, other = (
        [name for name, kind in evidence.items() if kind in kinds]
        for kinds in (["answer"], ["maybe"], ["unanimous"], ["new", "data"])
    )
    weak = [*maybe, *unanimous]
    is_text = len(sure) == 1 and (_is_free_text(table[sure[0]]) or name_key(sure[0]) in REMARK_KEYS)
    if len(sure) == 1 and not (weak and is_text):
        if doubtful := [*maybe, *(name for name in names if is_text and evidence[name] == "new")]:
            notes.append(_note(sure[0], doubtful, "are the same in all annotations of a task"))
        return sure[0]
    if sure or len(weak) != 1 or len(task.distinct.names) < MIN_TASKS_TO_ELIMINATE:
        raise _ambiguous(
            source, [*sure, *weak] if sure else [name for name in names if evidence[name] != "data"]
        )
    notes.append(_note(weak[0], other, "differ from task to task"))
    return weak[0]


def _ambiguous(source: Source, names: Sequence[str]) -> ValueError:
    if not names:
        return source.error("found no column of answers, only task data; export a project with answers")
    shown = " or ".join(map(repr, names))
    problem = f"the answers may be in {shown}, since task data stand beside them"
    if len(names) == 1:
        problem = f"the column {shown} may hold answers or task data"
    return source.error(f"{problem}; name the column with question= (--question {names[0]})")


def _note(answer: str, others: Sequence[str], reason: str) -> str:
    data = f", and {', '.join(map(repr, others))} as task data, which {reason}" if others else ""
    return f"took {answer!r} as the answers{data}; question= (--question) names another column"


def _evidence(table: Table, name: str, task: Any, answered: Mask) -> str:
    """What a column is: an answer, maybe one, the same in all annotations of a task, new in most or data."""
    column = table[name]
    filled = _is_filled(column)
    if (filled & ~answered).any():
        return "data"
    kinds = {_kind(text) for text in column.distinct.names.tolist()}
    if "other" in kinds:
        return "data"
    codes = np.where(filled, column.distinct.codes, -1)[answered]
    tasks, counts = np.unique(task[answered], return_counts=True)
    pairs = np.unique(np.stack([task[answered], codes]), axis=1)
    if pairs.shape[1] > len(tasks) or "answer" in kinds or DATA + name in table.column_names:
        return "answer"
    values = np.unique(codes[codes >= 0])
    if len(values) > MIN_NEW_SHARE * len(np.unique(task[answered][codes >= 0])):
        return "new"
    is_shared = np.isin(tasks[counts > 1], task[answered][codes >= 0])
    return "unanimous" if is_shared.sum() >= MIN_UNANIMOUS_TASKS else "maybe"


def _kind(text: Any) -> str:
    """Whether a value is plain, the JSON of an answer to the whole task, or any other JSON."""
    value = structure(text)
    if value is None:
        return "plain"
    parts = value if isinstance(value, list) else [value]
    if parts and all(isinstance(part, dict) and part and part.keys() <= ANSWER_FIELDS for part in parts):
        return "answer"
    return "plain" if all(isinstance(part, str) for part in parts) else "other"


def _is_free_text(column: Column) -> bool:
    """Whether most values are different, as comments are."""
    return 2 * len(column.distinct.names) > int(_is_filled(column).sum())


def _is_filled(column: Column) -> Mask:
    codes, names = column.distinct
    return np.asarray([*(name not in ("", None) for name in names.tolist()), False])[codes]


FORMAT = Format(
    "Label Studio export, CSV or TSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample="id,annotator,annotation_id,lead_time,_data_q,q\na,x,1,2.5,hello,cat\n",
)
