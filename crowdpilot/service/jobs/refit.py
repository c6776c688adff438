"""Refit: learn workers and machine anew from all votes, and tell every process."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection

from crowdpilot.json_values import pack
from crowdpilot.service.jobs import webhook_events
from crowdpilot.service.jobs.calibration import is_measurable
from crowdpilot.service.jobs.completion import close_if_done
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.jobs.forecast import why_not
from crowdpilot.service.labelling.replica import Mirror
from crowdpilot.service.project_campaign import LEARNED
from crowdpilot.service.store import jobs, model_updates
from crowdpilot.service.store.row import Record

GROWTH = {"calibrate": 1.2, "forecast": 1.5}  # of the votes since the last, after which there is another


def refit(bench: Bench, job: Record) -> dict[str, Any]:
    """A lesson from all votes so far, written down so that a mirror anywhere believes the same."""
    begun = time.monotonic()
    mirror, project = bench.mirror(job.project)
    lesson = None
    if project.votes != project.fitted:
        mirror.campaign.refit()
        lesson = model_updates.pack(_lesson(mirror))
    with bench.store.reading() as c:
        told = webhook_events.find(c, mirror)
    with bench.store.writing() as c:
        jobs.hold(c, job)
        if lesson is not None:
            mirror.lesson = model_updates.write(c, job.project, lesson, project.votes)
            _follow_up(c, mirror, project)
        rest = webhook_events.write(c, project, told)
    webhook_events.write_rest(bench.store, project, rest)
    done = close_if_done(bench, job)
    status = mirror.campaign.status()
    return {
        **_taught(bench, mirror, project),
        "workers": status.workers,
        "open": status.open - status.done,
        "done": done,
        "told": len(told.items),
        "seconds": round(time.monotonic() - begun, 3),
    }


def _lesson(mirror: Mirror) -> dict[str, Any]:
    """What was learned; of a machine that learns no more, what it said last."""
    lesson = mirror.campaign.lesson()
    if mirror.spec["machine"] in LEARNED:
        lesson["machine"] = [pack(question.machine) for question in mirror.campaign.questions]
    return lesson


def _taught(bench: Bench, mirror: Mirror, project: Record) -> dict[str, Any]:
    """Which machine has learned from how many votes, and why not if not."""
    machine = mirror.spec["machine"]
    why = bench.blind(mirror.project)
    if why:
        machine = "none"
    elif machine in LEARNED and any(question.machine is None for question in mirror.campaign.questions):
        why = "there are too few votes for a machine to learn from"
    return {"votes": project.votes, "machine": machine, "why": why}


def _follow_up(c: Connection, mirror: Mirror, project: Record) -> None:
    """What is worth to be looked at after a lesson, unless it was looked at not long ago."""
    wanted = {"calibrate": is_measurable(mirror), "forecast": not why_not(mirror)}
    for kind, growth in GROWTH.items():
        last = jobs.last(c, project.id, kind)
        known = 0 if last is None else int((last.result or {}).get("votes", 0))
        if wanted[kind] and project.votes >= growth * known:
            jobs.enqueue(c, project.id, kind)
