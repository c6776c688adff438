"""Queries on votes: answers of workers, undo, and votes for replicas, exports and statistics of workers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, select, update

from crowdpilot.service.errors import ConflictError, ForbiddenError, RequestError
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import items, votes, workers

LEASED, VOTED, UNSURE, RETURNED = "leased", "voted", "unsure", "returned"
ANSWERED = (VOTED, UNSURE)
ItemCriterion = tuple[int, int]  # id of an item, index of a criterion
VoteId = tuple[int, int, int]  # item, criterion, worker: the primary key
UNDO_LEASES = 2  # the last leases of a worker whose answers can be taken back
ROWS_PER_FETCH = 5000
IN_ORDER = votes.c.change_number, votes.c.worker, votes.c.item, votes.c.criterion
SAME_VOTE: ColumnElement[bool] = and_(  # the primary key, for statements with many rows of parameters
    votes.c.item == bindparam("_item"),
    votes.c.criterion == bindparam("_criterion"),
    votes.c.worker == bindparam("_worker"),
)


class Answer(NamedTuple):
    """The answer of a worker about a leased item; `label` is None for "can't tell"."""

    worker: int
    item: int
    criterion: int
    label: int | None
    seconds: float | None
    key: str

    @property
    def vote_id(self) -> VoteId:
        """The primary key of its row."""
        return self.item, self.criterion, self.worker

    @property
    def state(self) -> str:
        """The state of its row once it is written."""
        return UNSURE if self.label is None else VOTED


class StoredAnswer(NamedTuple):
    """State, label and idempotency key of a row."""

    state: str
    label: int | None
    key: str | None


# Writing: all in a write transaction


def write_answers(
    c: Connection, project: str, answers: Sequence[Answer]
) -> tuple[list[RequestError | None], Row]:
    """Write answers to leased items; returns an error for each refused one (else None), and the counters.

    The same answer sent again with the same key is accepted and changes nothing.
    """
    labelled = sum(answer.label is not None for answer in answers)
    row = projects.next_change(c, project, votes=labelled)
    stored = _stored(c, answers)
    errors, new = [], []
    for answer in answers:
        errors.append(_error(answer, stored.get(answer.vote_id), row.state))
        if errors[-1] is None and stored[answer.vote_id].state in (LEASED, RETURNED):
            new.append(answer)
            stored[answer.vote_id] = StoredAnswer(answer.state, answer.label, answer.key)
    if new:
        c.execute(_WRITE_ANSWER, [_parameters(answer, int(row.change_number)) for answer in new])
    correction = sum(answer.label is not None for answer in new) - labelled
    if correction:
        row = projects.next_change(c, project, change_number=0, votes=correction)
    return errors, row


_WRITE_ANSWER = (
    update(votes)
    .where(SAME_VOTE)
    .values({name: bindparam(f"_{name}") for name in ("state", "label", "seconds", "time", "key")})
    .values(change_number=bindparam("_change_number"))
)


def _parameters(answer: Answer, number: int) -> dict[str, Any]:
    values = {**answer._asdict(), "state": answer.state, "time": time.time(), "change_number": number}
    return {f"_{name}": value for name, value in values.items()}


def _stored(c: Connection, answers: Sequence[Answer]) -> dict[VoteId, StoredAnswer]:
    columns = votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state, votes.c.label, votes.c.key
    some = votes.c.item.in_(
        {answer.item for answer in answers}
    )  # by the primary key, whoever the workers are
    return {tuple(row[:3]): StoredAnswer(*row[3:]) for row in c.execute(select(*columns).where(some))}


def _error(answer: Answer, stored: StoredAnswer | None, project_state: str) -> RequestError | None:
    if stored is None:
        return ForbiddenError("this item was not leased to you; ask for the next one")
    if stored == StoredAnswer(answer.state, answer.label, answer.key):
        return None
    if stored.state in ANSWERED:
        return ConflictError("you have answered this already; go on with the next")
    if project_state == projects.CLOSED:
        return ConflictError("the project is closed; thank you for your work")
    return None


def undo(c: Connection, project: str, worker: int, until: float) -> ItemCriterion:
    """Take back the last answer of a worker and lease its item to them again; `ConflictError` if too old."""
    number = int(projects.next_change(c, project).change_number)
    own = votes.c.worker == worker
    numbers = select(votes.c.lease_number).where(own).distinct().order_by(votes.c.lease_number.desc())
    recent = [row.lease_number for row in c.execute(numbers.limit(UNDO_LEASES))]
    answered = votes.c.state.in_(ANSWERED), votes.c.lease_number.in_(recent)
    order = votes.c.time.desc(), votes.c.lease_number.desc(), votes.c.position.desc()
    row = c.execute(select(votes).where(own, *answered).order_by(*order).limit(1)).first()
    if row is None:
        raise ConflictError("there is nothing to take back; only the answers just given can be changed")
    this = own, votes.c.item == row.item, votes.c.criterion == row.criterion
    empty = {"label": None, "key": None, "time": None}
    c.execute(
        update(votes)
        .where(*this)
        .values({**empty, "state": LEASED, "expires": until, "change_number": number})
    )
    if row.state == VOTED:
        projects.next_change(c, project, change_number=0, votes=-1)
    return row.item, row.criterion


# Reading


def changed_since(c: Connection, project: str, number: int) -> Iterator[Sequence[Row]]:
    """Leases and answers changed after a change number, in the order of the changes, in parts.

    By the index on (project, change_number), in the read transaction of a replica.
    """
    columns = votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state, votes.c.label
    changed = votes.c.project == project, votes.c.change_number > number
    yield from c.execute(select(*columns).where(*changed).order_by(*IN_ORDER)).partitions(ROWS_PER_FETCH)


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
    return c.execute(select(votes).where(*answered).order_by(votes.c.time, votes.c.change_number)).all()


def count_answers(c: Connection, worker: int) -> int:
    """The number of answers of a worker, "can't tell" included; by the index on (worker, state)."""
    own = votes.c.worker == worker, votes.c.state.in_(ANSWERED)
    return int(c.execute(select(func.count()).where(*own)).scalar_one())


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


def fast_votes_by_worker(c: Connection, project: str, seconds: float) -> dict[int, int]:
    """The number of votes of each worker that took less than so many seconds."""
    fast = votes.c.project == project, votes.c.state == VOTED, votes.c.seconds < seconds
    rows = c.execute(select(votes.c.worker, func.count().label("n")).where(*fast).group_by(votes.c.worker))
    return {row.worker: row.n for row in rows}
