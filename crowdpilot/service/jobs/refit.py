"""Refit: learn workers and machine anew from all votes, and tell every process."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.jobs import webhook_events
from crowdpilot.service.jobs.calibration import is_measurable
from crowdpilot.service.jobs.completion import close_if_done
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.jobs.forecast import why_not
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import TRAINED_CLASSIFIERS
from crowdpilot.service.store import jobs, saved_state
from crowdpilot.service.store.engine import Row

GROWTH = {"calibration": 1.2, "forecast": 1.5}  # of the votes since the last, after which there is another


def refit(bench: Bench, job: Row) -> dict[str, Any]:
    """A lesson from all votes so far, written down so that a mirror anywhere believes the same."""
    begun = time.monotonic()
    replica, project = bench.replica(job.project)
    lesson = None
    if project.votes != project.fitted:
        replica.campaign.refit()
        lesson = saved_state.pack_model_update(_lesson(replica))
    with bench.store.reading() as c:
        told = webhook_events.find(c, replica)
    with bench.store.writing() as c:
        jobs.renew(c, job)
        if lesson is not None:
            replica.update_number = saved_state.write_model_update(c, job.project, lesson, project.votes)
            _follow_up(c, replica, project)
        rest = webhook_events.write(c, project, told)
    webhook_events.write_rest(bench.store, project, rest)
    done = close_if_done(bench, job)
    status = replica.campaign.status()
    return {
        **_taught(bench, replica, project),
        "workers": status.workers,
        "open": status.open - status.done,
        "done": done,
        "told": len(told.items),
        "seconds": round(time.monotonic() - begun, 3),
    }


def _lesson(replica: Replica) -> dict[str, Any]:
    """What was learned; of a machine that learns no more, what it said last."""
    return replica.campaign.model_update(with_classifier=replica.spec["machine"] in TRAINED_CLASSIFIERS)


def _taught(bench: Bench, replica: Replica, project: Row) -> dict[str, Any]:
    """Which machine has learned from how many votes, and why not if not."""
    machine = replica.spec["machine"]
    why = bench.blind(replica.project)
    if why:
        machine = "none"
    elif machine in TRAINED_CLASSIFIERS and not replica.campaign.view.is_classified:
        why = "there are too few votes for a machine to learn from"
    return {"votes": project.votes, "machine": machine, "why": why}


def _follow_up(c: Connection, replica: Replica, project: Row) -> None:
    """What is worth to be looked at after a lesson, unless it was looked at not long ago."""
    wanted = {"calibration": is_measurable(replica), "forecast": not why_not(replica)}
    for kind, growth in GROWTH.items():
        last = jobs.last_done(c, project.id, kind)
        known = 0 if last is None else int((last.result or {}).get("votes", 0))
        if wanted[kind] and project.votes >= growth * known:
            jobs.enqueue(c, project.id, kind)
