"""Queries on notifications: of which somebody was told, so that nobody is told twice."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, func, insert, or_, select

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.projects import DELETED
from crowdpilot.service.store.requesters.action_log import PROJECT
from crowdpilot.service.store.tables import action_log, notifications, projects, votes
from crowdpilot.service.store.votes import ANSWERED

DONE, STUCK, BUDGET, WORKER = "done", "stuck", "budget", "worker"
Key = tuple[str, str]  # event, and what it is about


def read(c: Connection, project: str) -> set[Key]:
    """What requesters of a project were told and is still so."""
    rows = c.execute(
        select(notifications.c.event, notifications.c.about).where(notifications.c.project == project)
    )
    return {(row.event, row.about) for row in rows}


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


def wanting_projects(c: Connection) -> list[str]:
    """Ids of the projects whose requesters want to be told something, and which are not archived."""
    wants = (
        projects.c.spec["webhook"].as_string() != "",
        func.json_array_length(projects.c.spec["notify"]["emails"]) > 0,
    )
    there = projects.c.state != DELETED, projects.c.archived.is_(None)
    return list(c.execute(select(projects.c.id).where(*there, or_(*wants))).scalars())


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
