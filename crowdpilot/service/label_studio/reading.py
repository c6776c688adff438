"""Replicas of connected projects, where no service has one in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crowdpilot.service.label_studio.driving import ReadReplica
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import Store, projects
from crowdpilot.service.store.engine import Row


def replica_reader(store: Store, project: str) -> ReadReplica[Any]:
    """Applies a function to a replica that is built from the tables, and follows them from then on."""
    with store.reading() as c:
        replica = Replica(projects.find(c, project))

    def read(function: Callable[[Replica, Row], Any]) -> Any:
        with store.reading() as c:
            return function(replica, replica.catch_up(c))

    return read
