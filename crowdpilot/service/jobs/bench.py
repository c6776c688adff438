"""The bench: what a job finds at its place, above all the mirrors of projects."""

from __future__ import annotations

from crowdpilot.service.mirror import Mirror
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.record import Record


class Bench:
    """The place of one process that does jobs.

    Parameters
    ----------
    store, settings
        Of the service.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self._mirrors: dict[str, Mirror] = {}

    def mirror(self, project: str) -> tuple[Mirror, Record]:
        """The campaign of a project as it is now, and its row."""
        mirror = self._mirrors.pop(project, None)  # not kept if reading goes wrong in the middle
        with self.store.reading() as c:
            if mirror is None:
                mirror = Mirror(projects.find(c, project))
            row = mirror.keep_up(c)
        self._mirrors[project] = mirror
        return mirror, row
