"""Service time: seconds during which the service has run, in one row of the database.

Leases begin and end in service time. It never goes back, does not jump when the wall clock of a host is set,
is the same for all processes and hosts, and stands still while the service is down. Every process advances
it by the time that passed on its own monotonic clock since it last saw the row change; of several processes
the first to do so wins (compare-and-set on the version), so that it does not run faster than real time.
"""

from __future__ import annotations

import time

from sqlalchemy import Connection, select, update

from crowdpilot.service.store.tables import clock

MAX_STEP_SECONDS = 10.0  # by which one process advances it at once; after a suspended host, time is lost


def now(c: Connection) -> float:
    """Service time in seconds."""
    return float(c.execute(select(clock.c.seconds)).scalar_one())


class Ticker:
    """Advances service time in one process."""

    def __init__(self) -> None:
        self._seen: tuple[int, float] | None = None  # version, and when it was first seen

    def advance(self, c: Connection) -> float:
        """Advance service time to now, in a write transaction; returns it."""
        row = c.execute(select(clock.c.seconds, clock.c.version)).one()
        moment = time.monotonic()
        if self._seen is None or self._seen[0] != row.version:
            self._seen = row.version, moment
            return float(row.seconds)
        step = min(moment - self._seen[1], MAX_STEP_SECONDS)
        unchanged = clock.c.version == row.version
        values = {"seconds": clock.c.seconds + step, "version": clock.c.version + 1}
        changed = c.execute(update(clock).where(unchanged).values(values).returning(clock.c.seconds)).first()
        self._seen = (row.version + 1, moment) if changed is not None else None
        return float(row.seconds if changed is None else changed.seconds)
