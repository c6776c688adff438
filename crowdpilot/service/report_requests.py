"""Reporting: the page about a project's crowd, which is made by a job when somebody asks for it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, NotFoundError
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.row import Record

KIND = "report"
AGAIN = 60.0  # seconds after which a report that failed may be tried again


def latest(c: Connection, project: str, criterion: str = "") -> str | None:
    """The page, if there is one that knows of all votes; refused with 409 if there are none."""
    row = projects.find(c, project)
    wanted = row.votes, row.lesson, _criterion(row, criterion)
    if row.votes == 0:
        raise ConflictError("there are no votes to report on yet; wait for the first")
    last = jobs.last(c, project, KIND)
    found = {} if last is None else last.result or {}
    made = tuple(found.get(name) for name in ("votes", "lesson", "criterion"))
    if made != wanted:
        return None
    if "why" in found:
        raise ConflictError(found["why"])
    return str(found["html"])


def order(c: Connection, project: str, criterion: str = "") -> None:
    """Ask for the page; refused with 409 if the last attempt to make it has failed."""
    row = projects.find(c, project)
    newest = jobs.newest(c, project, KIND)
    if newest is not None and newest.state == jobs.FAILED and newest.created > time.time() - AGAIN:
        raise ConflictError("the report could not be made; see why in the list of jobs, and try again later")
    jobs.enqueue(c, project, KIND, criterion=_criterion(row, criterion))


def _criterion(project: Record, name: str) -> str:
    known = [criterion["name"] for criterion in project.spec["criteria"]]
    if name and name not in known:
        raise NotFoundError(f"there is no criterion {name!r}; {_there_are(known)}")
    return name or (known[0] if known else "")


def _there_are(known: Sequence[str]) -> str:
    return f"there are {', '.join(known)}" if known else "the project has none"
