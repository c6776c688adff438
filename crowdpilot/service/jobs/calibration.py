"""Calibrate: how honest beliefs and machine are, by known classes and by votes that were left out."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, divide
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.metrics import brier, ece
from crowdpilot.metrics.binning import equal_width
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.row import Record

BINS = 10
MOST = 20_000  # votes that are looked at
Rows = NDArray[np.intp]


def is_measurable(replica: Replica) -> bool:
    """Whether there are known classes or a machine."""
    return any(q.machine is not None or (q.gold >= 0).any() for q in replica.campaign.questions)


def calibrate(bench: Bench, job: Record) -> dict[str, Any]:
    """For each question: what was believed against what is known of it, and against each single vote."""
    replica, project = bench.replica(job.project)
    campaign = replica.campaign
    rng = np.random.default_rng(campaign.plan.seed)
    measured = {
        name: {"gold": _by_gold(question), "votes": _by_votes(question, rng)}
        for name, question in zip(campaign.criteria, campaign.questions, strict=True)
    }
    return {"votes": project.votes, "made": time.time(), "questions": measured}


def _by_gold(question: Question) -> dict[str, Any] | None:
    """Items whose class is known, as if it were not."""
    rows = np.flatnonzero((question.gold >= 0) & question.tally.any(axis=1))
    if len(rows) == 0:
        return None
    truth = question.gold[rows]
    found = {"beliefs": honesty(truth, believed(question, rows, question.heard[rows]))}
    if (said := question.machine_of(rows)) is not None:
        found["machine"] = honesty(truth, said)
    return found


def _by_votes(question: Question, rng: np.random.Generator) -> dict[str, Any] | None:
    """Each vote as it would be foreseen from all others on the same item."""
    votes = question.votes()
    if len(votes) == 0:
        return None
    some = rng.choice(len(votes), min(MOST, len(votes)), replace=False)
    rows, who, said = (codes[some].astype(np.intp) for codes in (votes.task, votes.worker, votes.label))
    others = question.heard[rows] - question.logs[who, :, said]
    voters = np.exp(question.logs[who])  # (votes, true, said)
    belief = believed(question, rows, others)
    found = {"beliefs": honesty(said, np.einsum("nk,nkl->nl", belief, voters))}
    if (machine := question.machine_of(rows)) is not None:
        found["machine"] = honesty(said, np.einsum("nk,nkl->nl", machine, voters))
    return found


def believed(question: Question, rows: Rows, heard: Floats) -> Floats:
    """What is believed of items after these votes, were their classes not known."""
    if question.machine is None:
        heard = question.join.faith * heard
    return question.join(question.calibrated(rows), heard, question.prior)


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
