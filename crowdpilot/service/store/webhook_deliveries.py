"""Queries on webhook deliveries, queued until an address accepts them, and on the labels last sent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import sent_labels, webhook_deliveries

QUEUED, DONE, FAILED = "queued", "done", "failed"
MAX_TRIES = 8
CLAIM_SECONDS = 60.0  # for which other processes leave a delivery alone
MAX_ENDED_PER_PROJECT = 200  # that are stored
RETRY_GROWTH = 4.0  # ratio of two pauses between tries; the first is a second
MAX_ITEMS_PER_DELIVERY = 500


def enqueue(c: Connection, project: str, event: str, payload: Mapping[str, Any]) -> None:
    """Insert a delivery in the write transaction that makes its event true."""
    now = time.time()
    new = {"project": project, "event": event, "payload": payload, "state": QUEUED, "due": now}
    c.execute(insert(webhook_deliveries).values({**new, "created": now}))


def claim(c: Connection, now: float) -> Row | None:
    """The next delivery that is due, claimed in a write transaction; the oldest of each project first.

    By the index on (state, due); on PostgreSQL with SKIP LOCKED.
    """
    row = c.execute(_next(now).with_for_update(skip_locked=True)).first()
    if row is None:
        return None
    due = webhook_deliveries.c.id == row.id, webhook_deliveries.c.due <= now
    values = {"due": now + CLAIM_SECONDS, "tries": webhook_deliveries.c.tries + 1}
    claimed = update(webhook_deliveries).where(*due).values(values)
    return c.execute(claimed.returning(*webhook_deliveries.c)).first()


def is_due(c: Connection, now: float) -> bool:
    """Whether there is a delivery to claim."""
    return c.execute(_next(now)).first() is not None


def _next(now: float) -> Select[int]:
    table = webhook_deliveries.c
    queued = table.state == QUEUED
    oldest = select(func.min(table.id)).where(queued).group_by(table.project)
    due = table.id.in_(oldest), queued, table.due <= now
    return select(table.id).where(*due).order_by(table.due, table.id).limit(1)


def finish(c: Connection, delivery: Row) -> None:
    """Mark a delivery as accepted, in a write transaction."""
    _change(c, delivery, state=DONE, error=None)
    prune(c, delivery.project)


def fail(c: Connection, delivery: Row, error: str, now: float) -> None:
    """Plan the next try with exponential backoff, or give up after `MAX_TRIES`; in a write transaction."""
    if delivery.tries < MAX_TRIES:
        _change(c, delivery, due=now + RETRY_GROWTH ** (delivery.tries - 1), error=error)
    else:
        _change(c, delivery, state=FAILED, error=error)


def _change(c: Connection, delivery: Row, **values: Any) -> None:
    c.execute(update(webhook_deliveries).where(webhook_deliveries.c.id == delivery.id).values(values))


def prune(c: Connection, project: str, keep: int = MAX_ENDED_PER_PROJECT) -> None:
    """Delete old deliveries of a project that have ended, in a write transaction."""
    table = webhook_deliveries.c
    ended = table.project == project, table.state != QUEUED
    oldest = select(table.id).where(*ended).order_by(table.id.desc()).offset(keep).limit(1)
    if (found := c.execute(oldest).first()) is not None:
        c.execute(delete(webhook_deliveries).where(*ended, table.id <= found.id))


def latest(c: Connection, project: str, n: int = 100) -> Sequence[Row]:
    """The last deliveries of a project, the newest first."""
    query = select(webhook_deliveries).where(webhook_deliveries.c.project == project)
    return c.execute(query.order_by(webhook_deliveries.c.id.desc()).limit(n)).all()


# Labels last sent


def read_sent_labels(c: Connection, project: str) -> dict[int, str]:
    """The label that was last sent of each item, by item id."""
    rows = c.execute(select(sent_labels.c.item, sent_labels.c.label).where(sent_labels.c.project == project))
    return {row.item: row.label for row in rows}


def write_sent_labels(c: Connection, project: str, new: Mapping[int, str], before: Mapping[int, str]) -> None:
    """Write the labels sent now, given those sent before, in the write transaction of the delivery."""
    changed = [{"_item": item, "_label": label} for item, label in new.items() if item in before]
    if changed:
        same = sent_labels.c.item == bindparam("_item")
        c.execute(update(sent_labels).where(same).values(label=bindparam("_label")), changed)
    added = [{"item": i, "project": project, "label": label} for i, label in new.items() if i not in before]
    if added:
        c.execute(insert(sent_labels), added)
