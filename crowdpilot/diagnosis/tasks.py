"""Which tasks are hard, which labels are doubtful, and what more votes would bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, xlogy

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats, divide, to_probs
from crowdpilot.diagnosis.false_discoveries import Flags
from crowdpilot.diagnosis.leave_one_out import TINY, Evidence
from crowdpilot.diagnosis.workers import Columns

MOST = 999  # votes that are asked for at most


def table_of_tasks(
    result: Aggregate,
    evidence: Evidence,
    difficulty: Floats,
    changed: Flags,
    *,
    target: float = 0.95,
    scores: Mapping[str, Floats] | None = None,
) -> Columns:
    """Every score of every task, and the order in which people should look at them.

    Parameters
    ----------
    result, evidence
        Labels, and what the votes say about each other.
    difficulty
        (tasks,); by GLAD.
    changed
        (tasks,); whether the label is another without the flagged workers.
    target
        Confidence that a label should have.
    scores
        Further columns, such as AUM or WAUM of a classifier; one number for each task.
    """
    votes, tally = result.votes, result.votes.tally()
    count = np.bincount(votes.task, minlength=len(votes.tasks))
    order = np.sort(result.probs, axis=1)[:, ::-1]
    right, spread = result.probs[votes.task, votes.label], entropy(to_probs(tally))
    ours = tally[np.arange(len(tally)), result.codes] == tally.max(axis=1)  # a tie is no other majority
    majority = np.where(ours, result.codes, tally.argmax(axis=1))
    columns: Columns = {
        "task": votes.tasks,
        "label": result.labels,
        "confidence": result.confidence,
        "votes": count,
        "expected_accuracy": divide(np.bincount(votes.task, right, len(count)), count),
        "vote_entropy": np.where(count > 0, spread, np.nan),
        "entropy": entropy(result.probs),
        "margin": order[:, 0] - (order[:, 1] if order.shape[1] > 1 else 0),
        "difficulty": difficulty,
        "more_votes": more_votes(result.probs, evidence.crowd, target),
        "majority": votes.classes[majority],
        "changed": changed,
        "review": _rank(result.confidence, spread),
        "why": _why(result, tally, count, changed),
    }
    for name, values in (scores or {}).items():
        if np.shape(values) != (len(votes.tasks),):
            raise ValueError(f"{name} has shape {np.shape(values)}, expected ({len(votes.tasks)},)")
        columns[name] = np.asarray(values, np.float64)
    return columns


def entropy(probs: Floats) -> Floats:
    """Entropy of each row, as a share of the largest there can be: 0 certain, 1 even."""
    nats = -xlogy(probs, probs).sum(axis=1)
    scaled: Floats = np.maximum(nats, 0) / np.log(max(probs.shape[1], 2))
    return scaled


def more_votes(probs: Floats, crowd: Floats, target: float) -> NDArray[np.int64]:
    """Votes of typical workers that each task still needs until its label is as sure as the target.

    A vote on a task of class k adds, on average, the Kullback-Leibler divergence of row k of the
    crowd's confusion matrix from the row of the strongest rival to the log-odds of k (Wald, The
    Annals of Mathematical Statistics 16(2), 1945). At most 999, which also says: such workers
    cannot tell the two classes apart.

    Examples
    --------
    >>> crowd = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> more_votes(np.array([[0.5, 0.5], [0.9, 0.1], [0.99, 0.01]]), crowd, 0.95).tolist()
    [4, 1, 0]
    """
    if probs.shape[1] < 2:
        return np.zeros(len(probs), np.int64)
    first, second = np.argsort(-probs, axis=1, kind="stable")[:, :2].T
    logs = np.log(np.maximum(crowd, TINY))
    gain = (crowd * logs).sum(axis=1)[:, None] - crowd @ logs.T  # (true, rival)
    sure = np.clip(probs.max(axis=1), 1 / probs.shape[1], 1 - np.finfo(float).eps)
    steps = (logit(target) - logit(sure)) / np.maximum(gain[first, second], np.finfo(float).eps)
    wanted: NDArray[np.int64] = np.clip(np.ceil(steps - 1e-9), 0, MOST).astype(np.int64)
    return wanted


def _rank(confidence: Floats, spread: Floats) -> NDArray[np.int64]:
    """1 for the task to look at first: the least sure, and of equals the one with the most even votes."""
    rank = np.empty(len(confidence), np.int64)
    rank[np.lexsort((-spread, confidence))] = np.arange(1, len(confidence) + 1)
    return rank


def _why(result: Aggregate, tally: Floats, count: NDArray[np.int64], changed: Flags) -> NDArray[Any]:
    """Why each task is worth a look, in a few words; nothing if it is not."""
    top = tally.max(axis=1)
    mine = tally[np.arange(len(tally)), result.codes]
    gold = np.zeros(len(count), bool) if result.votes.gold is None else result.votes.gold >= 0
    reasons = [
        (gold, "known class"),
        (count == 0, "no vote"),
        (changed, "label hangs on flagged workers"),
        (mine < top, "label is not the majority's"),
        ((count > 1) & ((tally == top[:, None]).sum(axis=1) > 1), "votes are tied"),
        (count == 1, "only one vote"),
        (2 * top < tally.sum(axis=1), "no label has half of the votes"),
        (top < tally.sum(axis=1), "votes differ"),
    ]
    return np.select([c for c, _ in reasons], [w for _, w in reasons], "").astype(object)
