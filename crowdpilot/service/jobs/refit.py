"""Refit job: fit workers and classifier to all votes, and write the model update for all replicas."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection

from crowdpilot.hybrid.forecast.readiness import why_too_early
from crowdpilot.service import capacity
from crowdpilot.service.jobs import webhook_events
from crowdpilot.service.jobs.calibration import is_measurable
from crowdpilot.service.jobs.completion import close_if_done
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import TRAINED_CLASSIFIERS
from crowdpilot.service.status.item_progress import count_items
from crowdpilot.service.store import jobs, projects, saved_state
from crowdpilot.service.store.engine import Row

FOLLOW_UP_GROWTH = {"calibration": 1.2, "forecast": 1.5}  # of votes since the last job of the kind


def run_refit(context: JobContext, job: Row) -> dict[str, Any]:
    """Refit the campaign and write its model update, so that all replicas have the same posterior."""
    begun = time.monotonic()
    replica, project = context.replica(job.project)
    model_update = None
    if project.votes != project.fitted:
        capacity.check_refit(replica.spec, replica.campaign.view.workers_with_votes)
        replica.campaign.refit()
        model_update = saved_state.pack_model_update(_model_update(replica))
    with context.store.reading() as c:
        decided = webhook_events.new_decisions(c, replica)
    with context.store.writing() as c:
        jobs.renew(c, job)
        if projects.find(c, job.project).deletion_number > replica.change_number:
            jobs.enqueue(c, job.project, "refit")  # items were deleted meanwhile: the update is about others
            return {"votes": project.votes, "open": 0, "why": "items were deleted", "seconds": 0.0}
        if model_update is not None:
            replica.update_number = saved_state.write_model_update(
                c, job.project, model_update, project.votes
            )
            _follow_up(c, replica, project)
        rest = webhook_events.write(c, project, decided)
    webhook_events.write_rest(context.store, project, rest)
    progress = count_items(replica, project)
    done = close_if_done(context, job)
    status = replica.campaign.status()
    return {
        **_training_result(context, replica, project),
        "workers": status.workers,
        "open": status.open - status.done,
        "settled": progress.settled,
        "final": progress.final,
        "done": done,
        "announced": len(decided.items),
        "seconds": round(time.monotonic() - begun, 3),
    }


def _model_update(replica: Replica) -> dict[str, Any]:
    """Fitted parameters; with the predictions of a classifier that the service trains."""
    return replica.campaign.model_update(with_classifier=replica.spec["machine"] in TRAINED_CLASSIFIERS)


def _training_result(context: JobContext, replica: Replica, project: Row) -> dict[str, Any]:
    """Which classifier was trained on how many votes, and why not if not."""
    machine = replica.spec["machine"]
    why = context.why_untrained(replica.project)
    if why:
        machine = "none"
    elif machine in TRAINED_CLASSIFIERS and not replica.campaign.view.is_classified:
        why = "there are too few votes for a machine to learn from"
    return {"votes": project.votes, "machine": machine, "why": why}


def _follow_up(c: Connection, replica: Replica, project: Row) -> None:
    """Queue calibration and forecast if the votes have grown enough since the last ones."""
    is_possible = {"calibration": is_measurable(replica), "forecast": not why_too_early(replica.campaign)}
    for kind, growth in FOLLOW_UP_GROWTH.items():
        last = jobs.last_done(c, project.id, kind)
        votes_before = 0 if last is None else int((last.result or {}).get("votes", 0))
        if is_possible[kind] and project.votes >= growth * votes_before:
            jobs.enqueue(c, project.id, kind)
