"""Deletion of items, with their votes and the files that no other item uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, delete, func, select, update

from crowdpilot.service.store import jobs, projects, saved_state
from crowdpilot.service.store.items import chunks, require_named
from crowdpilot.service.store.tables import (
    files,
    items,
    model_updates,
    sent_labels,
    votes,
    webhook_deliveries,
)
from crowdpilot.service.store.tables import jobs as job_table
from crowdpilot.service.store.votes import VOTED

FILES = "/files/"  # how the address of an uploaded file begins
FILE_KINDS = "image", "audio", "video"  # of content that may be such an address
KINDS_WITH_ITEMS = ("report", "audit")  # of jobs whose results tell about single items


def delete_items(c: Connection, project: str, names: Sequence[str]) -> int:
    """Delete items, in a write transaction; how many. `NotFoundError` if one is missing.

    Replicas start over: what they learned from the votes is gone as well. An audit in which one of the items
    was drawn ends, because its bound would be about items that are not there.
    """
    ids = [row.id for row in require_named(c, project, names).values()]
    # The number of lease requests makes every process that is choosing items choose again.
    number = int(projects.next_change(c, project, lease_requests=1).change_number)
    digests = {digest for part in chunks(ids) for digest in _digests(c, project, part)}
    voted = 0
    for part in chunks(ids):
        own = votes.c.item.in_(part)
        voted += int(c.execute(select(func.count()).where(own, votes.c.state == VOTED)).scalar_one())
        c.execute(delete(votes).where(own))
        c.execute(delete(sent_labels).where(sent_labels.c.item.in_(part)))
        c.execute(delete(items).where(items.c.id.in_(part)))
    _delete_files(c, project, digests)
    _delete_traces(c, project, {*names})
    projects.next_change(c, project, change_number=0, votes=-voted)
    projects.change(c, project, deletion_number=number, update_number=0, fitted=0, done=False)
    c.execute(delete(model_updates).where(model_updates.c.project == project))
    jobs.enqueue(c, project, "refit")
    return len(ids)


def _digests(c: Connection, project: str, ids: Sequence[int] | None = None) -> Iterator[str]:
    """The digests of the uploaded files of these items, or of all of a project."""
    own = items.c.project == project if ids is None else items.c.id.in_(ids)
    beginning = f"{FILES}{project}/"
    for row in c.execute(select(items.c.content, items.c.file).where(own)):
        if row.file:
            yield row.file
        for kind in FILE_KINDS:
            address = (row.content or {}).get(kind, "")
            if address.startswith(beginning):
                yield address.removeprefix(beginning)


def _shown_elsewhere(c: Connection, project: str) -> Iterator[str]:
    """The digests of files that the instructions, examples or quiz of a project show."""
    spec, beginning = projects.find(c, project).spec, f"{FILES}{project}/"
    for shown in (*spec["pictures"], *spec["examples"], *spec["quiz"]):
        yield shown["image"].removeprefix(beginning)


def _delete_files(c: Connection, project: str, digests: set[str]) -> None:
    unused = digests - {*_digests(c, project), *_shown_elsewhere(c, project)} if digests else digests
    for part in chunks(sorted(unused)):
        c.execute(delete(files).where(files.c.project == project, files.c.digest.in_(part)))


def _delete_traces(c: Connection, project: str, names: set[str]) -> None:
    """Delete what tells about these items: announcements, reports, and an audit with one of them."""
    own = webhook_deliveries.c.project == project
    for row in c.execute(select(webhook_deliveries.c.id, webhook_deliveries.c.payload).where(own)).all():
        announced = row.payload.get("items")
        if isinstance(announced, list) and any(item["item"] in names for item in announced):
            c.execute(delete(webhook_deliveries).where(webhook_deliveries.c.id == row.id))
    about = job_table.c.project == project, job_table.c.kind.in_(KINDS_WITH_ITEMS)
    ended = job_table.c.state.in_((jobs.DONE, jobs.FAILED))
    c.execute(update(job_table).where(*about, ended).values(result=None, error=None))
    audit = saved_state.read_audit(c, project)
    if audit is not None and not names.isdisjoint(audit.data["names"]):
        saved_state.remove_audit(c, project)
