"""Evidence for labels of very many classes: one skill for each worker in place of a confusion matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdpilot.aggregation.sparse.candidates import Candidates, find_candidates
from crowdpilot.aggregation.sparse.posterior import Posterior, probability_of
from crowdpilot.arrays import Codes, Floats, sum_by
from crowdpilot.calibration.experience import Evidence
from crowdpilot.calibration.experience.evidence import (
    CLEAR_MARGIN,
    MAX_LOG_ODDS,
    NO_VOTE,
    POOLED_ACCURACY,
    POOLED_COUNTS,
    VARIATION_COUNTS,
    VARIATION_UNIT,
    WORKER_COUNTS,
    confirmed_share,
    design_effect,
)
from crowdpilot.votes import Votes


class SparseEvidence(NamedTuple):
    """The evidence for the labels, and the pool of single votes over the candidate classes."""

    evidence: Evidence  # whose pool has two columns, the label and all other classes
    candidates: Candidates
    pool: Floats  # of each candidate, (candidates,)
    unlisted_pool: Floats  # of each class that is not a candidate, (tasks,)


def collect_sparse_evidence(
    votes: Votes, posterior: Posterior, labels: Codes, prior: Floats
) -> SparseEvidence:
    """The same features as `collect_evidence`, for workers who are right with one probability each.

    A worker of skill a says each of the K - 1 wrong classes with probability (1 - a) / (K - 1).

    Parameters
    ----------
    votes
        Merged, of two or more classes.
    posterior
        Of a model, (tasks, classes), dense or sparse.
    labels
        The label of each task, (tasks,).
    prior
        How the rest of a row of a sparse posterior is spread over the classes, (classes,).
    """
    T, K = posterior.shape
    n, candidates = votes.task_sum(), find_candidates(votes)
    gold = np.full(T, -1, np.int32) if votes.gold is None else votes.gold
    task, weight = votes.task, votes.weights
    confirmed = confirmed_share(n, gold)[task]
    right = confirmed * probability_of(posterior, task, votes.label, prior)
    by_worker, total = votes.worker_sum(right), votes.worker_sum(confirmed)
    pooled = (by_worker.sum() + POOLED_COUNTS * POOLED_ACCURACY) / (total.sum() + POOLED_COUNTS)
    variation = _variation(by_worker, total, pooled, K)
    skill = by_worker[votes.worker] - weight * right + WORKER_COUNTS * pooled
    skill = np.clip(skill / (total[votes.worker] - weight * confirmed + WORKER_COUNTS), 1e-6, 1 - 1e-6)
    wrong = (1 - skill) / (K - 1)
    score = candidates.tally(votes, np.log(skill) - np.log(wrong))
    unlisted_pool = (NO_VOTE / K + votes.task_sum(wrong)) / (n + NO_VOTE)
    pool = (
        unlisted_pool[candidates.task]
        + candidates.tally(votes, skill - wrong) / (n + NO_VOTE)[candidates.task]
    )
    label = np.where(gold >= 0, _best(candidates, score, labels), labels).astype(np.int32)
    is_label = candidates.label == label[candidates.task]
    of_label = sum_by(candidates.task[is_label], pool[is_label], T)
    of_label = np.where(np.bincount(candidates.task[is_label], minlength=T) > 0, of_label, unlisted_pool)
    log_odds = _log_odds(candidates, score / design_effect(n)[candidates.task], is_label)
    decided = np.minimum(_margin(posterior, label, gold, prior) / CLEAR_MARGIN, 1)
    two = np.column_stack([of_label, 1 - of_label])
    features = np.column_stack(
        [decided, log_odds * variation / VARIATION_UNIT, _clipped(np.log(two[:, 0]) - np.log(two[:, 1]))]
    )
    return SparseEvidence(Evidence(label, features, two, variation), candidates, pool, unlisted_pool)


def _variation(right: Floats, total: Floats, pooled: float, K: int) -> float:
    """Root mean squared distance of the rows of workers' confusion matrices from those of all together."""
    if not total.any():
        return 0.0
    excess = (right - total * pooled) / (total + VARIATION_COUNTS)
    return float(np.sqrt((total * excess**2).sum() / total.sum() * (1 + 1 / (K - 1)) / 2))


def _best(candidates: Candidates, score: Floats, labels: Codes) -> Codes:
    """The candidate with the highest score of each task, the first of equals; the label without any."""
    order = np.lexsort((-score, candidates.task))
    some = np.flatnonzero(np.diff(candidates.starts))
    best = labels.copy()
    best[some] = candidates.label[order[candidates.starts[some]]]
    return best


def _log_odds(candidates: Candidates, score: Floats, is_label: np.ndarray) -> Floats:
    """Log-odds of the label of each task against all other classes together, (tasks,)."""
    T = candidates.shape[0]
    of_label = sum_by(candidates.task[is_label], score[is_label], T)
    has_entry = np.bincount(candidates.task[is_label], minlength=T) > 0
    others = candidates.unlisted - ~has_entry  # of score 0
    top = np.maximum(candidates.per_task_max(np.where(is_label, -np.inf, score)), 0.0)
    summed = candidates.per_task(np.where(is_label, 0.0, np.exp(score - top[candidates.task])))
    summed = summed + others * np.exp(-top)
    return _clipped(of_label - top - np.log(np.maximum(summed, 1e-300)))


def _margin(posterior: Posterior, label: Codes, gold: Codes, prior: Floats) -> Floats:
    """Probability of the label minus that of the most probable other class, not below 0; 1 for gold tasks."""
    rows = np.arange(len(label))
    of_label = probability_of(posterior, rows, label, prior)
    if isinstance(posterior, np.ndarray):
        others = np.array(posterior)
        others[rows, label] = 0
        second = others.max(axis=1, initial=0)
    else:
        row = np.repeat(rows, np.diff(posterior.indptr))
        second = np.zeros(len(label))
        np.maximum.at(second, row, np.where(posterior.indices == label[row], 0, posterior.data))
    margin: Floats = np.where(gold >= 0, 1.0, np.maximum(of_label - second, 0))
    return margin


def _clipped(odds: Floats) -> Floats:
    clipped: Floats = np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return clipped
