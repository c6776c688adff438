"""Votes in the batch results of Amazon Mechanical Turk: a CSV with a row for each assignment.

Layout: https://docs.aws.amazon.com/AWSMechTurk/latest/RequesterUI/ViewingResults.html and, for the answers of
crowd elements, https://docs.aws.amazon.com/sagemaker/latest/dg/sms-ui-template-crowd-radio-group.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from crowdpilot.io.columns import Column, Table, column_of_names
from crowdpilot.io.csv_reading import line_of, read_columns
from crowdpilot.io.engine import engine
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import Mask, chosen_answers, is_one_of, json_questions
from crowdpilot.io.source import Source
from crowdpilot.names import to_names

PRESET = {"task": "HITId", "worker": "WorkerId", "seconds": "WorkTimeInSeconds", "time": "SubmitTime"}
STATUS, REJECTION, ANSWER, TASK_ANSWERS = "AssignmentStatus", "RejectionTime", "Answer.", "taskAnswers"
UNNAMED = "on"  # the value of a button or a box that has none
BOX = "\0"  # between the name of a box and its value
GROUP = " | "  # between the buttons of a group, whose own name is not in the file
Labels = Callable[[], Column]
Boxes = Mapping[str, Column]  # texts true and false, by the value of the box


def sniff(source: Source) -> bool:
    """Whether there are the columns of a batch."""
    return {"HITId", "WorkerId"} <= {*source.header}


def parse(source: Source) -> VotesTable:
    """The answers to one question; a rejected assignment holds no vote."""
    header = source.header
    roles = source.roles(header, {role: name for role, name in PRESET.items() if name in header})
    answers = [name for name in header if name.startswith(ANSWER)]
    about = [name for name in (STATUS, REJECTION) if name in header]
    table = read_columns(source, [*roles.values(), *about, *answers])
    notes: list[str] = []
    questions = _questions(source, table, answers, notes)
    votes = chosen_answers(source, table, roles, questions, {"rejected": _rejected(table)})
    return replace(votes, notes=[*votes.notes, *(notes if "label" not in roles else [])])


def _rejected(table: Table) -> Mask:
    rejected = np.zeros(len(table), bool)
    if STATUS in table.column_names:
        rejected |= is_one_of(table[STATUS], "rejected")
    if REJECTION in table.column_names:
        rejected |= ~_is_blank(table[REJECTION])
    return rejected


def _is_blank(column: Column) -> Mask:
    codes, names = column.encoded
    return np.asarray([*(str(name).strip() == "" for name in names.tolist()), True])[codes]


def _questions(source: Source, table: Table, names: list[str], notes: list[str]) -> dict[str, Labels]:
    """The labels of each question, which may be written in several ways."""
    found: dict[str, list[Labels]] = {}
    options: dict[str, dict[str, Column]] = {}
    for name in names:
        for question, value, labels in _parts(source, table[name], name.removeprefix(ANSWER)):
            if value is None:
                found.setdefault(question, []).append(labels)
            else:
                options.setdefault(question, {})[value] = labels()
    single = {question: boxes for question, boxes in options.items() if len(boxes) == 1}
    group = _group(single)
    for question, boxes in options.items():
        if len(boxes) > 1:
            found.setdefault(question, []).append(partial(_ticked, source, question, boxes))
        elif not group or source.question == question:
            found.setdefault(question, []).append(partial(_only, boxes))
    if group:
        name = GROUP.join(group)
        found[name] = [partial(_ticked, source, name, group)]
    if group and len(found) == 1:
        notes.append(
            f"one of {', '.join(single)} is ticked in each row, so they are read as options of one question; "
            f"question= (--question {next(iter(single))}) reads one of them as true or false"
        )
    return {question: partial(_joined, source, question, columns) for question, columns in found.items()}


def _parts(source: Source, column: Column, name: str) -> list[tuple[str, str | None, Labels]]:
    """Question, value and content: of a box, its value and whether it is ticked; else None and the labels."""
    question, _, last = name.rpartition(".")
    if last == TASK_ANSWERS:
        parsed = json_questions(source, column, _form)
        pairs = ((key.partition(BOX), labels) for key, labels in parsed.items())
        return [(key[0], key[2] if key[1] else None, labels) for key, labels in pairs]
    if question and last == "labels":
        return [(question, None, partial(_lists, source, column))]
    if question and last == "label":
        return [(question, None, lambda: column)]
    if question and is_one_of(column, "true", "false", "").all():
        return [(question, last, lambda: column)]
    return [(name, None, lambda: column)]


def _form(form: Any) -> dict[str, Any]:
    """The answers in a form, which is a record, mostly alone in a list; a box is true or false."""
    answers = form[0] if isinstance(form, list) else form
    return dict(_box(name, value) for name, value in answers.items())


def _box(name: str, value: Any) -> tuple[str, Any]:
    """The name of a question and its answer; of a single box, whether it is ticked."""
    if isinstance(value, dict) and len(value) == 1:
        (option, is_ticked), *_ = value.items()
        if isinstance(is_ticked, bool):
            return f"{name}{BOX}{option}", "true" if is_ticked else "false"
    return name, value


def _lists(source: Source, column: Column) -> Column:
    """Labels in JSON lists."""
    questions = json_questions(source, column, lambda labels: {"": labels})
    return questions[""]() if questions else column


def _group(single: Mapping[str, Boxes]) -> dict[str, Column]:
    """The buttons of a group by their labels: boxes of which every row that has them ticks exactly one."""
    columns = [column for boxes in single.values() for column in boxes.values()]
    if len(columns) < 2:
        return {}
    ticks = np.stack([is_one_of(column, "true") for column in columns]).sum(axis=0)
    answered = ~np.stack([_is_blank(column) for column in columns]).all(axis=0)
    if not answered.any() or (ticks[answered] != 1).any():
        return {}
    values = [value for boxes in single.values() for value in boxes]
    is_named = len(set(values)) == len(values) and UNNAMED not in values
    return dict(zip(values if is_named else single, columns, strict=True))


def _only(boxes: Boxes) -> Column:
    """Whether the only box is ticked."""
    return next(iter(boxes.values()))


def _ticked(source: Source, question: str, boxes: Boxes) -> Column:
    """The option that is true."""
    ticks = np.stack([is_one_of(column, "true") for column in boxes.values()], axis=1)
    several = np.flatnonzero(ticks.sum(axis=1) > 1)
    if len(several):
        problem = f"found {ticks[several[0]].sum()} ticks of {question!r} ({', '.join(boxes)})"
        raise source.error(f"{problem}, expected one label", line_of(source, int(several[0])))
    codes = np.where(ticks.any(axis=1), ticks.argmax(axis=1), -1)
    return column_of_names(codes, to_names(list(boxes)))


def _joined(source: Source, question: str, columns: Sequence[Labels]) -> Column:
    """The answers to a question that is written in several ways, each row in one of them."""
    first, *others = (labels() for labels in columns)
    if not others:
        return first
    values = first.values()
    for n, row in enumerate(zip(*(column.values() for column in others), strict=True)):
        answered = {value for value in (values[n], *row) if value not in (None, "")}
        if len(answered) > 1:
            problem = f"found {' and '.join(map(repr, sorted(answered)))} as answers to {question!r}"
            raise source.error(f"{problem}, expected one label", line_of(source, n))
        values[n] = next(iter(answered), None)
    return engine().column(values)


FORMAT = Format(
    "batch results of Amazon Mechanical Turk, CSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample="HITId,WorkerId,Answer.q\na,x,cat\n",
)
