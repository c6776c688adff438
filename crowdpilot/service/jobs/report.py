"""Report job: the HTML report of a project, with the posteriors and decisions of its own campaign."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sqlalchemy import Connection

from crowdpilot.aggregation import Aggregate, Aggregator
from crowdpilot.arrays import Codes
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.diagnosis import diagnose
from crowdpilot.hybrid import Estimates
from crowdpilot.names import to_names
from crowdpilot.service.exports.decisions import project_decisions
from crowdpilot.service.jobs import report_requests
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.jobs.thumbnails import ItemPictures
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import items, jobs, votes
from crowdpilot.service.store.engine import Row
from crowdpilot.votes import Votes


def make_report(context: JobContext, job: Row) -> dict[str, Any]:
    """The report of all votes so far; results of earlier report jobs are cleared."""
    from crowdpilot.reporting import report as write_report  # it takes a second to load

    replica, project = context.replica(job.project)
    criterion = job.arguments.get("criterion", "")
    with context.store.reading() as c:
        about = {**report_requests.covered(c, project, criterion), "made": time.time()}
        crowd_votes = _votes(c, replica, replica.campaign.criteria.index(criterion))
        if len(crowd_votes) == 0:
            return {**about, "why": f"nobody has voted on {criterion!r} yet; wait for it"}
        texts = {row.name: row.content.get("text", "") for row in items.all_contents(c, project.id)}
    title = f"{project.name}: {criterion}" if criterion else project.name
    date = time.strftime("%d %B %Y, %H:%M")
    html = write_report(
        diagnose(crowd_votes, _posterior_of(replica, crowd_votes, criterion)),
        texts=texts,
        images=ItemPictures(context.store, project.id),
        decisions=_item_decisions(replica, project),
        title=title,
        source=None,
        date=date,
    )
    with context.store.writing() as c:
        jobs.clear_results(c, job.project, report_requests.JOB_KIND, job.id)
    return {**about, "html": html}


@dataclass(frozen=True, eq=False)
class CampaignPosterior(Aggregator):
    """The posterior of a campaign after these votes, with its confusion matrices of workers."""

    name: ClassVar[str] = "the campaign of the project"

    estimates: Estimates
    item_rows: Codes  # of the tasks
    worker_rows: Codes  # of the workers

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        log_confusion = self.estimates.log_confusion[self.worker_rows]
        by_expert = self.estimates.experts[self.estimates.worker_kind[self.worker_rows]][votes.worker]
        crowd, expert = (
            votes_log_likelihood(votes.take(some), log_confusion) for some in (~by_expert, by_expert)
        )
        probs = self.estimates.posterior_under(self.item_rows.astype(np.intp), crowd, expert)
        skill = np.einsum("jkk,k->j", np.exp(log_confusion), self.estimates.class_prior)
        return Aggregate(votes, votes.clamp(probs), skill)

    def __str__(self) -> str:
        return self.name


def _posterior_of(replica: Replica, crowd_votes: Votes, criterion: str) -> CampaignPosterior:
    view = replica.campaign.view
    rows = view.item_rows(crowd_votes.tasks.tolist()).astype(np.int32)
    number_of = {name: n for n, name in enumerate(view.workers().names)}
    numbers = np.asarray([number_of[worker] for worker in crowd_votes.workers.tolist()], np.int32)
    return CampaignPosterior(view.estimates(criterion), rows, numbers)


def _item_decisions(replica: Replica, project: Row) -> Any:
    """Decisions about all items of the project, with and without votes, as the report takes them."""
    from crowdpilot.reporting.decisions import ItemDecisions

    decided = project_decisions(replica, project)
    now = decided.decisions
    majority = ["" if code < 0 else decided.classes[code] for code in decided.majority.tolist()]
    return ItemDecisions(
        to_names(now.items.tolist()), to_names(decided.labels), decided.probability,
        np.asarray(majority, object), now.votes, now.decided_by,
    )  # fmt: skip


def _votes(c: Connection, replica: Replica, criterion: int) -> Votes:
    """The votes on one criterion that the replica has, with their times."""
    view, names = replica.campaign.view, replica.item_names
    known = set(view.workers().names)
    rows = [
        row for row in votes.list_all(c, replica.project)
        if row.criterion == criterion and row.item in names and row.worker in known
    ]  # fmt: skip
    ids, task = np.unique([row.item for row in rows], return_inverse=True)
    workers, worker = np.unique([row.worker for row in rows], return_inverse=True)
    tasks = [names[item] for item in ids.tolist()]
    gold = view.items().gold[view.item_rows(tasks), criterion]
    seconds = np.asarray([np.nan if row.seconds is None else row.seconds for row in rows])
    return Votes(
        task.astype(np.int32), worker.astype(np.int32),
        np.asarray([row.label for row in rows], np.int32), to_names(tasks), workers,
        replica.campaign.classes,
        time=np.asarray([row.time for row in rows], np.float64),
        seconds=seconds if np.isfinite(seconds).all() else None,
        gold=gold if (gold >= 0).any() else None,
    )  # fmt: skip
