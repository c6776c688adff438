"""Answers inside JSON: nested exports of annotation tools, and JSON in the cells of a text file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes
from crowdpilot.io.columns import Column, EncodedColumn, Table, objects, table_of, value_text
from crowdpilot.io.csv_reading import line_of, text_table
from crowdpilot.io.engine import engine
from crowdpilot.io.format import VotesTable
from crowdpilot.io.source import Source
from crowdpilot.names import Encoded

LABEL_FIELDS = ("choices", "labels", "label", "choice", "value", "rating", "number", "selected")
PART_FIELDS = ("start", "start_offset", "x", "rank")  # in answers that are no label of a whole task
LABEL_COLUMN = "(label)"  # no column of a file is called like this
MAX_QUOTED_CHARACTERS = 40
LabelColumns = Mapping[str, Callable[[], Column]]  # the labels of each question, read when asked for
Mask = NDArray[np.bool_]


class Answer(NamedTuple):
    """One answer of a worker; without a question it is no answer to any of them.

    `void` is the reason why it is no vote, such as "cancelled"; empty if it is one.
    """

    task: Any
    worker: Any
    question: str | None
    value: Any
    seconds: Any = None
    time: Any = None
    gold: Any = None
    void: str = ""


def from_answers(
    source: Source,
    answers: Sequence[Answer],
    tasks: Iterable[Any],
    notes: Sequence[str] = (),
    fields: Mapping[str, str] | None = None,
) -> VotesTable:
    """The answers to one question, the tasks in their order, and the fields from which roles come."""
    questions = {answer.question for answer in answers if answer.question is not None}
    chosen = source.choose(sorted(questions)) if questions or source.question else None
    rows = [answer for answer in answers if answer.question in (chosen, None)]
    columns = {role: [getattr(row, role) for row in rows] for role in ("task", "worker", "seconds", "time")}
    columns["label"] = [None if row.void else _label(source, row, row.value) for row in rows]
    columns["gold"] = [_label(source, row, row.gold) for row in rows]
    table = table_of({role: engine().column(values) for role, values in columns.items()})
    names = engine().column(list(dict.fromkeys(tasks))).distinct.names
    return VotesTable(
        table, {role: role for role in columns}, tasks=names, name=str(source.path), notes=notes,
        left_out=Counter(row.void for row in rows if row.void),
        described=_origins(columns, {"label": chosen or "label", **(fields or {})}),
    )  # fmt: skip


def _origins(columns: Mapping[str, Sequence[Any]], fields: Mapping[str, str]) -> dict[str, str]:
    """Where each role comes from that has a value, the task and the worker first."""
    filled = [role for role, values in columns.items() if any(value is not None for value in values)]
    return {role: repr(fields[role]) for role in ("task", "worker", "label", *filled) if role in fields}


def label_of(value: Any) -> Any:
    """The one label in an answer, however it is wrapped; None if there is none.

    Examples
    --------
    >>> label_of({"choices": ["cat"]}), label_of({"cat": True, "dog": False}), label_of([])
    ('cat', 'cat', None)
    """
    if isinstance(value, dict):
        return label_of(_unwrap(value))
    if not isinstance(value, list):
        return None if value == "" else value
    labels = list(dict.fromkeys(label_of(inner) for inner in value))
    if len(labels) > 1:
        raise ValueError(f"{len(labels)} labels ({', '.join(map(str, labels))})")
    return labels[0] if labels else None


def _unwrap(value: dict[str, Any]) -> Any:
    if all(isinstance(ticked, bool) for ticked in value.values()):
        return [name for name, ticked in value.items() if ticked]
    if part := next((name for name in PART_FIELDS if name in value), None):
        raise ValueError(
            f"an answer with {part!r}, which is about a part or a rank and no label of the whole"
        )
    for name in LABEL_FIELDS:
        if name in value:
            return value[name]
    raise ValueError(f"an answer that is no label ({', '.join(value)})")


def _label(source: Source, answer: Answer, value: Any) -> Any:
    try:
        return label_of(value)
    except ValueError as error:
        where = f"worker {answer.worker!r} about task {answer.task!r}"
        raise source.error(f"found {error} of {where}, expected one label") from error


# JSON in the cells of a text file -------------------------------------------------------------


def chosen_answers(
    source: Source,
    table: Table,
    roles: Mapping[str, str],
    questions: LabelColumns,
    void: Mapping[str, Mask] | None = None,
    origins: Mapping[str, str] | None = None,
) -> VotesTable:
    """The answers to the chosen question; where a mask of `void` is true there is none, for its reason.

    A column that the user has named as the label comes before all questions. `origins` says where a
    role comes from that is not one column.
    """
    named = roles.get("label")
    question = named or source.choose(questions)
    label = table[named] if named else questions[question]()
    for mask in (void or {}).values():
        codes, names = label.encoded
        label = EncodedColumn(Encoded(np.where(mask, np.int32(-1), codes), names))
    left_out = {reason: int(mask.sum()) for reason, mask in (void or {}).items() if mask.any()}
    votes = text_table(source, table.append_column(LABEL_COLUMN, label), {**roles, "label": LABEL_COLUMN})
    said = {**roles, "label": question}
    order = dict.fromkeys(role for role in ("task", "worker", "label", *roles) if role in said)
    described = {role: repr(said[role]) for role in order}
    read = {*table.column_names}
    return replace(
        votes, left_out=left_out, described={**described, **(origins or {})},
        ignored=[name for name in source.header if name not in read],
    )  # fmt: skip


def is_one_of(column: Column, *words: str) -> Mask:
    """Whether each text is one of the words, in small or capital letters."""
    codes, names = column.encoded
    matches = [str(text).lower() in words for text in names.tolist()]
    return np.asarray([*matches, False])[codes]


def json_questions(
    source: Source, column: Column, answers: Callable[[Any], Mapping[str, Any]]
) -> dict[str, Callable[[], Column]]:
    """The questions in a column of JSON texts, each distinct one parsed once."""
    return text_questions(source, column, lambda text: answers(json.loads(text)))


def text_questions(
    source: Source, column: Column, answers: Callable[[str], Mapping[str, Any]]
) -> dict[str, Callable[[], Column]]:
    """The same, where `answers` reads the text."""
    codes, names = column.distinct
    parsed: list[Mapping[str, Any]] = []
    for n, text in enumerate(names.tolist()):
        try:
            parsed.append(answers(text) if text else {})
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            problem = f"found {text[:MAX_QUOTED_CHARACTERS]!r}, expected answers as JSON"
            raise source.error(problem, line_of(source, int(np.argmax(codes == n)))) from error
    questions = dict.fromkeys(question for cell in parsed for question in cell)
    return {q: partial(_labels, source, codes, [cell.get(q) for cell in parsed]) for q in questions}


def _labels(source: Source, codes: Codes, values: list[Any]) -> Column:
    labels: list[Any] = []
    for n, value in enumerate(values):
        try:
            labels.append(label_of(value))
        except ValueError as error:
            line = line_of(source, int(np.argmax(codes == n)))
            raise source.error(f"found {error}, expected one label", line) from error
    inner, names = engine().column(labels).encoded
    texts = objects([value_text(name) for name in names.tolist()])
    return EncodedColumn(Encoded(np.append(inner, np.int32(-1))[codes], texts))
