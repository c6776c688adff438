"""Completion job: whether a project needs no more votes, after leases have expired or items were changed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.jobs import webhook_events
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.jobs.notifications import checks
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections


def check_completion(context: JobContext, job: Row) -> dict[str, Any]:
    """Announce new decisions; queue a last refit if no more votes are needed; close the project if done."""
    replica, project = context.replica(job.project)
    with context.store.reading() as c:
        is_over = _needs_no_votes(c, replica, project)
        decided = webhook_events.new_decisions(c, replica, are_final=is_over)
    with context.store.writing() as c:
        jobs.renew(c, job)
        rest = webhook_events.write(c, project, decided)
        if project.votes != project.fitted and is_over:
            jobs.enqueue(c, job.project, "refit")
    webhook_events.write_rest(context.store, project, rest)
    return {"done": close_if_done(context, job), "announced": len(decided.items)}


def close_if_done(context: JobContext, job: Row) -> bool:
    """Whether no more votes are needed and the last refit had all votes; written and announced."""
    replica, project = context.replica(job.project)
    with context.store.reading() as c:
        done = _is_done(c, replica, project)
    if done == project.done:
        if not done and checks.wants_notifications(project.spec):
            with context.store.writing() as c:
                checks.enqueue(c, project)
        return done
    with context.store.writing() as c:
        jobs.renew(c, job)
        projects.next_change(c, job.project, change_number=0)  # locks the project until the commit
        row = replica.catch_up(c)
        done = _is_done(c, replica, row)
        if done != row.done:
            projects.change(c, job.project, done=done)
            if done:
                webhook_events.write_done(c, replica, row)
            checks.enqueue(c, row, after=0.0)
    return done


def _is_done(c: Connection, replica: Replica, project: Row) -> bool:
    """A project that is done stays so after a late vote, unless that makes another one worth its price."""
    return bool(project.done or project.votes == project.fitted) and _needs_no_votes(c, replica, project)


def _needs_no_votes(c: Connection, replica: Replica, project: Row) -> bool:
    """Whether no vote is worth its price, or nobody is left in Label Studio who could give one."""
    is_finished = replica.campaign.view.is_finished
    return is_finished or connections.is_finished(c, project.id, was_done=bool(project.done))
