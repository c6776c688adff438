"""Requests for imports, which a background job does."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, ForbiddenError, InvalidRequestError
from crowdpilot.service.jobs.imports.addresses import check_allowed
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.engine import Store

JOB_KIND = "import"
MAX_ADDRESS_CHARACTERS = 1000
NOT_DONE = "the import failed for a reason on our side, which is logged; try it again"


class ImportState(NamedTuple):
    """How the last import of a project stands."""

    address: str
    state: str  # queued, running, done, failed
    read: int = 0  # files so far
    total: int = 0
    items: int = 0  # that were added
    ignored: tuple[str, ...] = ()
    why: str = ""  # it failed


def start(store: Store, settings: Settings, project: str, address: str, actor: str) -> None:
    """Queue an import; an error if there is no address, it is not allowed, or an import is under way."""
    if not address:
        raise InvalidRequestError("write the address that the items are at")
    try:
        check_allowed(address, settings.import_from)
    except ValueError as error:
        raise ForbiddenError(str(error)) from None
    with store.writing() as c:
        projects.next_change(c, project, change_number=0)  # locks the project until the commit
        if jobs.is_pending(c, project, JOB_KIND):
            raise ConflictError("an import is under way; wait until it has ended")
        jobs.enqueue(c, project, JOB_KIND, address=address, actor=actor)


def latest(c: Connection, project: str) -> ImportState | None:
    """The last import of a project, if there was one."""
    row = jobs.newest(c, project, JOB_KIND)
    if row is None:
        return None
    result: dict[str, Any] = row.result or {}
    why = result.get("why", "") or (NOT_DONE if row.state == jobs.FAILED else "")
    return ImportState(
        row.arguments["address"], row.state, result.get("read", 0), result.get("total", 0),
        result.get("items", 0), tuple(result.get("ignored", ())), why,
    )  # fmt: skip
