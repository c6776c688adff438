"""Queries on connections to Label Studio: their states, who opens and closes tasks, and what went wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select, update

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import label_studio_connections as connections
from crowdpilot.service.store.tables import label_studio_tasks as tasks
from crowdpilot.service.store.tables import projects

CONNECTING, RUNNING, WAITING, FINISHED = "connecting", "running", "waiting", "finished"
STOPPED, FAILING = "stopped", "failing"
MAX_PROBLEMS = 30  # that are kept
MAX_SENTENCE_CHARACTERS = 500
DRIVER_SECONDS = 20.0  # after which a driver that has not given a sign of life is taken to be dead


def create(c: Connection, project: str, values: Mapping[str, Any]) -> None:
    """Insert a connection, in a write transaction."""
    common = {"project": project, "state": CONNECTING, "created": time.time(), "problems": []}
    c.execute(insert(connections).values({**common, "is_outdated": False, **values}))


def find(c: Connection, project: str) -> Row | None:
    """The connection of a project, by the primary key; None if it has none."""
    return c.execute(select(connections).where(connections.c.project == project)).first()


def is_finished(c: Connection, project: str, *, was_done: bool = False) -> bool:
    """Whether a project is connected, and nobody there can give a vote that is wanted.

    One that was done before stays so while Label Studio does not answer.
    """
    row = find(c, project)
    return row is not None and (row.state == FINISHED or (was_done and row.state == FAILING))


def find_by_number(c: Connection, address: str, number: int) -> str | None:
    """The project that is connected to a project of Label Studio; None if there is none."""
    same = connections.c.address == address, connections.c.number == number
    return c.execute(select(connections.c.project).where(*same)).scalar()


def list_all(c: Connection) -> Sequence[str]:
    """The projects that are connected and not deleted."""
    joined = connections.join(projects, projects.c.id == connections.c.project)
    there = select(connections.c.project).select_from(joined).where(projects.c.state != "deleted")
    return list(c.execute(there).scalars())


def change(c: Connection, project: str, **values: Any) -> None:
    """Set columns of a connection, in a write transaction."""
    c.execute(update(connections).where(connections.c.project == project).values(values))


def remove(c: Connection, project: str) -> None:
    """Delete a connection with all that is known of its tasks, in a write transaction."""
    c.execute(delete(tasks).where(tasks.c.project == project))
    c.execute(delete(connections).where(connections.c.project == project))


def add_problem(c: Connection, project: str, sentence: str) -> None:
    """Note what went wrong, in a write transaction; a sentence that is there already moves to the front."""
    row = find(c, project)
    if row is None:
        return
    sentence = sentence[:MAX_SENTENCE_CHARACTERS]
    others = [problem for problem in row.problems if problem[1] != sentence]
    change(c, project, problems=[[time.time(), sentence], *others][:MAX_PROBLEMS])


def claim(c: Connection, project: str, driver: str) -> bool:
    """Become the driver of a connection, in a write transaction; whether nobody else is.

    If somebody is, they are told that something has changed since they began.
    """
    now = time.time()
    free = or_(
        connections.c.driver.is_(None), connections.c.driver == driver, connections.c.driver_until < now
    )
    own = connections.c.project == project
    values = {"driver": driver, "driver_until": now + DRIVER_SECONDS, "is_outdated": False}
    if c.execute(update(connections).where(own, free).values(values)).rowcount:
        return True
    change(c, project, is_outdated=True)
    return False


def renew(c: Connection, project: str) -> None:
    """A sign of life of the driver, in a write transaction."""
    own = connections.c.project == project, connections.c.driver.is_not(None)
    c.execute(update(connections).where(*own).values(driver_until=time.time() + DRIVER_SECONDS))


def release(c: Connection, project: str, driver: str) -> bool:
    """End to be the driver, in a write transaction; False if something has changed, so that it goes on."""
    own = connections.c.project == project, connections.c.driver == driver
    done = update(connections).where(*own, connections.c.is_outdated.is_(False))
    if c.execute(done.values(driver=None, driver_until=None)).rowcount:
        return True
    again = {"is_outdated": False, "driver_until": time.time() + DRIVER_SECONDS}
    return not c.execute(update(connections).where(*own).values(again)).rowcount
