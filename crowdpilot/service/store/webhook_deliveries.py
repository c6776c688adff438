"""Deliveries: what is to be said to a requester's address, kept until it was heard."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, update

from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import deliveries, told

QUEUED, DONE, FAILED = "queued", "done", "failed"
TRIES = 8
BUSY = 60.0  # seconds for which a delivery is left to who sends it
KEPT = 200  # ended deliveries of a project that are remembered
FOLD = 4.0  # by which each pause is longer than the one before, from a second on
MANY = 500  # items in one delivery


def add(c: Connection, project: str, event: str, payload: Mapping[str, Any]) -> None:
    """Something is to be said."""
    now = time.time()
    new = {"project": project, "event": event, "payload": payload, "state": QUEUED, "due": now}
    c.execute(insert(deliveries).values({**new, "created": now}))


def take(c: Connection, now: float) -> Record | None:
    """The next that is due, left alone by others for a while; of each project the oldest comes first."""
    row = c.execute(_next(now).with_for_update(skip_locked=True)).first()
    if row is None:
        return None
    mine = update(deliveries).where(deliveries.c.id == row.id, deliveries.c.due <= now)
    values = {"due": now + BUSY, "tries": deliveries.c.tries + 1}
    return c.execute(mine.values(values).returning(*deliveries.c)).first()


def is_due(c: Connection, now: float) -> bool:
    """Whether there is something to take."""
    return c.execute(_next(now)).first() is not None


def _next(now: float) -> Select[int]:
    queued = deliveries.c.state == QUEUED
    oldest = select(func.min(deliveries.c.id)).where(queued).group_by(deliveries.c.project)
    due = deliveries.c.id.in_(oldest), queued, deliveries.c.due <= now
    return select(deliveries.c.id).where(*due).order_by(deliveries.c.due, deliveries.c.id).limit(1)


def finish(c: Connection, sent: Record) -> None:
    """It was heard."""
    c.execute(update(deliveries).where(deliveries.c.id == sent.id).values(state=DONE, error=None))
    prune(c, sent.project)


def fail(c: Connection, sent: Record, error: str, now: float) -> None:
    """It was not heard: it is said again later, each time after a longer while, and then no more."""
    values: dict[str, Any] = {"state": FAILED, "error": error}
    if sent.tries < TRIES:
        values = {"due": now + FOLD ** (sent.tries - 1), "error": error}
    c.execute(update(deliveries).where(deliveries.c.id == sent.id).values(values))


def prune(c: Connection, project: str, keep: int = KEPT) -> None:
    """Forget old deliveries of a project."""
    ended = deliveries.c.project == project, deliveries.c.state != QUEUED
    oldest = select(deliveries.c.id).where(*ended).order_by(deliveries.c.id.desc()).offset(keep).limit(1)
    if (found := c.execute(oldest).first()) is not None:
        c.execute(delete(deliveries).where(*ended, deliveries.c.id <= found.id))


def listed(c: Connection, project: str, n: int = 100) -> Sequence[Record]:
    """The last deliveries of a project, the newest first."""
    mine = deliveries.c.project == project
    return c.execute(select(deliveries).where(mine).order_by(deliveries.c.id.desc()).limit(n)).all()


def said(c: Connection, project: str) -> dict[int, str]:
    """The label that was last said of each item."""
    rows = c.execute(select(told.c.item, told.c.label).where(told.c.project == project))
    return {row.item: row.label for row in rows}


def say(c: Connection, project: str, new: Mapping[int, str], before: Mapping[int, str]) -> None:
    """Remember what is said of items from now on, given what was said before."""
    rows = [{"i": item, "l": label} for item, label in new.items() if item in before]
    if rows:
        c.execute(update(told).where(told.c.item == bindparam("i")).values(label=bindparam("l")), rows)
    fresh = [{"item": i, "project": project, "label": label} for i, label in new.items() if i not in before]
    if fresh:
        c.execute(insert(told), fresh)
