"""Refit: learn workers and machine anew from all votes, and tell every process."""

from __future__ import annotations

from typing import Any

from crowdpilot.service.jobs.bench import Bench
from crowdpilot.service.store import lessons, projects
from crowdpilot.service.store.record import Record


def refit(bench: Bench, job: Record) -> dict[str, Any]:
    """A lesson from all votes so far, written down so that a mirror anywhere believes the same."""
    mirror, project = bench.mirror(job.project)
    campaign = mirror.campaign
    if project.votes > project.fitted:
        campaign.refit()
        with bench.store.writing() as c:
            mirror.lesson = lessons.write(c, job.project, campaign.lesson(), project.votes)
        mirror, project = bench.mirror(job.project)
    status = campaign.status()
    done = status.open > 0 and status.open == status.done and project.votes == project.fitted
    if done != project.done:
        with bench.store.writing() as c:
            projects.put(c, job.project, done=done)
    return {"votes": project.fitted, "open": status.open - status.done, "done": done}
