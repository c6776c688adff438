"""Readiness: whether the database has the right schema and takes writes."""

from __future__ import annotations

import threading
import time

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.store import counters
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.migration import is_current

READY, UNREACHABLE, UNMIGRATED = "ready", "unreachable", "unmigrated"
PROBE_SECONDS = 2.0  # for which a result holds, so that nobody can keep the disk busy by asking
COUNTER_SECONDS = 86400.0  # writes of a day are counted in one row
WORDS = {  # in the errors of both databases
    "full": "full", "no space": "full", "readonly": "readonly", "read-only": "readonly", "locked": "locked",
    "lock timeout": "locked",
}  # fmt: skip


class Readiness:
    """Writes to the database now and again, when somebody asks.

    Parameters
    ----------
    store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._word, self._until = UNREACHABLE, 0.0

    def check(self) -> str:
        """`READY`, or in one word why not; callers at once wait for one result."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._word = self._probe()
                self._until = time.monotonic() + PROBE_SECONDS
            return self._word

    def _probe(self) -> str:
        try:
            if not is_current(self.store):
                return UNMIGRATED
            with self.store.writing() as c:
                counters.add(c, "readiness", COUNTER_SECONDS)
        except ServiceUnavailableError as error:
            said = str(error).lower()
            return next((word for part, word in WORDS.items() if part in said), UNREACHABLE)
        return READY
