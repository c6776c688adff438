"""Exports: decisions and votes as CSV, NDJSON and Parquet."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crowdpilot.arrays import Codes
from crowdpilot.hybrid import Decisions
from crowdpilot.io.numbers_and_times import utc_datetime
from crowdpilot.io.text_writing import delimited, json_lines
from crowdpilot.io.votes_tables import as_table
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import votes
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.uploads.item_columns import criteria_of
from crowdpilot.service.uploads.spreadsheet_cells import neutralised

MEDIA_TYPES = {
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
CHUNK_BYTES = 1 << 16


class ProjectDecisions(NamedTuple):
    """Decisions and known classes, as they are now."""

    decisions: Decisions
    gold: Codes  # of each item, -1 where it is not known
    classes: Sequence[str]


def project_decisions(replica: Replica, _: Row) -> ProjectDecisions:
    """The decisions of a project."""
    campaign = replica.campaign
    now = campaign.decide()
    items = campaign.view.items()
    gold = items.gold[~items.withdrawn]
    known = gold[:, 0]
    if campaign.has_criteria:  # out if one criterion does not hold, in if all do
        known = np.where((gold == 0).any(axis=1), 0, np.where((gold == 1).all(axis=1), 1, -1))
    return ProjectDecisions(now, known, [str(name) for name in campaign.classes.tolist()])


def decisions_table(decisions: ProjectDecisions) -> pa.Table:
    """A row for each item: the label, probabilities of the classes, the expected cost, votes, done, gold."""
    now, classes = decisions.decisions, decisions.classes
    names = [None if code < 0 else classes[code] for code in decisions.gold.tolist()]
    probs = {f"p_{name}": pa.array(now.probs[:, k]) for k, name in enumerate(classes)}
    return pa.table(
        {
            "item": pa.array([str(name) for name in now.items.tolist()], pa.string()),
            "label": pa.array([str(label) for label in now.labels.tolist()], pa.string()),
            **probs,
            "expected": pa.array(now.expected),
            "votes": pa.array(now.votes),
            "done": pa.array(now.done),
            "gold": pa.array(names, pa.string()),
        }
    )


def votes_tables(store: Store, project: str, spec: Mapping[str, Any]) -> Iterator[pa.Table]:
    """All votes of a project, some at a time, in the order in which they came; at least one table."""
    yield _votes_table([], spec)
    with store.reading() as c:
        for rows in votes.export(c, project):
            yield _votes_table(rows, spec)


def _votes_table(rows: Sequence[Row], spec: Mapping[str, Any]) -> pa.Table:
    criteria, classes = criteria_of(spec), spec["classes"]
    criterion = {"criterion": pa.array([criteria[row.criterion] for row in rows], pa.string())}
    return pa.table(
        {
            "item": pa.array([row.item for row in rows], pa.string()),
            **(criterion if spec["criteria"] else {}),
            "worker": pa.array([row.worker for row in rows], pa.int64()),
            "kind": pa.array([row.kind for row in rows], pa.string()),
            "label": pa.array([classes[row.label] for row in rows], pa.string()),
            "seconds": pa.array([row.seconds for row in rows], pa.float64()),
            "time": pa.array([moment(row.time) for row in rows], pa.string()),
            "counted": pa.array([bool(row.counted) for row in rows], pa.bool_()),
        }
    )


def moment(seconds: float | None) -> str | None:
    """A time as ISO 8601 in UTC; one that no calendar has is the nearest that it has.

    Examples
    --------
    >>> moment(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    time = utc_datetime(seconds)
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write(tables: Iterable[pa.Table], format: str) -> Iterator[bytes]:
    """Tables with the same columns as one file, piece by piece."""
    if format == "parquet":
        yield from _parquet(tables)
        return
    for n, table in enumerate(tables):
        pieces = json_lines(as_table(table)) if format == "ndjson" else islice(_csv(table), min(n, 1), None)
        yield from (piece.encode() for piece in pieces)


def _csv(table: pa.Table) -> Iterator[str]:
    return delimited(as_table(_neutralised_table(table)), ",")


def _neutralised_table(table: pa.Table) -> pa.Table:
    """The same table, where no spreadsheet takes a text for a formula."""
    columns = [
        pa.array([None if text is None else neutralised(text) for text in column.to_pylist()], pa.string())
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=[neutralised(name) for name in table.column_names])


def _parquet(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        writer: pq.ParquetWriter | None = None
        for table in tables:
            writer = writer or pq.ParquetWriter(file, table.schema)
            if len(table):
                writer.write_table(table)
        if writer is not None:
            writer.close()
        file.seek(0)
        while piece := file.read(CHUNK_BYTES):
            yield piece
