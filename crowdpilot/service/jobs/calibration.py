"""Calibrate: how honest beliefs and machine are, by known classes and by votes that were left out."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, divide
from crowdpilot.hybrid import Estimates
from crowdpilot.metrics import brier, ece
from crowdpilot.metrics.confidence_bins import equal_width
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.engine import Row
from crowdpilot.votes import Votes

BINS = 10
MOST = 20_000  # votes that are looked at


def is_measurable(replica: Replica) -> bool:
    """Whether there are known classes or a machine."""
    view = replica.campaign.view
    estimates = [view.estimates(criterion) for criterion in replica.campaign.criteria]
    return bool((view.items().gold >= 0).any()) or any(e.classifier_probs is not None for e in estimates)


def calibrate(bench: Bench, job: Row) -> dict[str, Any]:
    """For each question: what was believed against what is known of it, and against each single vote."""
    replica, project = bench.replica(job.project)
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
    """Items whose class is known, as if it were not."""
    voted = np.unique(votes.task).astype(np.intp)
    rows = voted[votes.gold[voted] >= 0] if votes.gold is not None else voted[:0]
    if votes.gold is None or len(rows) == 0:
        return None
    truth = votes.gold[rows]
    posterior = estimates.posterior_under(rows, estimates.log_likelihood[rows])
    found = {"beliefs": honesty(truth, posterior)}
    if estimates.calibrated_probs is not None:
        found["machine"] = honesty(truth, estimates.calibrated_probs[rows])
    return found


def _by_votes(estimates: Estimates, votes: Votes, rng: np.random.Generator) -> dict[str, Any] | None:
    """Each vote as predicted from all others on the same item."""
    if len(votes) == 0:
        return None
    some = rng.choice(len(votes), min(MOST, len(votes)), replace=False)
    rows, who, said = (codes[some].astype(np.intp) for codes in (votes.task, votes.worker, votes.label))
    others = estimates.log_likelihood[rows] - estimates.log_confusion[who, :, said]
    confusion = np.exp(estimates.log_confusion[who])  # (votes, true, said)
    posterior = estimates.posterior_under(rows, others)
    found = {"beliefs": honesty(said, np.einsum("nk,nkl->nl", posterior, confusion))}
    if estimates.calibrated_probs is not None:
        probs = estimates.calibrated_probs[rows]
        found["machine"] = honesty(said, np.einsum("nk,nkl->nl", probs, confusion))
    return found


def honesty(truth: NDArray[Any], probs: Floats) -> dict[str, Any]:
    """Calibration error, Brier score, and how often what is said with some confidence is right."""
    sure, right = probs.max(axis=1), probs.argmax(axis=1) == truth
    bins = equal_width(sure, BINS)
    n = np.bincount(bins, minlength=BINS)
    mean, share = (
        divide(np.bincount(bins, values, minlength=BINS), n, 0.0) for values in (sure, right.astype(float))
    )
    table = [
        {"from": k / BINS, "to": (k + 1) / BINS, "n": int(n[k]), "confidence": float(mean[k]),
         "right": float(share[k])}
        for k in np.flatnonzero(n)
    ]  # fmt: skip
    whole = probs / probs.sum(axis=1, keepdims=True)
    return {"n": len(truth), "accuracy": float(right.mean()), "ece": float(ece(truth, whole)),
            "brier": float(brier(truth, whole)), "table": table}  # fmt: skip
