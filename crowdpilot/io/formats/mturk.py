"""Votes in the batch results of Amazon Mechanical Turk: a CSV with a row for each assignment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from crowdpilot.io.columns import Column, Table, column_of_names
from crowdpilot.io.csv_reading import line_of, read_columns
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import chosen_answers, is_one_of, json_questions
from crowdpilot.io.source import Source
from crowdpilot.names import to_names

PRESET = {"task": "HITId", "worker": "WorkerId", "seconds": "WorkTimeInSeconds", "time": "SubmitTime"}
STATUS, ANSWER, TASK_ANSWERS = "AssignmentStatus", "Answer.", "taskAnswers"


def sniff(source: Source) -> bool:
    """Whether there are the columns of a batch."""
    return {"HITId", "WorkerId"} <= {*source.header}


def parse(source: Source) -> VotesTable:
    """The answers to one question; a rejected assignment holds no vote."""
    header = source.header
    roles = source.roles(header, {role: name for role, name in PRESET.items() if name in header})
    answers = [name for name in header if name.startswith(ANSWER)]
    status = [STATUS] if STATUS in header else []
    table = read_columns(source, [*roles.values(), *status, *answers])
    rejected = is_one_of(table[STATUS], "rejected") if status else None
    return chosen_answers(source, table, roles, _questions(source, table, answers), rejected)


def _questions(source: Source, table: Table, names: list[str]) -> dict[str, Callable[[], Column]]:
    """Plain answers, JSON, and one column of true or false for each option."""
    questions: dict[str, Callable[[], Column]] = {}
    options: dict[str, list[str]] = {}
    for name in names:
        question, _, last = name.removeprefix(ANSWER).rpartition(".")
        if last == TASK_ANSWERS:
            questions |= json_questions(source, table[name], _first)
        elif question and last == "labels":
            questions[question] = partial(_lists, source, table[name])
        elif question and last == "label":
            questions[question] = partial(table.__getitem__, name)
        elif question and is_one_of(table[name], "true", "false", "").all():
            options.setdefault(question, []).append(name)
        else:
            questions[name.removeprefix(ANSWER)] = partial(table.__getitem__, name)
    ticked = {question: partial(_ticked, source, table, names) for question, names in options.items()}
    return questions | ticked


def _lists(source: Source, column: Column) -> Column:
    """Labels in JSON lists."""
    questions = json_questions(source, column, lambda labels: {"": labels})
    return questions[""]() if questions else column


def _first(form: Any) -> dict[str, Any]:
    """The form is a record, mostly alone in a list."""
    return dict(form[0] if isinstance(form, list) else form)


def _ticked(source: Source, table: Table, names: list[str]) -> Column:
    """The option that is true; with one option only, whether it is."""
    if len(names) == 1:
        return table[names[0]]
    ticks = np.stack([is_one_of(table[name], "true") for name in names], axis=1)
    several = np.flatnonzero(ticks.sum(axis=1) > 1)
    if len(several):
        problem = f"found {ticks[several[0]].sum()} ticks in {', '.join(names)}"
        raise source.error(f"{problem}, expected one label", line_of(source, int(several[0])))
    codes = np.where(ticks.any(axis=1), ticks.argmax(axis=1), -1)
    return column_of_names(codes, to_names([name.rpartition(".")[2] for name in names]))


FORMAT = Format(
    "batch results of Amazon Mechanical Turk, CSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample="HITId,WorkerId,Answer.q\na,x,cat\n",
)
