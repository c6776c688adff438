"""The log of actions: entries with the names of actors, as tables for exports, and entries of exports."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.requesters.log_sentences import other_details, write_sentence
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.store.requesters.action_log import Filter

logger = logging.getLogger(__name__)


def read_entries(
    c: Connection, wanted: Filter, *, before: int | None = None, n: int = 100
) -> list[dict[str, Any]]:
    """The last entries with ids below `before`, the newest first; `name` is that of the actor."""
    return _with_names(c, action_log.read(c, **wanted._asdict(), before=before, n=n))


def _with_names(c: Connection, rows: Sequence[Row]) -> list[dict[str, Any]]:
    names = action_log.actor_names(c, [row.actor for row in rows])
    return [{**row._mapping, "name": names.get(row.actor, row.actor)} for row in rows]


def describe(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry with a sentence that follows the name, and the details which the sentence does not have."""
    action, detail = entry["action"], entry["detail"]
    return {**entry, "sentence": write_sentence(action, detail), "more": other_details(action, detail)}


def log_tables(store: Store, wanted: Filter) -> Iterator[pa.Table]:
    """All entries that are wanted, some at a time; at least one table."""
    yield _table([])
    with store.reading() as c:
        for rows in action_log.read_all(c, wanted):
            yield _table(_with_names(c, rows))


def _table(entries: Sequence[dict[str, Any]]) -> pa.Table:
    texts = {name: [entry[name] for entry in entries]
             for name in ("category", "actor", "name", "action", "project", "address")}  # fmt: skip
    columns = {
        "id": pa.array([entry["id"] for entry in entries], pa.int64()),
        "time": pa.array([_moment(entry["time"]) for entry in entries], pa.string()),
        **{name: pa.array(values, pa.string()) for name, values in texts.items()},
        "detail": pa.array([json.dumps(entry["detail"]) for entry in entries], pa.string()),
    }
    return pa.table(columns)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def log_export(store: Store, actor: str, project: str | None, what: str, **detail: Any) -> None:
    """Write down that data is exported.

    If the database cannot be written to, such as on a full disk, results can still be had: then the log of
    the process says so.
    """
    try:
        with store.writing() as c:
            action_log.write(c, actor, "export", project, category=action_log.DATA, what=what, **detail)
    except ServiceUnavailableError:
        logger.warning("the export of %s of project %s by %s could not be written down", what, project, actor)
