"""Finishing: how many answers an assignment needs before its completion code; sign-out.

Every function that takes a connection runs inside the transaction of its caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import AuthenticationError, ConflictError
from crowdpilot.service.labelling.sessions import Session, code_to_show
from crowdpilot.service.store import jobs, leases, projects, votes
from crowdpilot.service.store.arrivals import assignments
from crowdpilot.service.store.engine import Row


class Work(NamedTuple):
    """The labelled answers of an assignment, and how many it needs unless there is nothing left to do."""

    labelled: int
    needed: int

    @property
    def is_enough(self) -> bool:
        """Whether the assignment can be finished while there are more items."""
        return self.labelled >= self.needed

    @property
    def error(self) -> ConflictError:
        """Why there is no code yet."""
        if not self.labelled:
            return ConflictError("there is no code before the first answer; label an item first")
        counts = {"labelled": self.labelled, "needed": self.needed}
        return ConflictError("%(labelled)s of %(needed)s answers are given; label the others first", **counts)


def answers_needed(spec: Mapping[str, Any]) -> int:
    """How many labelled answers an assignment needs: as the project says, else a batch."""
    return int(spec.get("min_answers") or spec["batch"])


def find_session(c: Connection, session: Session) -> Row:
    """The assignment of a session, with its worker; an `AuthenticationError` if the session has ended."""
    row = assignments.find_many(c, session.project, [session.assignment]).get(session.assignment)
    error = assignments.session_error(row, session.worker, session.nonce)
    if row is None or isinstance(error, AuthenticationError):
        raise AuthenticationError(assignments.SESSION_ENDED)
    return row


def find_working(c: Connection, session: Session) -> Row:
    """The same, of a worker who may work; raises why not, if so."""
    row = find_session(c, session)
    error = assignments.session_error(row, session.worker, session.nonce)
    if error is not None:
        raise error
    return row


def work_done(c: Connection, session: Session) -> Work:
    """What a worker has done for the assignment of their session; all there is to do once it is finished."""
    row = find_session(c, session)
    if row.finished is None:
        find_working(c, session)  # who is blocked learns that, and nothing else
    needed = answers_needed(projects.find(c, session.project).spec)
    labelled = votes.count_answers(c, session.worker, session.assignment).labelled
    return Work(labelled, min(needed, labelled) if row.finished is not None else needed)


def finish(c: Connection, session: Session, secret: str, outcome: str = assignments.DONE) -> str:
    """End the work on an assignment: leases are returned; the code, which can be seen again later."""
    projects.next_change(c, session.project, lease_requests=1)  # a choice of items made before is void
    row = find_session(c, session)
    spec = projects.find(c, session.project).spec
    if row.finished is None or row.resumed is not None:
        find_working(c, session)
        if not votes.count_answers(c, session.worker, session.assignment).labelled:
            raise Work(0, 1).error
        leases.release(c, session.project, session.worker)
        assignments.finish(c, session.assignment, outcome)
        jobs.enqueue(c, session.project, "completion")  # theirs may have been the last vote that is needed
    return code_to_show(secret, session.project, row, spec)


def carry_on(c: Connection, session: Session) -> None:
    """Go on with an assignment that is finished; `ConflictError` where it was handed in to a platform."""
    row = find_session(c, session)
    if row.platform != "link" or row.finished is None:
        raise ConflictError("this work cannot be taken up again; thank you")
    assignments.resume(c, session.assignment)


def sign_out(c: Connection, session: Session) -> None:
    """End all sessions of a worker, and return what they hold."""
    find_session(c, session)
    leases.release(c, session.project, session.worker)
    assignments.end_sessions(c, session.worker)
