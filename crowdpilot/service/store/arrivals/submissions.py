"""Queries on submissions: assignments of a platform with their workers and answers, and their review."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select, update

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.items import chunks
from crowdpilot.service.store.tables import assignments, votes, workers
from crowdpilot.service.store.votes import VOTED

APPROVED, REJECTED = "approved", "rejected"
MAX_SECONDS_READ = 5000  # answers whose times are looked at, the newest


class AnswersOf(NamedTuple):
    """How many labelled answers an assignment has, and how long they took."""

    labelled: int = 0
    seconds: float = 0.0


def list_all(c: Connection, project: str, platform: str) -> Sequence[Row]:
    """The submissions of a platform, the newest first: assignments with `worker_name` and `kind`."""
    own = assignments.c.project == project, workers.c.platform == platform
    columns = (*assignments.c, workers.c.external.label("worker_name"), workers.c.kind,
               workers.c.platform, workers.c.state.label("worker_state"))  # fmt: skip
    joined = assignments.join(workers, workers.c.id == assignments.c.worker)
    return c.execute(select(*columns).select_from(joined).where(*own).order_by(assignments.c.id.desc())).all()


def answers(c: Connection, project: str) -> dict[int, AnswersOf]:
    """The answers in each assignment of a project, by its id."""
    own = votes.c.project == project, votes.c.state == VOTED, votes.c.assignment.is_not(None)
    columns = votes.c.assignment, func.count().label("n"), func.sum(votes.c.seconds).label("seconds")
    rows = c.execute(select(*columns).where(*own).group_by(votes.c.assignment))
    return {row.assignment: AnswersOf(int(row.n), float(row.seconds or 0.0)) for row in rows}


def seconds_of_answers(c: Connection, project: str) -> list[float]:
    """How long the newest answers took."""
    own = votes.c.project == project, votes.c.state == VOTED, votes.c.seconds.is_not(None)
    newest = select(votes.c.seconds).where(*own).order_by(votes.c.change_number.desc())
    return [float(row.seconds) for row in c.execute(newest.limit(MAX_SECONDS_READ))]


def review(c: Connection, project: str, ids: Sequence[int], verdict: str | None, reason: str = "") -> int:
    """Say whether submissions are approved, in a write transaction; how many there were. None: undecided."""
    found = 0
    values = {"review": verdict, "review_reason": reason or None,
              "reviewed": None if verdict is None else time.time()}  # fmt: skip
    for part in chunks(ids):
        own = assignments.c.project == project, assignments.c.id.in_(part)
        found += c.execute(update(assignments).where(*own).values(values)).rowcount
    return found


def review_external(c: Connection, project: str, external: str, verdict: str, reason: str = "") -> None:
    """The same for the submission with this id on its platform, if it is known."""
    own = assignments.c.project == project, assignments.c.external == external
    values = {"review": verdict, "review_reason": reason or None, "reviewed": time.time()}
    c.execute(update(assignments).where(*own).values(values))
