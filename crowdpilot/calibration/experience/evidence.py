"""Evidence for the label of each task: three numbers on which the probability that it is right depends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, softmax, softmax_
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.votes import Votes

FEATURES = ("decided", "votes", "pool")

POOLED_COUNTS = 10.0  # pseudo-votes for each class in the matrix of all workers together ...
POOLED_ACCURACY = 0.7  # ... of which this share is right
WORKER_COUNTS = 6.0  # pseudo-votes for each class in the matrix of a worker, by the matrix of all
VARIATION_COUNTS = 2.0  # the same, where the variation between workers is measured
VARIATION_UNIT = 0.2  # between workers, as in a usual crowd
CORRELATION = 0.1  # between the errors on one task
CLEAR_MARGIN = 0.05  # between the probabilities of the label and the next class, by the model
NO_VOTE = 0.3  # weight of equal probabilities in the pool of single votes
MAX_LOG_ODDS = 12.0
MAX_CHUNK = 2**19  # numbers in an array of (votes, classes)
MANY_VOTES = 2**20  # above which all cores work
MAX_THREADS = 8


Chunk = tuple[slice, NDArray[np.int64], NDArray[np.int64]]  # rows of votes, where tasks begin, the tasks


class Evidence(NamedTuple):
    """What the votes say about the label of each task."""

    label: Codes  # (tasks,)
    features: Floats  # (tasks, len(FEATURES))
    pool: Floats  # mean of what each vote alone would say, (tasks, classes)
    variation: float  # between the confusion matrices of workers, 0 if they are all alike


def collect_evidence(votes: Votes, posterior: Floats, labels: Codes) -> Evidence:
    """The features of the label of each task.

    Errors come from two sources. Where workers differ, errors are their own: they are independent, and a
    sum of log-likelihoods is right. Where workers are alike, errors come with the task, which is hard or
    misleading for everybody: more votes of that kind say nothing new, and the share of votes is all there
    is to know. So the features are

    - decided: one, and less down to zero where two classes are nearly tied: the label of a tie is right
      as often as the other;
    - votes: the log-odds of the label from the sum of the log-likelihoods of the votes, divided by
      1 + (n - 1) CORRELATION, the design effect of n votes with correlated errors, and multiplied by the
      variation between the confusion matrices of workers;
    - pool: the log-odds of the label from the mean of the probabilities that each vote alone would give
      (a linear opinion pool), which does not grow with the number of votes.

    The confusion matrix of a worker is estimated from the posterior, without the task that it is used for,
    and shrunk to the matrix of all workers. A vote on a task of n votes counts (n - 1) / n there, since a
    vote that nobody else could contradict confirms nothing; on a task with a gold label it counts in full.

    Parameters
    ----------
    votes
        Merged (see `Votes.merged`), of two or more classes, with gold labels of some tasks if there are any.
    posterior
        Of a model, (tasks, classes), with gold labels as known.
    labels
        The label of each task, (tasks,). That of a task with a gold label is replaced by the label
        that its votes would have given it.
    """
    K = len(votes.classes)
    n = votes.task_sum()
    gold = np.full(len(votes.tasks), -1, np.int32) if votes.gold is None else votes.gold
    confirmed = confirmed_share(n, gold)[:, None]
    counts = count_labels(votes, posterior * confirmed)  # (workers, true, said)
    pooled = _pooled(counts)
    totals = counts.sum(axis=2)
    variation = _variation(counts, totals, pooled)
    summed, pool = np.zeros((len(n), K)), np.full((len(n), K), NO_VOTE / K)

    def add(chunk: Chunk) -> None:
        part, first, tasks = chunk
        task, worker, label = votes.task[part], votes.worker[part], votes.label[part]
        weight = votes.weights[part][:, None]
        own = posterior[task] * (confirmed[task] * weight)
        said = counts[worker, :, label] - own + WORKER_COUNTS * pooled[:, label].T
        total = totals[worker] - own + WORKER_COUNTS
        log_vote = np.log(np.maximum(said, 1e-6)) - np.log(np.maximum(total, 1e-6))
        alone = softmax(log_vote)
        summed[tasks] = np.add.reduceat(weight * np.log(np.maximum(alone, 1e-12)), first)
        pool[tasks] += np.add.reduceat(weight * alone, first)

    _for_each(add, _chunks(votes), threads=len(votes) > MANY_VOTES)
    pool /= pool.sum(axis=1, keepdims=True)
    label = _labels_without_gold(labels, gold, summed, posterior)
    summed /= design_effect(n)[:, None]
    softmax_(summed)
    log_odds = _log_odds(summed, label)
    decided = np.minimum(_margin(posterior, label, gold) / CLEAR_MARGIN, 1)
    features = np.column_stack([decided, log_odds * variation / VARIATION_UNIT, _log_odds(pool, label)])
    return Evidence(label, features, pool, variation)


def confirmed_share(n: Floats, gold: Codes) -> Floats:
    """How much a vote on each task counts for the skill of its worker, (tasks,); `n` is the weight of all."""
    share: Floats = np.where(gold >= 0, 1.0, np.maximum(n - 1, 0) / np.maximum(n, 1))
    return share


def design_effect(n: Floats) -> Floats:
    """By how much n votes with correlated errors say less than n independent ones, (tasks,)."""
    effect: Floats = 1 + np.maximum(n - 1, 0) * CORRELATION
    return effect


def _pooled(counts: Floats) -> Floats:
    """One confusion matrix for all workers, (true, said)."""
    K = counts.shape[1]
    usual = np.full((K, K), (1 - POOLED_ACCURACY) / (K - 1))
    np.fill_diagonal(usual, POOLED_ACCURACY)
    pooled: Floats = counts.sum(axis=0) + POOLED_COUNTS * usual
    pooled /= pooled.sum(axis=1, keepdims=True)
    return pooled


def _variation(counts: Floats, totals: Floats, pooled: Floats) -> float:
    """Root mean squared distance of the rows of workers' matrices from those of the matrix of all."""
    if not totals.any():
        return 0.0
    excess = counts - totals[:, :, None] * pooled
    squared = np.einsum("wkl,wkl->wk", excess, excess) / (totals + VARIATION_COUNTS) ** 2 / 2
    return float(np.sqrt((totals * squared).sum() / totals.sum()))


