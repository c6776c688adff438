"""Calibration job: how well posteriors and classifier are calibrated, on known classes and held-out votes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, divide
from crowdpilot.hybrid import Estimates
from crowdpilot.metrics import brier, ece
from crowdpilot.metrics.confidence_bins import equal_width
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.engine import Row
from crowdpilot.votes import Votes

BINS = 10
MAX_VOTES = 20_000  # a sample of the votes of a larger project


def is_measurable(replica: Replica) -> bool:
    """Whether there are known classes or a classifier."""
    view = replica.campaign.view
    estimates = [view.estimates(criterion) for criterion in replica.campaign.criteria]
    return bool((view.items().gold >= 0).any()) or any(e.classifier_probs is not None for e in estimates)


def measure_calibration(context: JobContext, job: Row) -> dict[str, Any]:
    """For each question the calibration on known classes, and on each vote given all others."""
    replica, project = context.replica(job.project)
    view = replica.campaign.view
    rng = np.random.default_rng(replica.campaign.plan.seed)
    measured = {
        criterion: {
            "gold": _by_gold(view.estimates(criterion), view.votes(criterion)),
            "votes": _by_votes(view.estimates(criterion), view.votes(criterion), rng),
        }
        for criterion in replica.campaign.criteria
    }
    return {"votes": project.votes, "made": time.time(), "questions": measured}


def _by_gold(estimates: Estimates, votes: Votes) -> dict[str, Any] | None:
    """Calibration on items of known class, with posteriors from their votes alone."""
    voted = np.unique(votes.task).astype(np.intp)
    rows = voted[votes.gold[voted] >= 0] if votes.gold is not None else voted[:0]
    if votes.gold is None or len(rows) == 0:
        return None
    truth = votes.gold[rows]
    expert = estimates.expert_log_likelihood[rows]
    posterior = estimates.posterior_under(rows, estimates.log_likelihood[rows], expert)
    measures = {"posterior": calibration_measures(truth, posterior)}
    if estimates.calibrated_probs is not None:
        measures["classifier"] = calibration_measures(truth, estimates.calibrated_probs[rows])
    return measures


def _by_votes(estimates: Estimates, votes: Votes, rng: np.random.Generator) -> dict[str, Any] | None:
    """Calibration of the prediction of each vote of the crowd from all its others on the item."""
    votes = votes.take(~estimates.experts[estimates.worker_kind[votes.worker]])
    if len(votes) == 0:
        return None
    some = rng.choice(len(votes), min(MAX_VOTES, len(votes)), replace=False)
    rows, who, said = (codes[some].astype(np.intp) for codes in (votes.task, votes.worker, votes.label))
    others = estimates.log_likelihood[rows] - estimates.log_confusion[who, :, said]
    confusion = np.exp(estimates.log_confusion[who])  # (votes, true, said)
    posterior = estimates.consensus_under(rows, others)
    measures = {"posterior": calibration_measures(said, np.einsum("nk,nkl->nl", posterior, confusion))}
    if estimates.calibrated_probs is not None:
        probs = estimates.calibrated_probs[rows]
        measures["classifier"] = calibration_measures(said, np.einsum("nk,nkl->nl", probs, confusion))
    return measures


def calibration_measures(truth: NDArray[Any], probs: Floats) -> dict[str, Any]:
    """Expected calibration error, Brier score, accuracy, and a reliability table of confidence bins."""
    confidence, is_right = probs.max(axis=1), probs.argmax(axis=1) == truth
    bins = equal_width(confidence, BINS)
    n = np.bincount(bins, minlength=BINS)
    mean, share = (
        divide(np.bincount(bins, values, minlength=BINS), n, 0.0)
        for values in (confidence, is_right.astype(float))
    )
    table = [
        {"from": k / BINS, "to": (k + 1) / BINS, "n": int(n[k]), "confidence": float(mean[k]),
         "right": float(share[k])}
        for k in np.flatnonzero(n)
    ]  # fmt: skip
    normalized = probs / probs.sum(axis=1, keepdims=True)
    return {"n": len(truth), "accuracy": float(is_right.mean()), "ece": float(ece(truth, normalized)),
            "brier": float(brier(truth, normalized)), "table": table}  # fmt: skip
