"""The table of tasks: confidence, entropy, difficulty, votes still needed, and rank for review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats, divide, to_probs
from crowdpilot.diagnosis.false_discovery_rate import Flags
from crowdpilot.diagnosis.votes_needed import more_votes
from crowdpilot.diagnosis.workers import Columns


def task_table(
    result: Aggregate,
    difficulty: Floats,
    changed: Flags,
    *,
    target: float = 0.9,
    scores: Mapping[str, Floats] | None = None,
) -> Columns:
    """Every score of every task, and its rank for review.

    Parameters
    ----------
    result
        Labels, with honest probabilities.
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
        "more_votes": more_votes(result, target),
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
