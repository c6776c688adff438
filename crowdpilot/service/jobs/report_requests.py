"""Requests for the report of a project, which a background job writes on demand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, NotFoundError
from crowdpilot.service.store import items, jobs, projects
from crowdpilot.service.store.engine import Row, Store

JOB_KIND = "report"
RETRY_SECONDS = 60.0  # after which a report that failed may be tried again
POLL_SECONDS = 0.2


async def wait_for_report(
    store: Store, project: str, criterion: str = "", *, max_wait_seconds: float
) -> str | None:
    """The page of the report, which is queued if need be; None if it is not ready in time."""
    deadline = time.monotonic() + max_wait_seconds
    while (page := await asyncio.to_thread(_page_or_queue, store, project, criterion)) is None:
        if time.monotonic() >= deadline:
            return None
        await asyncio.sleep(POLL_SECONDS)
    return page


def _page_or_queue(store: Store, project: str, criterion: str) -> str | None:
    """The page if it is ready; otherwise its job is queued unless it is already."""
    with store.reading() as c:
        page = latest_report(c, project, criterion)
        waits = page is not None or jobs.is_pending(c, project, JOB_KIND)
    if not waits:
        with store.writing() as c:
            queue_report(c, project, criterion)
    return page


def latest_report(c: Connection, project: str, criterion: str = "") -> str | None:
    """The page that covers all votes and items, if there is one; a `ConflictError` if there are no votes."""
    row = projects.find(c, project)
    wanted = covered(c, row, _criterion(row, criterion))
    if row.votes == 0:
        raise ConflictError("there are no votes to report on yet; wait for the first")
    last = jobs.last_done(c, project, JOB_KIND)
    result = {} if last is None else last.result or {}
    if any(result.get(name) != value for name, value in wanted.items() if name != "change_number"):
        return None
    if next(items.changed_since(c, project, result["change_number"]), None) is not None:
        return None
    if "why" in result:
        raise ConflictError(result["why"])
    return str(result["html"])


def covered(c: Connection, project: Row, criterion: str) -> dict[str, Any]:
    """What a report that is made now covers: when one of these changes, there is a newer one.

    Except the change number, which grows with every lease: only items that changed after it count.
    """
    return {
        "votes": project.votes, "update_number": project.update_number, "spec_number": project.spec_number,
        "items": items.count(c, project.id), "change_number": project.change_number, "criterion": criterion,
    }  # fmt: skip


def queue_report(c: Connection, project: str, criterion: str = "") -> None:
    """Queue the job of the report; a `ConflictError` if the last attempt has just failed."""
    row = projects.find(c, project)
    newest = jobs.newest(c, project, JOB_KIND)
    if newest is not None and newest.state == jobs.FAILED and newest.created > time.time() - RETRY_SECONDS:
        raise ConflictError("the report could not be made; see why in the list of jobs, and try again later")
    jobs.enqueue(c, project, JOB_KIND, criterion=_criterion(row, criterion))


def _criterion(project: Row, name: str) -> str:
    known = [criterion["name"] for criterion in project.spec["criteria"]]
    if name and name not in known:
        raise NotFoundError(f"there is no criterion {name!r}; {_choices(known)}")
    return name or (known[0] if known else "")


def _choices(known: Sequence[str]) -> str:
    return f"there are {', '.join(known)}" if known else "the project has none"
