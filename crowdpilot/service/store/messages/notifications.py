"""Queries on notifications: of which somebody was told, so that nobody is told twice."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, exists, func, insert, or_, select

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.projects import OPEN
from crowdpilot.service.store.requesters.action_log import PROJECT
from crowdpilot.service.store.tables import action_log, notifications, projects, votes
from crowdpilot.service.store.votes import ANSWERED

DONE, STUCK, BUDGET, WORKER = "done", "stuck", "budget", "worker"
Key = tuple[str, str]  # event, and what it is about


def read(c: Connection, project: str) -> dict[Key, float]:
    """What requesters of a project were told and is still so, and when."""
    columns = notifications.c.event, notifications.c.about, notifications.c.created
    rows = c.execute(select(*columns).where(notifications.c.project == project))
    return {(row.event, row.about): float(row.created) for row in rows}


def latest(c: Connection, project: str, n: int = 20) -> Sequence[Row]:
    """The last notifications of a project that are still so, the newest first."""
    query = select(notifications).where(notifications.c.project == project)
    return c.execute(query.order_by(notifications.c.id.desc()).limit(n)).all()


def replace(c: Connection, project: str, old: Iterable[Key], new: Iterable[Key]) -> None:
    """Delete notifications whose reason is gone and insert new ones, in a write transaction."""
    for event, about in old:
        own = notifications.c.project == project, notifications.c.event == event
        c.execute(delete(notifications).where(*own, notifications.c.about == about))
    now = time.time()
    rows = [{"project": project, "event": event, "about": about, "created": now} for event, about in new]
    if rows:
        c.execute(insert(notifications), rows)


_IS_OPEN = projects.c.state == OPEN, projects.c.archived.is_(None)
_HAS_EMAILS = func.json_array_length(projects.c.spec["notify"]["emails"]) > 0


def wanting_projects(c: Connection) -> list[str]:
    """Ids of the open projects that are not finished and whose requesters want to be told something."""
    wants = or_(projects.c.spec["webhook"].as_string() != "", _HAS_EMAILS)
    query = select(projects.c.id).where(*_IS_OPEN, projects.c.done.is_(False), wants)
    return list(c.execute(query).scalars())


def finished_unsent(c: Connection) -> list[str]:
    """Ids of the finished projects whose requesters want an e-mail about the end and were not told of it."""
    sent = exists().where(notifications.c.project == projects.c.id, notifications.c.event == DONE)
    query = select(projects.c.id, projects.c.spec["notify"]["events"].label("events"))
    rows = c.execute(query.where(*_IS_OPEN, projects.c.done.is_(True), _HAS_EMAILS, ~sent))
    return [row.id for row in rows if DONE in row.events]


def last_progress(c: Connection, project: Row) -> float:
    """When the last answer came, or a requester last did something to the project, whichever is later."""
    answered = votes.c.project == project.id, votes.c.state.in_(ANSWERED)
    done = (
        action_log.c.project == project.id,
        or_(action_log.c.category == PROJECT, action_log.c.action == "add items"),
    )
    moments = (
        c.execute(select(func.max(votes.c.time)).where(*answered)).scalar(),
        c.execute(select(func.max(action_log.c.time)).where(*done)).scalar(),
        project.created,
    )
    return max(float(moment) for moment in moments if moment is not None)
