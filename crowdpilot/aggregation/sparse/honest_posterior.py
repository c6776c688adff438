"""Honest probabilities for dense and sparse posteriors; one skill for each worker where classes are many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdpilot.aggregation.sparse.evidence import SparseEvidence, collect_sparse_evidence
from crowdpilot.aggregation.sparse.posterior import Posterior, probability_of
from crowdpilot.arrays import TIE, Codes, Floats, sum_by
from crowdpilot.calibration.experience import (
    CrowdMap,
    Evidence,
    GoldEvidence,
    HonestPosterior,
    collect_evidence,
    honest_posterior,
)
from crowdpilot.calibration.experience.honest import fit_crowd, min_confidence, spread_confidence
from crowdpilot.votes import Votes

MAX_MATRIX_CELLS = 2**24  # numbers in the confusion matrices of all workers: 128 MiB


def calibrate(
    votes: Votes,
    posterior: Posterior,
    labels: Codes,
    confidence: Floats,
    experience: CrowdMap | None = None,
    unlisted_prior: Floats | None = None,
    gold: GoldEvidence | None = None,
) -> tuple[HonestPosterior, Posterior]:
    """The honest posterior of tasks, and it in the form of the posterior that was given, dense or sparse.

    Where there are too many classes for confusion matrices, the evidence is that of one skill for each
    worker, and `HonestPosterior.probs` has two columns, the label and the rest. If there is one class
    alone, the votes are taken as if there were another that nobody gave.

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
    gold
        Evidence for gold tasks from fits that did not see their gold label; by the posterior if not given.
    """
    votes = votes.merged
    K = len(votes.classes)
    if K == 1:
        two = replace(votes, classes=np.array(["label", "other"]))
        sure = np.column_stack([confidence, 1 - confidence])
        return honest_posterior(two, sure, labels, experience), posterior
    if has_matrices(votes, posterior):
        honest = honest_posterior(votes, np.asarray(posterior), labels, experience, gold)
        return honest, honest.probs
    prior = np.full(K, 1 / K) if unlisted_prior is None else unlisted_prior
    found = collect_sparse_evidence(votes, posterior, labels, prior)
    fit = fit_crowd(votes, found.evidence, experience, gold)
    before = np.where(np.isnan(fit.confidence), confidence, fit.confidence)
    two_columns = np.column_stack([before, 1 - before])
    honest = HonestPosterior(two_columns, fit.accuracy, fit.map, found.evidence, fit.gold, fit.confidence)
    if isinstance(posterior, np.ndarray):
        pool = np.repeat(found.unlisted_pool[:, None], K, axis=1)
        pool[found.candidates.task, found.candidates.label] = found.pool
        return honest, votes.clamp(spread_confidence(posterior, labels, fit.confidence, pool))
    return honest, _spread_sparse(found, posterior, labels, fit.confidence, prior)


def find_evidence(
    votes: Votes, posterior: Posterior, labels: Codes, unlisted_prior: Floats | None = None
) -> Evidence:
    """Evidence for the label of each task, by confusion matrices or, where classes are many, by one skill."""
    K = len(votes.classes)
    if has_matrices(votes, posterior):
        return collect_evidence(votes, np.asarray(posterior), labels)
    prior = np.full(K, 1 / K) if unlisted_prior is None else unlisted_prior
    return collect_sparse_evidence(votes, posterior, labels, prior).evidence


def has_matrices(votes: Votes, posterior: Posterior) -> bool:
    """Whether the posterior is dense and there is memory for a confusion matrix of each worker."""
    cells = len(votes.workers) * len(votes.classes) ** 2
    return isinstance(posterior, np.ndarray) and cells <= MAX_MATRIX_CELLS


def _spread_sparse(
    found: SparseEvidence, posterior: csr_array, labels: Codes, confidence: Floats, prior: Floats
) -> csr_array:
    """A sparse posterior with this confidence of labels: the same as `spread_confidence` of the dense one."""
    T, K = posterior.shape
    matrix = _with_labels(posterior, labels, ~np.isnan(confidence))
    listed = np.diff(matrix.indptr)
    row = np.repeat(np.arange(T), listed)
    tied = _tied(matrix, row, labels)
    n = np.bincount(row[tied], minlength=T)
    above = probability_of(
        found.candidates.to_matrix(found.pool - found.unlisted_pool[found.candidates.task]),
        row,
        matrix.indices,
    )
    pool = found.unlisted_pool[row] + above
    each = np.where(n > 1, sum_by(row[tied], pool[tied], T) / np.maximum(n, 1), confidence)
    others = np.where(tied, 0.0, pool)
    unlisted = found.unlisted_pool * (K - listed)  # of all classes without an entry together
    rest = sum_by(row, others, T) + unlisted
    unlisted_prior = np.where(listed < K, 1 - sum_by(row, prior[matrix.indices], T), 1)
    largest = unlisted * prior.max() / np.maximum(unlisted_prior, TIE)
    np.maximum.at(largest, row, others)
    rest = np.where(rest > 0, rest, 1)
    each = np.where(n == K, 1 / K, np.maximum(each, min_confidence(n, np.minimum(largest / rest, 1))))
    values = np.where(tied, each[row], others * ((1 - n * each) / rest)[row])
    matrix.data = np.where(np.isnan(confidence)[row], matrix.data, values)
    return matrix


def _with_labels(posterior: csr_array, labels: Codes, tasks: NDArray[np.bool_]) -> csr_array:
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
    order = np.lexsort((columns, rows))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(rows, minlength=T))])
    return csr_array((data[order], columns[order], starts), (T, K))


def _tied(matrix: csr_array, row: NDArray[np.int_], labels: Codes) -> NDArray[np.bool_]:
    """Which entries are as probable as the label, if no listed class is more probable, (entries,)."""
    top = np.zeros(matrix.shape[0])
    np.maximum.at(top, row, matrix.data)
    is_label = matrix.indices == labels[row]
    tied = matrix.data >= top[row] - TIE
    label_is_top = np.zeros(len(top), bool)
    label_is_top[row[is_label & tied]] = True
    return np.where(label_is_top[row], tied, is_label)
