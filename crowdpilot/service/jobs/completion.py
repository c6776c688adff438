"""Settle: see whether a project is done when nothing was voted, such as when items came back unanswered."""

from __future__ import annotations

from typing import Any

from crowdpilot.service.jobs import webhook_events
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.labelling.replica import Mirror
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.row import Record


def settle(bench: Bench, job: Record) -> dict[str, Any]:
    """Tell of what is decided by now; ask for a last lesson if no vote is wanted any more."""
    mirror, project = bench.mirror(job.project)
    with bench.store.reading() as c:
        told = webhook_events.find(c, mirror)
    with bench.store.writing() as c:
        jobs.hold(c, job)
        rest = webhook_events.write(c, project, told)
        if project.votes != project.fitted and _is_over(mirror):
            jobs.enqueue(c, job.project, "refit")
    webhook_events.write_rest(bench.store, project, rest)
    return {"done": close_if_done(bench, job), "told": len(told.items)}


def close_if_done(bench: Bench, job: Record) -> bool:
    """Whether nothing more is wanted and the last lesson knows of all votes; written down and told."""
    mirror, project = bench.mirror(job.project)
    done = _is_done(mirror, project)
    if done == project.done:
        return done
    with bench.store.writing() as c:
        jobs.hold(c, job)
        projects.tick(c, job.project, clock=0)  # nobody else changes the project until commit
        row = mirror.keep_up(c)
        done = _is_done(mirror, row)
        if done != row.done:
            projects.put(c, job.project, done=done)
            if done:
                webhook_events.write_done(c, mirror, row)
    return done


def _is_done(mirror: Mirror, project: Record) -> bool:
    return bool(project.votes == project.fitted) and _is_over(mirror)


def _is_over(mirror: Mirror) -> bool:
    pool = mirror.campaign.pool
    return bool(pool.open.any() and mirror.campaign.wishes.over[pool.open].all())
