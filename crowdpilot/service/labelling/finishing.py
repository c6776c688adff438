"""Finishing: how many answers an assignment needs before its completion code; sign-out.

Every function that takes a connection runs inside the transaction of its caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import AuthenticationError, ConflictError
from crowdpilot.service.labelling.sessions import Session, code_to_show
from crowdpilot.service.store import leases, projects, votes
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
    def message(self) -> str:
        """Why there is no code yet."""
        if not self.labelled:
            return "there is no code before the first answer; label an item first"
        return f"{self.labelled} of {self.needed} answers are given; label the others first"


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
    needed = answers_needed(projects.find(c, session.project).spec)
    labelled = votes.count_answers(c, session.worker, session.assignment).labelled
    return Work(labelled, min(needed, labelled) if row.finished is not None else needed)


def finish(c: Connection, session: Session, secret: str) -> str:
    """End the work on an assignment: leases are returned; the code, which can be seen again later."""
    projects.next_change(c, session.project, lease_requests=1)  # a choice of items made before is void
    row = find_session(c, session)
    spec = projects.find(c, session.project).spec
    if row.finished is None:
        find_working(c, session)
        if not votes.count_answers(c, session.worker, session.assignment).labelled:
            raise ConflictError(Work(0, 1).message)
        leases.release(c, session.project, session.worker)
        assignments.finish(c, session.assignment)
    return code_to_show(secret, session.project, row, spec)


def sign_out(c: Connection, session: Session) -> None:
    """End all sessions of a worker, and return what they hold."""
    find_session(c, session)
    leases.release(c, session.project, session.worker)
    assignments.end_sessions(c, session.worker)
