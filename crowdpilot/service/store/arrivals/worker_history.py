"""Queries on the history of workers: answers page by page, times, pieces of work, when each was last seen."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import assignments, items, votes
from crowdpilot.service.store.votes import ANSWERED, VOTED


def list_answers(c: Connection, worker: int, n: int, offset: int) -> Sequence[Row]:
    """Answers of a worker with name, content, gold and override of their items, the newest first."""
    columns = (votes.c.item, votes.c.criterion, votes.c.state, votes.c.label, votes.c.seconds, votes.c.time,
               items.c.name, items.c.content, items.c.gold, items.c.override)  # fmt: skip
    own = votes.c.worker == worker, votes.c.state.in_(ANSWERED)
    query = select(*columns).select_from(votes.join(items, items.c.id == votes.c.item)).where(*own)
    newest = votes.c.time.desc(), votes.c.item.desc(), votes.c.criterion
    return c.execute(query.order_by(*newest).limit(n).offset(offset)).all()


def list_labels(c: Connection, worker: int) -> Sequence[Row]:
    """Item, criterion, label and seconds of all votes of a worker; by the index on (worker, state)."""
    columns = votes.c.item, votes.c.criterion, votes.c.label, votes.c.seconds
    return c.execute(select(*columns).where(votes.c.worker == worker, votes.c.state == VOTED)).all()


def list_assignments(c: Connection, project: str, worker: int) -> Sequence[Row]:
    """The pieces of work of a worker with the number of answers in each, the newest first."""
    answered = votes.c.assignment == assignments.c.id, votes.c.state.in_(ANSWERED)
    n = select(func.count()).where(votes.c.worker == worker, *answered).scalar_subquery().label("answers")
    own = assignments.c.project == project, assignments.c.worker == worker
    return c.execute(select(assignments, n).where(*own).order_by(assignments.c.id.desc())).all()


def last_seen(c: Connection, project: str) -> dict[int, float]:
    """When each worker answered last."""
    own = votes.c.project == project, votes.c.state.in_(ANSWERED), votes.c.time.is_not(None)
    query = select(votes.c.worker, func.max(votes.c.time).label("time")).where(*own).group_by(votes.c.worker)
    return {row.worker: float(row.time) for row in c.execute(query)}


def count_answers(c: Connection, worker: int) -> int:
    """The number of answers of a worker; by the index on (worker, state)."""
    own = votes.c.worker == worker, votes.c.state.in_(ANSWERED)
    return int(c.execute(select(func.count()).where(*own)).scalar_one())
