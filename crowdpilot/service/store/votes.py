"""Queries on votes, for replicas, exports and statistics of workers; answers are written by `answers`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, select

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import items, votes, workers

LEASED, VOTED, UNSURE, RETURNED = "leased", "voted", "unsure", "returned"
ANSWERED = (VOTED, UNSURE)
ItemCriterion = tuple[int, int]  # id of an item, index of a criterion
VoteId = tuple[int, int, int]  # item, criterion, worker: the primary key
ROWS_PER_FETCH = 5000
MAX_RECENT_ROWS = 2000  # of a project, among which the last times of votes are looked for
IN_ORDER = votes.c.change_number, votes.c.worker, votes.c.item, votes.c.criterion
SAME_VOTE: ColumnElement[bool] = and_(  # the primary key, for statements with many rows of parameters
    votes.c.item == bindparam("_item"),
    votes.c.criterion == bindparam("_criterion"),
    votes.c.worker == bindparam("_worker"),
)


class AnswerCounts(NamedTuple):
    """How many answers have a label, and how many say "can't tell"."""

    labelled: int
    unsure: int

    @property
    def total(self) -> int:
        """All together."""
        return self.labelled + self.unsure


def changed_since(c: Connection, project: str, number: int) -> Iterator[Sequence[Row]]:
    """Leases and answers changed after a change number, in the order of the changes, in parts.

    By the index on (project, change_number), in the read transaction of a replica.
    """
    columns = (votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state, votes.c.label,
               votes.c.lease_number)  # fmt: skip
    changed = votes.c.project == project, votes.c.change_number > number
    yield from c.execute(select(*columns).where(*changed).order_by(*IN_ORDER)).partitions(ROWS_PER_FETCH)


def exist(c: Connection, project: str) -> bool:
    """Whether an item of a project was ever leased to anybody, or voted on."""
    own = select(votes.c.item).where(votes.c.project == project).limit(1)
    return c.execute(own).first() is not None


def list_all(c: Connection, project: str) -> Iterator[Row]:
    """All votes of a project that count, in the order in which they came, fetched in parts."""
    own = votes.c.project == project, votes.c.state == VOTED, workers.c.trusted
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    query = select(votes).select_from(joined).where(*own).order_by(*IN_ORDER)
    yield from c.execution_options(yield_per=ROWS_PER_FETCH).execute(query)


def export(c: Connection, project: str) -> Iterator[Sequence[Row]]:
    """All votes with names of items and kinds of workers, in the order in which they came, in parts."""
    columns = (votes.c.item.label("id"), items.c.name.label("item"), votes.c.criterion, votes.c.worker,
               workers.c.kind, votes.c.label, votes.c.seconds, votes.c.time, votes.c.key,
               workers.c.trusted.label("counted"))  # fmt: skip
    joined = votes.join(items, items.c.id == votes.c.item).join(workers, workers.c.id == votes.c.worker)
    own = votes.c.project == project, votes.c.state == VOTED
    query = select(*columns).select_from(joined).where(*own).order_by(*IN_ORDER)
    yield from c.execution_options(yield_per=ROWS_PER_FETCH).execute(query).partitions()


def answers_about(c: Connection, item: int) -> Sequence[Row]:
    """Answers about an item, "can't tell" included, in the order in which they came."""
    answered = votes.c.item == item, votes.c.state.in_(ANSWERED)
    return c.execute(select(votes).where(*answered).order_by(votes.c.change_number, votes.c.position)).all()


def count_answers(c: Connection, worker: int, assignment: int) -> AnswerCounts:
    """The number of answers of a worker in an assignment; by the index on (worker, state)."""
    own = votes.c.worker == worker, votes.c.state.in_(ANSWERED), votes.c.assignment == assignment
    rows = c.execute(select(votes.c.state, func.count().label("n")).where(*own).group_by(votes.c.state))
    counts = {row.state: int(row.n) for row in rows}
    return AnswerCounts(counts.get(VOTED, 0), counts.get(UNSURE, 0))


def counts_by_worker(c: Connection, project: str) -> dict[int, dict[str, float]]:
    """For each worker the number of rows in each state, and the mean `seconds` of their votes."""
    columns = (
        votes.c.worker,
        votes.c.state,
        func.count().label("n"),
        func.avg(votes.c.seconds).label("seconds"),
    )
    query = select(*columns).where(votes.c.project == project).group_by(votes.c.worker, votes.c.state)
    counts: dict[int, dict[str, float]] = {}
    for row in c.execute(query):
        own = counts.setdefault(row.worker, dict.fromkeys((VOTED, UNSURE, LEASED, RETURNED), 0))
        own[row.state] = row.n
        if row.state == VOTED and row.seconds is not None:
            own["seconds"] = float(row.seconds)
    return counts


def recent_seconds(c: Connection, project: str, n: int) -> list[float]:
    """How long the last `n` votes of a project took, where that is known; by the index on change numbers.

    Among the last `MAX_RECENT_ROWS` leases and answers: votes from elsewhere may be many, and have no times.
    """
    columns = votes.c.seconds, votes.c.state, votes.c.change_number
    last = select(*columns).where(votes.c.project == project).order_by(votes.c.change_number.desc())
    recent = last.limit(MAX_RECENT_ROWS).subquery()
    timed = recent.c.state == VOTED, recent.c.seconds.is_not(None)
    query = select(recent.c.seconds).where(*timed).order_by(recent.c.change_number.desc()).limit(n)
    return [float(row.seconds) for row in c.execute(query)]


def fast_votes_by_worker(c: Connection, project: str, seconds: float) -> dict[int, int]:
    """The number of votes of each worker that took less than so many seconds."""
    fast = votes.c.project == project, votes.c.state == VOTED, votes.c.seconds < seconds
    rows = c.execute(select(votes.c.worker, func.count().label("n")).where(*fast).group_by(votes.c.worker))
    return {row.worker: row.n for row in rows}
