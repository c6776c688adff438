"""Signs of life of labelling pages: what their workers hold lasts on, and is returned when a page is closed.

Functions that take a connection run inside the write transaction of their caller, and lock the project first,
as those do that write answers: leases are rows of the same table.
"""

from __future__ import annotations

import math
import threading
import time

from sqlalchemy import Connection

from crowdpilot.service.labelling import finishing
from crowdpilot.service.labelling.assignment import presence
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.store import clock, leases, projects

MAX_REMEMBERED_WORKERS = 10_000


class LastSigns:
    """When workers gave their last signs of life to this process; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._times: dict[int, float] = {}  # the newest last
        self._lock = threading.Lock()

    def note(self, worker: int) -> None:
        """A worker gives one now."""
        with self._lock:
            self._times.pop(worker, None)
            self._times[worker] = time.monotonic()
            if len(self._times) > MAX_REMEMBERED_WORKERS:
                del self._times[next(iter(self._times))]

    def is_due(self, worker: int) -> bool:
        """Whether the last one was so long ago that the next is due, or is not remembered."""
        with self._lock:
            last = self._times.get(worker, -math.inf)
        return time.monotonic() - last >= presence.STAY_SECONDS / presence.BEATS_PER_STAY


def stay(c: Connection, session: Session, page: str) -> int:
    """What a worker holds lasts on; how many items that are. `page` is the one that is there, if one is."""
    projects.lock(c, session.project)
    finishing.find_session(c, session)
    spec = projects.find(c, session.project).spec
    if page:
        leases.note_page(c, session.worker, page)
    return leases.extend(c, [session.worker], clock.now(c) + presence.stay_seconds(spec), spec["lease"])


def leave(c: Connection, session: Session, page: str) -> None:
    """A page was closed: what the worker holds is returned in a moment, unless another page is there."""
    projects.lock(c, session.project)
    finishing.find_session(c, session)
    if leases.last_page(c, session.worker) in (None, page):
        leases.shorten(c, session.worker, clock.now(c) + presence.LEAVE_SECONDS)
