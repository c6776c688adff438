"""Votes in the batch results of Amazon Mechanical Turk: a CSV with a row for each assignment."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from crowdpilot.arrays import to_names
from crowdpilot.io.delimited import line_of, read_columns
from crowdpilot.io.engine import Column, Table, engine
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.json_cells import answered, is_one_of, json_questions
from crowdpilot.io.source import Source

PRESET = {"task": "HITId", "worker": "WorkerId", "seconds": "WorkTimeInSeconds", "time": "SubmitTime"}
STATUS, ANSWER, TASK_ANSWERS = "AssignmentStatus", "Answer.", "taskAnswers"


def sniff(source: Source) -> bool:
    """Whether there are the columns of a batch."""
    return {"HITId", "WorkerId"} <= {*source.header}


def parse(source: Source) -> Raw:
    """The answers to one question; a rejected assignment holds no vote."""
    header = source.header
    roles = source.roles(header, {role: name for role, name in PRESET.items() if name in header})
    answers = [name for name in header if name.startswith(ANSWER)]
    status = [STATUS] if STATUS in header else []
    table = read_columns(source, [*roles.values(), *status, *answers])
    rejected = is_one_of(table[STATUS], "rejected") if status else None
    return answered(source, table, roles, _questions(source, table, answers), rejected)


def _questions(source: Source, table: Table, names: list[str]) -> dict[str, Callable[[], Column]]:
    """Plain answers, JSON, and one column of true or false for each option."""
    found: dict[str, Callable[[], Column]] = {}
    options: dict[str, list[str]] = {}
    for name in names:
        question, _, last = name.removeprefix(ANSWER).rpartition(".")
        if last == TASK_ANSWERS:
            found |= json_questions(source, table[name], _first)
        elif question and last == "labels":
            found[question] = partial(_lists, source, table[name])
        elif question and last == "label":
            found[question] = partial(table.__getitem__, name)
        elif question and is_one_of(table[name], "true", "false", "").all():
            options.setdefault(question, []).append(name)
        else:
            found[name.removeprefix(ANSWER)] = partial(table.__getitem__, name)
    return found | {question: partial(_ticked, source, table, names) for question, names in options.items()}


def _lists(source: Source, column: Column) -> Column:
    """Labels in JSON lists."""
    found = json_questions(source, column, lambda said: {"": said})
    return found[""]() if found else column


def _first(said: Any) -> dict[str, Any]:
    """The form is a record, mostly alone in a list."""
    return dict(said[0] if isinstance(said, list) else said)


def _ticked(source: Source, table: Table, names: list[str]) -> Column:
    """The option that is true; with one option only, whether it is."""
    if len(names) == 1:
        return table[names[0]]
    ticks = np.stack([is_one_of(table[name], "true") for name in names], axis=1)
    several = np.flatnonzero(ticks.sum(axis=1) > 1)
    if len(several):
        found = f"found {ticks[several[0]].sum()} ticks in {', '.join(names)}"
        raise source.error(f"{found}, expected one label", line_of(source, int(several[0])))
    codes = np.where(ticks.any(axis=1), ticks.argmax(axis=1), -1)
    return engine().named(codes, to_names([name.rpartition(".")[2] for name in names]))


FORMAT = Format(
    "batch results of Amazon Mechanical Turk, CSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample="HITId,WorkerId,Answer.q\na,x,cat\n",
)
