"""Replicas: those that a process has in memory, up to a size; the least recently used are dropped first."""

from __future__ import annotations

import threading
from collections import OrderedDict

from crowdpilot.service import capacity
from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row, Store

MAX_REPLICAS = 16  # in memory at once


class Replicas:
    """The replicas of one process, each of which is used by one thread at a time.

    Parameters
    ----------
    store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._replicas: OrderedDict[str, Replica] = OrderedDict()  # the one used last at the end

    def catch_up(self, project: str, max_seconds: float) -> tuple[Replica, Row]:
        """The replica of a project as it is now, and the project's row; see `Replica.catch_up`."""
        with self._lock:
            replica = self._replicas.get(project)
        try:
            with self.store.reading() as c:
                if replica is None:
                    replica = Replica(projects.find(c, project))
                row = replica.catch_up(c, max_seconds)
        except Exception as error:
            if replica is None or replica.is_half_changed or not isinstance(error, ServiceUnavailableError):
                self._drop(project)  # built from the tables next time
            raise
        self._keep(project, replica)
        return replica, row

    def _keep(self, project: str, replica: Replica) -> None:
        with self._lock:
            self._replicas[project] = replica
            self._replicas.move_to_end(project)
            while len(self._replicas) > 1 and self._is_too_much():
                self._replicas.popitem(last=False)

    def _is_too_much(self) -> bool:
        """Whether there are too many replicas, or too many items in them."""
        sizes = [capacity.items_bytes(r.spec, len(r.campaign)) for r in self._replicas.values()]
        return len(sizes) > MAX_REPLICAS or sum(sizes) > capacity.MAX_PROJECT_BYTES

    def _drop(self, project: str) -> None:
        with self._lock:
            self._replicas.pop(project, None)
