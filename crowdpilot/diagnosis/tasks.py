"""The table of tasks: confidence, entropy, difficulty, votes still needed, and rank for review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, xlogy

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats, divide, to_probs
from crowdpilot.diagnosis.false_discovery_rate import Flags
from crowdpilot.diagnosis.leave_one_out import MIN_PROBABILITY, LeaveOneOut
from crowdpilot.diagnosis.workers import Columns

MAX_MORE_VOTES = 999  # needed by a task; also where more votes would not help


def task_table(
    result: Aggregate,
    loo: LeaveOneOut,
    difficulty: Floats,
    changed: Flags,
    *,
    target: float = 0.95,
    scores: Mapping[str, Floats] | None = None,
) -> Columns:
    """Every score of every task, and its rank for review.

    Parameters
    ----------
    result, loo
        Labels, and the leave-one-out posteriors of the votes.
    difficulty
        (tasks,); by GLAD.
    changed
        (tasks,); whether the label changes without the flagged workers.
    target
        Confidence that a label should have.
    scores
        Further columns, such as AUM or WAUM of a classifier; one number for each task.
    """
    votes, tally = result.votes, result.votes.tally()
    count = np.bincount(votes.task, minlength=len(votes.tasks))
    order = np.sort(result.probs, axis=1)[:, ::-1]
    p_correct, vote_entropy = result.probs[votes.task, votes.label], entropy(to_probs(tally))
    is_majority = tally[np.arange(len(tally)), result.codes] == tally.max(axis=1)  # ties included
    majority = np.where(is_majority, result.codes, tally.argmax(axis=1))
    columns: Columns = {
        "task": votes.tasks,
        "label": result.labels,
        "confidence": result.confidence,
        "votes": count,
        "expected_accuracy": divide(np.bincount(votes.task, p_correct, len(count)), count),
        "vote_entropy": np.where(count > 0, vote_entropy, np.nan),
        "entropy": entropy(result.probs),
        "margin": order[:, 0] - (order[:, 1] if order.shape[1] > 1 else 0),
        "difficulty": difficulty,
        "more_votes": more_votes(result.probs, loo.crowd_confusion, target),
        "majority": votes.classes[majority],
        "changed": changed,
        "review": _review_rank(result.confidence, vote_entropy),
        "why": _reasons(result, tally, count, changed),
    }
    for name, values in (scores or {}).items():
        if np.shape(values) != (len(votes.tasks),):
            raise ValueError(f"{name} has shape {np.shape(values)}, expected ({len(votes.tasks)},)")
        columns[name] = np.asarray(values, np.float64)
    return columns


def entropy(probs: Floats) -> Floats:
    """Entropy of each row of (tasks, classes) divided by its maximum, (tasks,): 0 certain, 1 uniform."""
    nats = -xlogy(probs, probs).sum(axis=1)
    scaled: Floats = np.maximum(nats, 0) / np.log(max(probs.shape[1], 2))
    return scaled


def more_votes(probs: Floats, crowd_confusion: Floats, target: float) -> NDArray[np.int64]:
    """Votes of typical workers that each task still needs to reach the target confidence, (tasks,).

    A vote on a task of class k adds, on average, the Kullback-Leibler divergence of row k of the
    crowd's confusion matrix from the row of the second most probable class to the log-odds of k
    (sequential probability ratio test: Wald, The Annals of Mathematical Statistics 16(2), 1945). At
    most 999, also where such workers cannot tell the two classes apart.

    Parameters
    ----------
    probs
        Posterior of the tasks, (tasks, classes).
    crowd_confusion
        (true, said).
    target
        Confidence that a label should have.

    Examples
    --------
    >>> crowd = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> more_votes(np.array([[0.5, 0.5], [0.9, 0.1], [0.99, 0.01]]), crowd, 0.95).tolist()
    [4, 1, 0]
    """
    if probs.shape[1] < 2:
        return np.zeros(len(probs), np.int64)
    first, second = np.argsort(-probs, axis=1, kind="stable")[:, :2].T
    logs = np.log(np.maximum(crowd_confusion, MIN_PROBABILITY))
    gain = (crowd_confusion * logs).sum(axis=1)[:, None] - crowd_confusion @ logs.T  # (true, rival)
    confidence = np.clip(probs.max(axis=1), 1 / probs.shape[1], 1 - np.finfo(float).eps)
    steps = (logit(target) - logit(confidence)) / np.maximum(gain[first, second], np.finfo(float).eps)
    needed: NDArray[np.int64] = np.clip(np.ceil(steps - 1e-9), 0, MAX_MORE_VOTES).astype(np.int64)
    return needed


def _review_rank(confidence: Floats, vote_entropy: Floats) -> NDArray[np.int64]:
    """Rank by confidence, the lowest first, then by the entropy of the votes, (tasks,); from 1."""
    rank = np.empty(len(confidence), np.int64)
    rank[np.lexsort((-vote_entropy, confidence))] = np.arange(1, len(confidence) + 1)
    return rank


def _reasons(result: Aggregate, tally: Floats, count: NDArray[np.int64], changed: Flags) -> NDArray[Any]:
    """Why each task should be reviewed, in a few words, (tasks,); empty if it need not be."""
    top = tally.max(axis=1)
    votes_for_label = tally[np.arange(len(tally)), result.codes]
    gold = np.zeros(len(count), bool) if result.votes.gold is None else result.votes.gold >= 0
    reasons = [
        (gold, "known class"),
        (count == 0, "no vote"),
        (changed, "label depends on flagged workers"),
        (votes_for_label < top, "label is not the majority's"),
        ((count > 1) & ((tally == top[:, None]).sum(axis=1) > 1), "votes are tied"),
        (count == 1, "only one vote"),
        (2 * top < tally.sum(axis=1), "no label has half of the votes"),
        (top < tally.sum(axis=1), "votes differ"),
    ]
    conditions, texts = [condition for condition, _ in reasons], [text for _, text in reasons]
    return np.select(conditions, texts, "").astype(object)
