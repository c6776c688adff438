"""Votes, and what workers say about items, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from crowdpilot.service.exports.tables import moment
from crowdpilot.service.store import votes
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.uploads.item_columns import criteria_of


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


def comments_table(store: Store, project: str, spec: Mapping[str, Any]) -> pa.Table:
    """What workers say about items, and flags, the oldest first; workers are numbers."""
    criteria = criteria_of(spec)
    with store.reading() as c:
        rows = list(comments.list_all(c, project))[::-1]
    criterion = {"criterion": pa.array([criteria[row.criterion] for row in rows], pa.string())}
    return pa.table(
        {
            "item": pa.array([row.item_name for row in rows], pa.string()),
            **(criterion if spec["criteria"] else {}),
            "worker": pa.array([row.worker for row in rows], pa.int64()),
            "flagged": pa.array([bool(row.flagged) for row in rows], pa.bool_()),
            "comment": pa.array([row.text for row in rows], pa.string()),
            "time": pa.array([moment(row.time) for row in rows], pa.string()),
            "resolved": pa.array([moment(row.resolved) for row in rows], pa.string()),
        }
    )
