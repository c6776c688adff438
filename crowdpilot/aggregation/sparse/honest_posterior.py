"""Honest probabilities for dense and sparse posteriors: many classes as votes for and against each label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from crowdpilot.aggregation.sparse.candidates import find_candidates
from crowdpilot.aggregation.sparse.posterior import Posterior, probability_of
from crowdpilot.arrays import TIE, Codes, Floats, sum_by
from crowdpilot.calibration.experience import CrowdMap, HonestPosterior, honest_posterior
from crowdpilot.calibration.experience.evidence import NO_VOTE
from crowdpilot.calibration.experience.honest import min_confidence, spread_confidence
from crowdpilot.votes import Votes

MAX_MATRIX_CELLS = 2**24  # numbers in the confusion matrices of all workers: 128 MiB


def calibrate(
    votes: Votes,
    posterior: Posterior,
    labels: Codes,
    confidence: Floats,
    experience: CrowdMap | None = None,
    unlisted_prior: Floats | None = None,
) -> tuple[HonestPosterior, Posterior]:
    """The honest posterior of tasks, and it in the form of the posterior that was given, dense or sparse.

    Where there are too many classes for confusion matrices, votes are taken as for or against the label of
    their task; `HonestPosterior.probs` has two columns then, the label and the rest.

    Parameters
    ----------
    votes
        With gold labels of some tasks if there are any.
    posterior
        Of a model, (tasks, classes).
    labels, confidence
        The label of each task and its probability in the posterior, (tasks,).
    experience
        The distribution of coefficients over crowds; that of the package if not given.
    unlisted_prior
        How the rest of a row of a sparse posterior is spread over the classes; equally if not given.
    """
    votes = votes.merged
    K = len(votes.classes)
    if isinstance(posterior, np.ndarray) and K > 1 and len(votes.workers) * K * K <= MAX_MATRIX_CELLS:
        honest = honest_posterior(votes, posterior, labels, experience)
        return honest, honest.probs
    two = _for_and_against(votes, _labels_by_votes(votes, labels))
    two_classes = two.clamp(np.column_stack([confidence, 1 - confidence]))
    honest = honest_posterior(two, two_classes, np.zeros_like(labels), experience, keep_labels=True)
    if K == 1:
        return honest, posterior
    if isinstance(posterior, np.ndarray):
        pool = votes.tally() + NO_VOTE / K
        pool /= pool.sum(axis=1, keepdims=True)
        return honest, votes.clamp(spread_confidence(posterior, labels, honest.confidence, pool))
    prior = np.full(K, 1 / K) if unlisted_prior is None else unlisted_prior
    return honest, _spread_sparse(votes, posterior, labels, honest.confidence, prior)


def _labels_by_votes(votes: Votes, labels: Codes) -> Codes:
    """The labels, with the most frequent label of their votes for gold tasks."""
    if votes.gold is None:
        return labels
    candidates = find_candidates(votes)
    weight = np.where(candidates.weight > 0, candidates.weight, -1.0)
    order = np.lexsort([-weight, candidates.task])  # the first of a task has most votes
    first = candidates.starts[:-1]
    some = np.flatnonzero(np.diff(candidates.starts))
    most = labels.copy()
    most[some] = candidates.label[order[first[some]]]
    return np.where(votes.gold >= 0, most, labels).astype(np.int32)


def _for_and_against(votes: Votes, labels: Codes) -> Votes:
    """The votes as votes for or against the label of each task: two classes, "label" and "other"."""
    against = (votes.label != labels[votes.task]).astype(np.int32)
    gold = None
    if votes.gold is not None:
        gold = np.where(votes.gold < 0, -1, votes.gold != labels).astype(np.int32)
    return replace(votes, label=against, classes=np.array(["label", "other"]), gold=gold).merged


def _spread_sparse(
    votes: Votes, posterior: csr_array, labels: Codes, confidence: Floats, prior: Floats
) -> csr_array:
    """A sparse posterior whose labels have this confidence; the same as `spread_confidence` of the dense one.

    The pool are the shares of votes.
    """
    T, K = posterior.shape
    matrix = _with_labels(posterior, labels, ~np.isnan(confidence))
    listed = np.diff(matrix.indptr)
    row = np.repeat(np.arange(T), listed)
    tied = _tied(matrix, row, labels)
    candidates = find_candidates(votes)
    total = votes.task_sum() + NO_VOTE
    pool = probability_of(candidates.to_matrix(candidates.weight), row, matrix.indices) + NO_VOTE / K
    pool /= total[row]
    n = np.bincount(row[tied], minlength=T)
    each = np.where(n > 1, sum_by(row[tied], pool[tied], T) / np.maximum(n, 1), confidence)
    others = np.where(tied, 0.0, pool)
    unlisted = NO_VOTE * (K - listed) / K / total
    rest = sum_by(row, others, T) + unlisted
    unlisted_mass = np.where(listed < K, 1 - sum_by(row, prior[matrix.indices], T), 1)
    largest = unlisted * prior.max() / np.maximum(unlisted_mass, TIE)
    np.maximum.at(largest, row, others)
    rest = np.where(rest > 0, rest, 1)
    each = np.where(n == K, 1 / K, np.maximum(each, min_confidence(n, np.minimum(largest / rest, 1))))
    values = np.where(tied, each[row], others * ((1 - n * each) / rest)[row])
    matrix.data = np.where(np.isnan(confidence)[row], matrix.data, values)
    return matrix


def _with_labels(posterior: csr_array, labels: Codes, tasks: np.ndarray) -> csr_array:
    """The same sparse matrix with an entry, perhaps zero, for the label of each of these tasks."""
    T, K = posterior.shape
    row = np.repeat(np.arange(T), np.diff(posterior.indptr))
    has = np.zeros(T, bool)
    has[row[posterior.indices == labels[row]]] = True
    missing = np.flatnonzero(tasks & ~has)
    if len(missing) == 0:
        return posterior.copy()
    rows, columns = np.concatenate([row, missing]), np.concatenate([posterior.indices, labels[missing]])
    data = np.concatenate([posterior.data, np.zeros(len(missing))])
    order = np.lexsort([columns, rows])
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(rows, minlength=T))])
    return csr_array((data[order], columns[order], starts), (T, K))


def _tied(matrix: csr_array, row: np.ndarray, labels: Codes) -> np.ndarray:
    """Which entries are as probable as the label, if no listed class is more probable, (entries,)."""
    top = np.zeros(matrix.shape[0])
    np.maximum.at(top, row, matrix.data)
    is_label = matrix.indices == labels[row]
    tied = matrix.data >= top[row] - TIE
    label_is_top = np.zeros(len(top), bool)
    label_is_top[row[is_label & tied]] = True
    return np.where(label_is_top[row], tied, is_label)
