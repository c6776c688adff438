"""The bench: what a job finds at its place, above all the mirrors of projects."""

from __future__ import annotations

from sqlalchemy import Connection

from crowdpilot.service.jobs.features import Blind, open_sight
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import TRAINED_CLASSIFIERS
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row, Store

KEPT = 8  # mirrors in memory, those used last


class Bench:
    """The place of one process that does jobs.

    Parameters
    ----------
    store, settings
        Of the service.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self._replicas: dict[str, Replica] = {}  # the one used last at the end
        self._blind: dict[str, str] = {}  # why a machine that should learn cannot

    def __contains__(self, project: str) -> bool:
        return project in self._replicas

    def replica(self, project: str) -> tuple[Replica, Row]:
        """The campaign of a project as it is now, with a machine that learns if it wants one; its row."""
        replica = self._replicas.pop(project, None)  # not kept if reading goes wrong in the middle
        with self.store.reading() as c:
            try:
                replica, row = self._read(c, project, replica)
            except Blind as error:
                replica = Replica(projects.find(c, project))
                row = replica.catch_up(c)
                self._blind[project] = str(error)
        if len(replica.campaign):  # else it does not know yet what a machine would see
            self._replicas[project] = replica
        while len(self._replicas) > KEPT:
            self.forget(next(iter(self._replicas)))
        return replica, row

    def _read(self, c: Connection, project: str, replica: Replica | None) -> tuple[Replica, Row]:
        if replica is None:
            row = projects.find(c, project)
            sight = open_sight(c, row) if row.spec["machine"] in TRAINED_CLASSIFIERS else (None, None)
            replica = Replica(row, *sight)
            self._blind.pop(project, None)
        try:
            return replica, replica.catch_up(c)
        except ValueError as error:
            if not replica.campaign.view.trains_classifier:
                raise
            raise Blind(str(error)) from error  # such as a budget that does not pay for it

    def blind(self, project: str) -> str:
        """Why the machine of a project does not learn; empty if it does, or if there is none."""
        return self._blind.get(project, "")

    def forget(self, project: str) -> None:
        """Drop the mirror of a project; it is made anew from the tables when it is wanted."""
        self._replicas.pop(project, None)
        self._blind.pop(project, None)
