"""Writing answers: many at once, each to an item that its worker holds, or held and gave back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from crowdpilot.service.errors import ConflictError, ForbiddenError, RequestError, translatable
from crowdpilot.service.store import projects
from crowdpilot.service.store.answers.reservations import Limits, Reservations
from crowdpilot.service.store.arrivals import assignments
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import votes
from crowdpilot.service.store.votes import ANSWERED, LEASED, SAME_VOTE, UNSURE, VOTED, VoteId

TOO_LATE = translatable("this item was given to somebody else meanwhile; go on with the next")


class Answer(NamedTuple):
    """The answer of a worker about a leased item; `label` is None for "can't tell".

    `assignment` and `nonce` are those of the session in which it was given; `label_name` is the class as the
    worker named it, if it is to be compared with the classes of the project.
    """

    worker: int
    item: int
    criterion: int
    label: int | None
    seconds: float | None
    key: str
    assignment: int
    nonce: str
    label_name: str | None = None

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


def write_answers(
    c: Connection, project: str, answers: Sequence[Answer], limits: Limits
) -> tuple[list[RequestError | None], Row]:
    """Write answers in a write transaction; an error for each refused one (else None), and the counters.

    An answer to a leased item takes what its lease has reserved. One to an item that was given back is late:
    it is taken if money and limits leave room for it. The same answer sent again with the same key is
    accepted and changes nothing.
    """
    labelled = sum(answer.label is not None for answer in answers)
    row = projects.next_change(c, project, votes=labelled)
    sessions = assignments.find_many(c, project, (answer.assignment for answer in answers))
    stored = _stored(c, answers)
    errors: list[RequestError | None] = []
    in_time: list[Answer] = []
    late: list[tuple[int, Answer]] = []
    for n, answer in enumerate(answers):
        before, session = stored.get(answer.vote_id), sessions.get(answer.assignment)
        errors.append(_error(answer, before, session, row.state))
        if errors[-1] is not None or before is None or before.state in ANSWERED:
            continue
        stored[answer.vote_id] = StoredAnswer(answer.state, answer.label, answer.key)
        if before.state == LEASED:
            in_time.append(answer)
        else:
            late.append((n, answer))
    number = int(row.change_number)
    if in_time:
        c.execute(_WRITE_ANSWER, [_parameters(answer, number) for answer in in_time])
    reservations = Reservations(c, project, limits)
    for n, answer in late:  # each sees those before it
        kind = sessions[answer.assignment].kind
        if reservations.take(answer.vote_id, kind, is_paid=answer.label is not None):
            c.execute(_WRITE_ANSWER, _parameters(answer, number))
            in_time.append(answer)
        else:
            errors[n] = ConflictError(TOO_LATE)
    correction = sum(answer.label is not None for answer in in_time) - labelled
    if correction:
        row = projects.next_change(c, project, change_number=0, votes=correction)
    return errors, row


_WRITTEN = "state", "label", "seconds", "time", "key", "assignment", "change_number"
_WRITE_ANSWER = update(votes).where(SAME_VOTE).values({name: bindparam(f"_{name}") for name in _WRITTEN})


def _parameters(answer: Answer, number: int) -> dict[str, Any]:
    values = {**answer._asdict(), "state": answer.state, "time": time.time(), "change_number": number}
    return {f"_{name}": value for name, value in values.items() if name not in ("nonce", "label_name")}


def _stored(c: Connection, answers: Sequence[Answer]) -> dict[VoteId, StoredAnswer]:
    items, workers = {answer.item for answer in answers}, {answer.worker for answer in answers}
    rows = c.execute(_STORED, {"items": list(items), "workers": list(workers)})
    return {tuple(row[:3]): StoredAnswer(*row[3:]) for row in rows}


_STORED = select(
    votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state, votes.c.label, votes.c.key
).where(
    votes.c.item.in_(bindparam("items", expanding=True)),  # by the primary key
    (votes.c.worker + 0).in_(bindparam("workers", expanding=True)),  # and not by the index on workers
)


def _error(
    answer: Answer, stored: StoredAnswer | None, session: Row | None, project_state: str
) -> RequestError | None:
    error = assignments.session_error(session, answer.worker, answer.nonce)
    if error is not None and error.status == 401:
        return error
    if stored == StoredAnswer(answer.state, answer.label, answer.key):
        return None
    if error is not None:
        return error
    if stored is None:
        return ForbiddenError("this item was not leased to you; ask for the next one")
    if stored.state in ANSWERED:
        return ConflictError("you have answered this already; go on with the next")
    if project_state == projects.CLOSED:
        return ConflictError("the project is closed; thank you for your work")
    return None
