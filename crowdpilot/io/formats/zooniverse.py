"""Votes in the classification export of a Zooniverse project: a CSV with JSON in its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from crowdpilot.arrays import need_arrow
from crowdpilot.io.delimited import read_columns
from crowdpilot.io.engine import Column, Table, engine
from crowdpilot.io.errors import NotANumber
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.json_cells import answered, json_questions
from crowdpilot.io.source import Source

USERS = ("user_name", "user_id", "user_ip")
ANNOTATIONS, METADATA, FLOW, ADDRESS = "annotations", "metadata", "workflow_id", "user_ip"
STAMP = r'"%s": *"(?P<at>[^"]+)"'


def sniff(source: Source) -> bool:
    """Whether there are the columns of such an export."""
    return {"subject_ids", ANNOTATIONS} <= {*source.header}


def parse(source: Source) -> Raw:
    """The answers to one task of the workflow; of one workflow, if there are several."""
    need_arrow(f"{source.path}: the format zooniverse")
    header = source.header
    user = next((name for name in USERS if name in header), USERS[0])
    preset = {"task": "subject_ids", "worker": user, "time": "created_at"}
    roles = source.roles(header, {role: name for role, name in preset.items() if name in header})
    extra = [name for name in (ANNOTATIONS, METADATA, FLOW, ADDRESS) if name in header]
    table = read_columns(source, [*roles.values(), *extra])
    questions = json_questions(source, *_annotations(table))
    raw = answered(source, *_with_seconds(*_with_addresses(table, roles)), questions)
    if not _has_flows(table) or "label" in source.columns:
        return raw
    flow = source.choose(questions).rpartition("/")[0]
    codes, flows = engine().vocabulary(table[FLOW])
    here = codes == engine().values(flows).index(flow)
    rows = np.flatnonzero(here)
    return replace(raw, table=raw.table.filter(here), place=lambda row: raw.place(int(rows[row])))


def _has_flows(table: Table) -> bool:
    return FLOW in table.column_names and len(engine().vocabulary(table[FLOW])[1]) > 1


def _annotations(table: Table) -> tuple[Column, Callable[[Any], dict[str, Any]]]:
    """JSON texts, and how answers are found in them; `12/T0` is the task T0 of workflow 12."""
    if not _has_flows(table):
        return table[ANNOTATIONS], _by_task
    texts = engine().join_rows(['["', table[FLOW], '", ', table[ANNOTATIONS], "]"], "")
    return texts, lambda said: {f"{said[0]}/{task}": value for task, value in _by_task(said[1]).items()}


def _by_task(said: Any) -> dict[str, Any]:
    """Answers by the name of the task, also of tasks within a task."""
    answers: dict[str, Any] = {}
    for one in said:
        inner = one.get("value")
        is_combined = isinstance(inner, list) and any(isinstance(i, dict) and "task" in i for i in inner)
        answers |= _by_task(inner) if is_combined else {one["task"]: inner}
    return answers


def _with_addresses(table: Table, roles: dict[str, str]) -> tuple[Table, dict[str, str]]:
    """A worker without a name is known by the address."""
    name = USERS[0]
    if roles.get("worker") != name or ADDRESS not in table.column_names:
        return table, roles
    import pyarrow.compute as pc

    worker = pc.if_else(pc.equal(table[name], ""), table[ADDRESS], table[name])
    return table.append_column("(worker)", worker), {**roles, "worker": "(worker)"}


def _with_seconds(table: Table, roles: dict[str, str]) -> tuple[Table, dict[str, str]]:
    """From the start to the finish that the metadata tell."""
    if "seconds" in roles or METADATA not in table.column_names:
        return table, roles
    try:
        start, finish = (engine().to_times(_stamp(table, name)) for name in ("started_at", "finished_at"))
    except NotANumber:
        return table, roles
    seconds = engine().column(finish - start)
    return table.append_column("(seconds)", seconds), {**roles, "seconds": "(seconds)"}


def _stamp(table: Table, name: str) -> Column:
    import pyarrow.compute as pc

    return pc.struct_field(pc.extract_regex(table[METADATA], STAMP % name), "at")


FORMAT = Format(
    "classification export of Zooniverse, CSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample='user_name,annotations,subject_ids\nx,"[{""task"":""T0"",""value"":""cat""}]",a\n',
)
