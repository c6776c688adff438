"""Votes in the classification export of a Zooniverse project: a CSV with JSON in its cells.

Layout: https://help.zooniverse.org/next-steps/data-exports
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.io.columns import Column, NumberError, Table
from crowdpilot.io.csv_reading import read_columns
from crowdpilot.io.engine import engine
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import chosen_answers, json_questions
from crowdpilot.io.source import Source

USERS = ("user_name", "user_id", "user_ip")
ANNOTATIONS, METADATA, FLOW, ADDRESS = "annotations", "metadata", "workflow_id", "user_ip"
PERSON, SECONDS = "(worker)", "(seconds)"
ORIGINS = {PERSON: "'user_name' or 'user_ip'", SECONDS: "'metadata'"}
STARTED, FINISHED = (re.compile(rf'"{name}": *"([^"]+)"') for name in ("started_at", "finished_at"))


def sniff(source: Source) -> bool:
    """Whether there are the columns of such an export."""
    return {"subject_ids", ANNOTATIONS} <= {*source.header}


def parse(source: Source) -> VotesTable:
    """The answers to one task of the workflow; of one workflow, if there are several."""
    header = source.header
    user = next((name for name in USERS if name in header), USERS[0])
    preset = {"task": "subject_ids", "worker": user, "time": "created_at"}
    roles = source.roles(header, {role: name for role, name in preset.items() if name in header})
    extra = [name for name in (ANNOTATIONS, METADATA, FLOW, ADDRESS) if name in header]
    table = read_columns(source, [*roles.values(), *extra])
    questions = json_questions(source, *_annotations(table))
    table, roles = _with_seconds(*_with_addresses(table, roles))
    origins = {role: ORIGINS[name] for role, name in roles.items() if name in ORIGINS}
    votes = chosen_answers(source, table, roles, questions, origins=origins)
    if not _has_flows(table) or "label" in source.columns:
        return votes
    flow = source.choose(questions).rpartition("/")[0]
    is_here = np.asarray(table[FLOW].values(), object) == flow
    rows = np.flatnonzero(is_here)
    return replace(
        votes, table=votes.table.filter(is_here), position=lambda row: votes.position(int(rows[row]))
    )


def _has_flows(table: Table) -> bool:
    return FLOW in table.column_names and len(table[FLOW].distinct.names) > 1


def _annotations(table: Table) -> tuple[Column, Callable[[Any], dict[str, Any]]]:
    """JSON texts, and how answers are found in them; `12/T0` is the task T0 of workflow 12."""
    if not _has_flows(table):
        return table[ANNOTATIONS], _by_task
    pairs = zip(table[FLOW].values(), table[ANNOTATIONS].values(), strict=True)
    texts = engine().column([f'["{flow}", {answers}]' for flow, answers in pairs])
    return texts, lambda pair: {f"{pair[0]}/{task}": value for task, value in _by_task(pair[1]).items()}


def _by_task(annotations: Any) -> dict[str, Any]:
    """Answers by the name of the task, also of tasks within a task."""
    answers: dict[str, Any] = {}
    for one in annotations:
        inner = one.get("value")
        is_combined = isinstance(inner, list) and any(isinstance(i, dict) and "task" in i for i in inner)
        for task, value in (_by_task(inner) if is_combined else {one["task"]: inner}).items():
            answers[task] = [answers[task], value] if task in answers else value  # two have to agree
    return answers


def _with_addresses(table: Table, roles: dict[str, str]) -> tuple[Table, dict[str, str]]:
    """A worker without a name is known by the address."""
    name = USERS[0]
    if roles.get("worker") != name or ADDRESS not in table.column_names:
        return table, roles
    pairs = zip(table[name].values(), table[ADDRESS].values(), strict=True)
    workers = engine().column([user or address for user, address in pairs])
    return table.append_column(PERSON, workers), {**roles, "worker": PERSON}


def _with_seconds(table: Table, roles: dict[str, str]) -> tuple[Table, dict[str, str]]:
    """From the start to the finish in the metadata."""
    if "seconds" in roles or METADATA not in table.column_names:
        return table, roles
    try:
        start, finish = (_times(table[METADATA], pattern) for pattern in (STARTED, FINISHED))
    except NumberError:
        return table, roles
    seconds = engine().column(finish - start)
    return table.append_column(SECONDS, seconds), {**roles, "seconds": SECONDS}


def _times(metadata: Column, pattern: re.Pattern[str]) -> Floats:
    matches = map(pattern.search, metadata.values())
    return engine().column([match and match[1] for match in matches]).times()


FORMAT = Format(
    "classification export of Zooniverse, CSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample='user_name,annotations,subject_ids\nx,"[{""task"":""T0"",""value"":""cat""}]",a\n',
)
