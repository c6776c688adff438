"""JobContext: what every job needs: the store, the settings, and replicas of projects in memory."""

from __future__ import annotations

from sqlalchemy import Connection

from crowdpilot.service.jobs.features import CannotTrainError, open_featurizer
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import TRAINED_CLASSIFIERS
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.clock import Ticker
from crowdpilot.service.store.engine import Row, Store

MAX_REPLICAS = 8  # in memory; the least recently used is dropped


class JobContext:
    """What the jobs of one process share.

    Parameters
    ----------
    store, settings
        Of the service.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.ticker = Ticker()
        self._replicas: dict[str, Replica] = {}  # the most recently used is the last
        self._why_untrained: dict[str, str] = {}

    def __contains__(self, project: str) -> bool:
        return project in self._replicas

    def replica(self, project: str) -> tuple[Replica, Row]:
        """The replica of a project as it is now, with a classifier in training if it wants one; its row."""
        replica = self._replicas.pop(project, None)  # dropped if reading fails in the middle
        with self.store.reading() as c:
            try:
                replica, row = self._catch_up(c, project, replica)
            except CannotTrainError as error:
                replica = Replica(projects.find(c, project))
                row = replica.catch_up(c)
                self._why_untrained[project] = str(error)
        if len(replica.campaign):  # else there is no item yet to fit features on
            self._replicas[project] = replica
        while len(self._replicas) > MAX_REPLICAS:
            self.forget(next(iter(self._replicas)))
        return replica, row

    def _catch_up(self, c: Connection, project: str, replica: Replica | None) -> tuple[Replica, Row]:
        row = projects.find(c, project)
        if replica is None or replica.is_outdated(row):
            trains = row.spec["machine"] in TRAINED_CLASSIFIERS
            replica = Replica(row, *(open_featurizer(c, row) if trains else (None, None)))
            self._why_untrained.pop(project, None)
        try:
            return replica, replica.catch_up(c)
        except ValueError as error:
            if not replica.campaign.view.trains_classifier:
                raise
            raise CannotTrainError(str(error)) from error  # such as a budget that does not pay for it

    def why_untrained(self, project: str) -> str:
        """Why the classifier of a project is not trained; empty if it is, or if there is none."""
        return self._why_untrained.get(project, "")

    def forget(self, project: str) -> None:
        """Drop the replica of a project; the next job that needs it reads it from the tables."""
        self._replicas.pop(project, None)
        self._why_untrained.pop(project, None)
