"""Settle: see whether a project is done when nothing was voted, such as when items came back unanswered."""

from __future__ import annotations

from typing import Any

from crowdpilot.service.jobs import webhook_events
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.engine import Row


def settle(bench: Bench, job: Row) -> dict[str, Any]:
    """Tell of what is decided by now; ask for a last lesson if no vote is wanted any more."""
    replica, project = bench.replica(job.project)
    with bench.store.reading() as c:
        told = webhook_events.find(c, replica)
    with bench.store.writing() as c:
        jobs.renew(c, job)
        rest = webhook_events.write(c, project, told)
        if project.votes != project.fitted and _is_over(replica):
            jobs.enqueue(c, job.project, "refit")
    webhook_events.write_rest(bench.store, project, rest)
    return {"done": close_if_done(bench, job), "told": len(told.items)}


def close_if_done(bench: Bench, job: Row) -> bool:
    """Whether nothing more is wanted and the last lesson knows of all votes; written down and told."""
    replica, project = bench.replica(job.project)
    done = _is_done(replica, project)
    if done == project.done:
        return done
    with bench.store.writing() as c:
        jobs.renew(c, job)
        projects.next_change(c, job.project, change_number=0)  # nobody else changes the project until commit
        row = replica.catch_up(c)
        done = _is_done(replica, row)
        if done != row.done:
            projects.change(c, job.project, done=done)
            if done:
                webhook_events.write_done(c, replica, row)
    return done


def _is_done(replica: Replica, project: Row) -> bool:
    return bool(project.votes == project.fitted) and _is_over(replica)


def _is_over(replica: Replica) -> bool:
    return replica.campaign.view.is_finished
