"""Queries on e-mails, queued until the mail server has taken them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import email_deliveries

QUEUED, DONE, FAILED = "queued", "done", "failed"
MAX_TRIES = 11  # in about a day
CLAIM_SECONDS = 120.0  # for which other processes leave an e-mail alone
FIRST_PAUSE_SECONDS, PAUSE_GROWTH, MAX_PAUSE_SECONDS = 30.0, 3.0, 6 * 3600.0
MAX_ENDED_PER_PROJECT = 100  # that are stored


def enqueue(c: Connection, project: str, recipient: str, subject: str, text: str) -> None:
    """Insert an e-mail in the write transaction that makes its text true."""
    now = time.time()
    new = {"project": project, "recipient": recipient, "subject": subject, "text": text, "state": QUEUED}
    c.execute(insert(email_deliveries).values({**new, "due": now, "created": now}))


def claim(c: Connection, now: float) -> Row | None:
    """Claim the e-mail that has been due the longest, in a write transaction; None if none is due."""
    table = email_deliveries.c
    is_due = table.state == QUEUED, table.due <= now
    found = select(table.id).where(*is_due).order_by(table.due, table.id).limit(1)
    id = c.execute(found.with_for_update(skip_locked=True)).scalar()
    if id is None:
        return None
    values = {"due": now + CLAIM_SECONDS, "tries": table.tries + 1}
    changed = update(email_deliveries).where(table.id == id, *is_due).values(values)
    return c.execute(changed.returning(*table)).first()


def is_due(c: Connection, now: float) -> bool:
    """Whether an e-mail can be claimed."""
    due = email_deliveries.c.state == QUEUED, email_deliveries.c.due <= now
    return c.execute(select(email_deliveries.c.id).where(*due).limit(1)).first() is not None


def finish(c: Connection, email: Row) -> None:
    """Mark an e-mail as taken by the mail server, in a write transaction."""
    _change(c, email, state=DONE, error=None)
    prune(c, email.project)


def fail(c: Connection, email: Row, error: str, now: float, *, for_good: bool = False) -> None:
    """Plan the next try, with pauses that grow, or give up; in a write transaction."""
    if for_good or email.tries >= MAX_TRIES:
        _change(c, email, state=FAILED, error=error)
        return
    pause = min(FIRST_PAUSE_SECONDS * PAUSE_GROWTH ** (email.tries - 1), MAX_PAUSE_SECONDS)
    _change(c, email, due=now + pause, error=error)


def _change(c: Connection, email: Row, **values: Any) -> None:
    """Change an e-mail, unless it was claimed again meanwhile."""
    table = email_deliveries.c
    is_own = table.id == email.id, table.state == QUEUED, table.tries == email.tries
    c.execute(update(email_deliveries).where(*is_own).values(values))


def prune(c: Connection, project: str, keep: int = MAX_ENDED_PER_PROJECT) -> None:
    """Delete old e-mails of a project that have ended, in a write transaction."""
    table = email_deliveries.c
    ended = table.project == project, table.state != QUEUED
    oldest = select(table.id).where(*ended).order_by(table.id.desc()).offset(keep).limit(1)
    if (found := c.execute(oldest).first()) is not None:
        c.execute(delete(email_deliveries).where(*ended, table.id <= found.id))


def latest(c: Connection, project: str, n: int = 20) -> Sequence[Row]:
    """The last e-mails of a project, the newest first."""
    query = select(email_deliveries).where(email_deliveries.c.project == project)
    return c.execute(query.order_by(email_deliveries.c.id.desc()).limit(n)).all()
