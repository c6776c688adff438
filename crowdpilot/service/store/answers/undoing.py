"""Undoing: a worker takes their last answer back and holds its item again."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from crowdpilot.service.errors import ConflictError, translatable
from crowdpilot.service.store import clock, projects
from crowdpilot.service.store.answers.reservations import Limits, Reservations
from crowdpilot.service.store.answers.writing import TOO_LATE
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import votes
from crowdpilot.service.store.votes import ANSWERED, LEASED, UNSURE, VOTED, ItemCriterion

UNDO_LEASES = 2  # the last leases with answers of a worker, which can be taken back
TOO_OLD = translatable("there is nothing to take back; only the answers just given can be changed")
CLOSED = translatable("the project is closed; answers stay as they are")


def undo(c: Connection, project: str, worker: Row, limits: Limits, lease_seconds: float) -> ItemCriterion:
    """Take back the last answer of a worker in their assignment, and lease its item to them again.

    In a write transaction; `worker` is their row of `assignments.find_working`, read in the same transaction
    after the row of the project was locked. `ConflictError` if the answer is too old, the project is closed,
    or a "can't tell" has left its place to somebody else. Which answer was the last follows from the change
    numbers: the clock may have been set meanwhile.
    """
    counters = projects.next_change(c, project)
    if counters.state == projects.CLOSED:
        raise ConflictError(CLOSED)
    own = votes.c.worker == worker.id
    answered = own, votes.c.state.in_(ANSWERED)
    numbers = select(votes.c.lease_number).where(*answered).distinct().order_by(votes.c.lease_number.desc())
    recent = [row.lease_number for row in c.execute(numbers.limit(UNDO_LEASES))]
    here = votes.c.assignment == worker.assignment, votes.c.lease_number.in_(recent)
    order = votes.c.change_number.desc(), votes.c.lease_number.desc(), votes.c.position.desc()
    row = c.execute(select(votes).where(*answered, *here).order_by(*order).limit(1)).first()
    if row is None:
        raise ConflictError(TOO_OLD)
    vote_id = row.item, row.criterion, worker.id
    if row.state == UNSURE and not Reservations(c, project, limits).take(vote_id, worker.kind, is_new=False):
        raise ConflictError(TOO_LATE)
    now = clock.now(c)
    values = {"state": LEASED, "label": None, "key": None, "time": None, "assignment": None, "leased": now,
              "expires": now + lease_seconds, "change_number": counters.change_number}  # fmt: skip
    this = own, votes.c.item == row.item, votes.c.criterion == row.criterion
    c.execute(update(votes).where(*this).values(values))
    if row.state == VOTED:
        projects.next_change(c, project, change_number=0, votes=-1)
    return row.item, row.criterion
