"""Queries on webhook deliveries, queued until an address accepts them, and on the labels last sent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.projects import DELETED
from crowdpilot.service.store.tables import projects, sent_labels, webhook_deliveries

QUEUED, DONE, FAILED = "queued", "done", "failed"
MAX_TRIES = 8
CLAIM_SECONDS = 60.0  # for which other processes leave a delivery alone
MAX_ENDED_PER_PROJECT = 200  # that are stored
RETRY_GROWTH = 4.0  # ratio of two pauses between tries; the first is a second
MAX_ITEMS_PER_DELIVERY = 500
MAX_CANDIDATES = 1000  # projects with a delivery that is due, of which the sender chooses one


def enqueue(c: Connection, project: str, event: str, payload: Mapping[str, Any]) -> None:
    """Insert a delivery in the write transaction that makes its event true."""
    now = time.time()
    new = {"project": project, "event": event, "payload": payload, "state": QUEUED, "due": now}
    c.execute(insert(webhook_deliveries).values({**new, "created": now}))


def due(c: Connection, now: float) -> Sequence[Row]:
    """Deliveries that can be claimed: id, project, address; of each project the oldest, if it is due.

    While that one is claimed it is not due, so that one delivery of a project at a time is under way.
    """
    table = webhook_deliveries.c
    queued = table.state == QUEUED
    oldest = select(func.min(table.id)).where(queued).group_by(table.project)
    address = projects.c.spec["webhook"].as_string().label("address")
    query = select(table.id, table.project, address).join(projects, projects.c.id == table.project)
    is_due = table.id.in_(oldest), queued, table.due <= now, projects.c.state != DELETED
    return c.execute(query.where(*is_due).order_by(table.due, table.id).limit(MAX_CANDIDATES)).all()


def claim(c: Connection, id: int, now: float) -> Row | None:
    """Claim a delivery that is due, in a write transaction; None if another process was faster."""
    table = webhook_deliveries.c
    is_due = table.id == id, table.state == QUEUED, table.due <= now
    values = {"due": now + CLAIM_SECONDS, "tries": table.tries + 1}
    return c.execute(update(webhook_deliveries).where(*is_due).values(values).returning(*table)).first()


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
    """Change a delivery, unless it was claimed again meanwhile."""
    table = webhook_deliveries.c
    is_own = table.id == delivery.id, table.state == QUEUED, table.tries == delivery.tries
    c.execute(update(webhook_deliveries).where(*is_own).values(values))


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
