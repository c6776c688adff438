"""Workers with sessions, and what they answer and take back, written straight to the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.labelling import finishing
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.project_campaign import make_limits
from crowdpilot.service.store import projects, votes, workers
from crowdpilot.service.store.answers import undoing, writing
from crowdpilot.service.store.answers.writing import Answer
from crowdpilot.service.store.arrivals import assignments


def new_session(
    c: Connection, project: str, name: str, *, kind: str = "crowd", state: str = "active"
) -> Session:
    """The session of a worker of this name, who is registered if new."""
    worker = workers.register(c, project, "link", name, kind=kind, state=state)
    return session_of(c, project, worker.id)


def session_of(c: Connection, project: str, worker: int) -> Session:
    """The session of a worker, whose assignment has no id on a platform."""
    row = workers.find(c, project, worker)
    return Session(
        project, worker, row.platform, assignments.find_or_create(c, project, worker, "").id, row.nonce
    )


def answer_of(
    session: Session, item: int, label: int | None, *, criterion: int = 0, key: str = "", **more: Any
) -> Answer:
    """The answer of a worker about an item."""
    given = session.worker, item, criterion, label, 1.0, key or f"key-{item:05d}"
    return Answer(*given, session.assignment, session.nonce)._replace(**more)


def write_answers(c: Connection, project: str, answers: Sequence[Answer]) -> list[Any]:
    """Write answers in a write transaction; for each why not, if not."""
    limits = make_limits(projects.find(c, project))
    return list(writing.write_answers(c, project, answers, limits)[0])


def undo(c: Connection, session: Session, lease_seconds: float = 900.0) -> votes.ItemCriterion:
    """Take back the last answer of a worker in a write transaction."""
    worker, project = finishing.find_working(c, session), projects.find(c, session.project)
    return undoing.undo(c, session.project, worker, make_limits(project), lease_seconds)
