"""Deletion of a whole project: it is gone at once for everybody, and its rows are deleted part by part."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Table, delete, select

from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.store.tables import action_log as log_table
from crowdpilot.service.store.tables import assignments, files, items, sent_labels, votes, workers
from crowdpilot.service.store.tables import jobs as job_table
from crowdpilot.service.store.tables import projects as project_table
from crowdpilot.service.store.tables import webhook_deliveries as delivery_table

DELETION = "deletion"  # the kind of job
ROWS_PER_TRANSACTION = 2000
FILES_PER_TRANSACTION = 20  # each may have megabytes


def begin(c: Connection, project: str, actor: str) -> None:
    """Hide a project from everybody and queue the deletion of its rows, in a write transaction."""
    projects.next_change(c, project, lease_requests=1)
    projects.change(c, project, state=projects.DELETED)
    c.execute(delete(job_table).where(job_table.c.project == project, job_table.c.state == jobs.QUEUED))
    jobs.enqueue(c, project, DELETION)
    action_log.write(c, actor, "delete project", project, category=action_log.DATA)


def unfinished(c: Connection) -> Sequence[str]:
    """Ids of the projects that are hidden, but of which rows are left and no job deletes them."""
    pending = select(job_table.c.project).where(job_table.c.state.in_((jobs.QUEUED, jobs.RUNNING)))
    hidden = project_table.c.state == projects.DELETED, project_table.c.id.not_in(pending)
    return [row.id for row in c.execute(select(project_table.c.id).where(*hidden))]


def delete_part(c: Connection, project: str) -> bool:
    """Delete some rows of a hidden project, in a write transaction; whether there are more.

    In the log of actions nothing stays but who deleted it.
    """
    if ids := _ids(c, items, project, ROWS_PER_TRANSACTION):
        for table, column in ((votes, votes.c.item), (sent_labels, sent_labels.c.item), (items, items.c.id)):
            _delete(c, table, column.in_(ids))
        return True
    if ids := _ids(c, workers, project, ROWS_PER_TRANSACTION):
        _delete(c, assignments, assignments.c.worker.in_(ids))
        _delete(c, workers, workers.c.id.in_(ids))
        return True
    if ids := _ids(c, delivery_table, project, ROWS_PER_TRANSACTION):
        _delete(c, delivery_table, delivery_table.c.id.in_(ids))
        return True
    stored = select(files.c.digest).where(files.c.project == project).limit(FILES_PER_TRANSACTION)
    if digests := [row.digest for row in c.execute(stored)]:
        _delete(c, files, (files.c.project == project) & files.c.digest.in_(digests))
        return True
    others = log_table.c.project == project, log_table.c.action != "delete project"
    old = select(log_table.c.id).where(*others).limit(ROWS_PER_TRANSACTION)
    if ids := [row.id for row in c.execute(old)]:
        _delete(c, log_table, log_table.c.id.in_(ids))
        return True
    _delete(c, project_table, project_table.c.id == project)  # the rest goes with it
    return False


def _ids(c: Connection, table: Table, project: str, n: int) -> list[int]:
    return [row.id for row in c.execute(select(table.c.id).where(table.c.project == project).limit(n))]


def _delete(c: Connection, table: Table, where: ColumnElement[bool]) -> None:
    c.execute(delete(table).where(where))
