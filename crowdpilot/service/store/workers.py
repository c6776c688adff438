"""Workers: who they are on their platform, and how far they have come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from crowdpilot.service.errors import ForbiddenError, NotFoundError
from crowdpilot.service.store import projects
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import votes, workers

NEW, ACTIVE, BLOCKED, ERASED = "new", "active", "blocked", "erased"


def enter(
    c: Connection,
    project: str,
    platform: str,
    external: str,
    *,
    kind: str,
    assignment: str = "",
    state: str = NEW,
) -> Record:
    """The worker of this name on this platform, who is enlisted if new; refused with 403 if blocked."""
    mine = workers.c.project == project, workers.c.platform == platform, workers.c.external == external
    row = c.execute(select(workers).where(*mine)).first()
    if row is None:
        clock = int(projects.tick(c, project).clock)
        row = c.execute(select(workers).where(*mine)).first()  # somebody may have been faster
    if row is None:
        new = {"project": project, "platform": platform, "external": external, "assignment": assignment,
               "kind": kind, "state": state, "created": time.time(), "at": clock}  # fmt: skip
        row = c.execute(insert(workers).values(new).returning(*workers.c)).one()
    if row.state in (BLOCKED, ERASED):
        raise ForbiddenError("you cannot work on this project any more")
    return row


def is_known(c: Connection, project: str, platform: str, external: str) -> bool:
    """Whether somebody of this name came before."""
    mine = workers.c.project == project, workers.c.platform == platform, workers.c.external == external
    return c.execute(select(workers.c.id).where(*mine)).first() is not None


def find(c: Connection, project: str, worker: int) -> Record:
    """A worker of a project; refused with 404 if there is none."""
    mine = workers.c.project == project, workers.c.id == worker
    row = c.execute(select(workers).where(*mine)).first()
    if row is None:
        raise NotFoundError("there is no such worker in this project")
    return row


def some(c: Connection, project: str, ids: Sequence[int]) -> dict[int, Record]:
    """Those of these workers that are there, by their ids: id, kind and state of each."""
    columns = workers.c.id, workers.c.kind, workers.c.state
    mine = workers.c.project == project, workers.c.id.in_(ids)
    return {row.id: row for row in c.execute(select(*columns).where(*mine))}


def listed(c: Connection, project: str) -> Sequence[Record]:
    """All workers of a project, in the order in which they came."""
    return c.execute(select(workers).where(workers.c.project == project).order_by(workers.c.id)).all()


def since(c: Connection, project: str, clock: int) -> Sequence[Record]:
    """Workers who are new or changed, in the order in which they came."""
    columns = workers.c.id, workers.c.kind, workers.c.state
    changed = workers.c.project == project, workers.c.at > clock
    return c.execute(select(*columns).where(*changed).order_by(workers.c.id)).all()


def put(c: Connection, project: str, worker: int, **values: Any) -> None:
    """Change what is said of a worker."""
    clock = int(projects.tick(c, project).clock)
    mine = workers.c.project == project, workers.c.id == worker
    c.execute(update(workers).where(*mine).values({**values, "at": clock}))


def bar(c: Connection, project: str, worker: int, state: str, **values: Any) -> None:
    """A worker is to work no more: what is lent to them is gone, what they voted stays."""
    find(c, project, worker)
    unanswered = votes.c.worker == worker, votes.c.state.in_(("lent", "back"))
    c.execute(delete(votes).where(*unanswered))
    put(c, project, worker, state=state, **values)


def erase(c: Connection, project: str, worker: int) -> None:
    """Forget who a worker is. Their votes stay, under a number that leads nowhere."""
    bar(c, project, worker, ERASED, external=None, assignment=None, consent=None)