def _labels_without_gold(labels: Codes, gold: Codes, summed: Floats, posterior: Floats) -> Codes:
    """The labels, with those of gold tasks as their votes would give them."""
    prior = posterior.sum(axis=0) + 1
    by_votes = (summed + np.log(prior / prior.sum())).argmax(axis=1)
    return np.where(gold >= 0, by_votes, labels).astype(np.int32)


def _margin(posterior: Floats, label: Codes, gold: Codes) -> Floats:
    """Probability of the label minus that of the most probable other class, not below 0; 1 for gold tasks."""
    rows = np.arange(len(label))
    others = np.array(posterior, np.float64)
    others[rows, label] = 0
    margin: Floats = np.maximum(posterior[rows, label] - others.max(axis=1), 0)
    return np.where(gold >= 0, 1.0, margin)


def _log_odds(probs: Floats, label: Codes) -> Floats:
    """Log-odds of one class of each row."""
    p = probs[np.arange(len(label)), label]
    others = np.maximum(probs.sum(axis=1) - p, 1e-9)
    odds: Floats = np.clip(np.log(np.maximum(p, 1e-9)) - np.log(others), -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return odds


def _chunks(votes: Votes) -> Iterator[Chunk]:
    """Parts of the votes that end with a task: their rows, where each task begins in them, the tasks."""
    voted = np.flatnonzero(np.diff(votes.starts))
    step = max(1, MAX_CHUNK // (len(votes.classes) * max(1, -(-len(votes) // max(len(voted), 1)))))
    for n in range(0, len(voted), step):
        tasks = voted[n : n + step]
        begin, end = votes.starts[tasks[0]], votes.starts[tasks[-1] + 1]
        yield slice(begin, end), votes.starts[tasks] - begin, tasks


def _for_each(work: Callable[[Chunk], None], chunks: Iterator[Chunk], *, threads: bool) -> None:
    """Do some work on each chunk, on all cores if there are many votes; chunks share no task."""
    if not threads:
        for chunk in chunks:
            work(chunk)
        return
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_THREADS)) as pool:
        list(pool.map(work, chunks))
