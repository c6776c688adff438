"""Counters of events that are limited in number per period of time, shared by all processes."""

from __future__ import annotations

import time

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from crowdpilot.service.store.tables import counters

KEPT_SECONDS = 2 * 86400.0  # after which a counter is forgotten


def add(c: Connection, name: str, period_seconds: float, now: float | None = None) -> int:
    """Count one event in the present period, in a write transaction; the number of its events so far."""
    window = _window(period_seconds, now)
    dialect = sqlite if c.dialect.name == "sqlite" else postgresql
    new = dialect.insert(counters).values(name=name[:120], window=window, count=1)
    same = [counters.c.name, counters.c.window]
    upsert = new.on_conflict_do_update(index_elements=same, set_={"count": counters.c.count + 1})
    return int(c.execute(upsert.returning(counters.c.count)).scalar_one())


def read(c: Connection, name: str, period_seconds: float, now: float | None = None) -> int:
    """The number of events in the present period."""
    own = counters.c.name == name[:120], counters.c.window == _window(period_seconds, now)
    return c.execute(select(counters.c.count).where(*own)).scalar() or 0


def reset(c: Connection, name: str) -> None:
    """Forget the events of a name, in a write transaction."""
    c.execute(update(counters).where(counters.c.name == name[:120]).values(count=0))


def prune(c: Connection, now: float | None = None) -> None:
    """Delete counters of periods long past, in a write transaction."""
    c.execute(delete(counters).where(counters.c.window < _start(KEPT_SECONDS, now)))


def _window(period_seconds: float, now: float | None) -> int:
    """The start of the present period, in seconds since 1970, so that periods of any length compare."""
    moment = time.time() if now is None else now
    return int(moment // period_seconds * period_seconds)


def _start(seconds: float, now: float | None) -> int:
    return int((time.time() if now is None else now) - seconds)
