"""Fusion: labels from votes and a classifier, weighted by what other crowds taught and by held-out votes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from crowdpilot.aggregation.base import MAX_CELLS, Aggregate, expected_worker_accuracy
from crowdpilot.aggregation.classifier_probs import ClassifierAggregator
from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.calibration import FusionWeights, Vector, fit_fusion, fit_held_out_votes
from crowdpilot.calibration.base import MIN_PROB, raise_to_floor
from crowdpilot.calibration.sample import MIN_TASKS
from crowdpilot.votes import Votes

ITERATIONS = 10  # of posterior and confusion matrices
CROWD_VOTES = 50.0  # pseudo-votes for each class in the matrix of the crowd
HELD_OUT_VOTES = 200.0  # with so many held-out votes, their weights move the weights half as far
HELD_OUT_RANGE = (0.4, 2.0)  # of the weights that held-out votes prefer, relative to the usual ones
MAX_HELD_OUT = 8.0  # weight that held-out votes may prefer
GOLD_PRECISION = 5.0  # of the logarithm of a weight, between crowds
MAX_VOTE_NUMBERS = 2**23  # in an array of (votes, classes); of more votes a part is held out
MAX_MATRIX_NUMBERS = MAX_CELLS // 4  # in the confusion matrices of all workers; if more, they have skills


class FusionExperience(NamedTuple):
    """What crowds with a classifier and known truth taught.

    Parameters
    ----------
    weights
        Of least log-loss.
    held_out
        Those that held-out votes prefer, geometric means.
    power
        Of the weights that held-out votes prefer, relative to these means.
    crowd_accuracy
        Of a crowd, before any vote is seen.
    skill_votes
        Pseudo-votes of a worker with the accuracy of the crowd.
    matrix_votes
        Pseudo-votes of a worker for each class, by the matrix of the crowd and the worker's skill.
    """

    weights: FusionWeights
    held_out: FusionWeights
    power: float
    crowd_accuracy: float
    skill_votes: float
    matrix_votes: float


# Learned by `python -m benchmarks.fusion` from 18 sets in 12 groups; see benchmarks/results/fusion.md.
EXPERIENCE = FusionExperience(FusionWeights(0.83, 0.57), FusionWeights(1.24, 0.92), 0.5, 0.7, 20.0, 6.0)


class Evidence(NamedTuple):
    """What classifier and votes say about each task, and about each other."""

    classifier: Floats  # what a vote on the task would be by the classifier, (tasks, classes)
    log_likelihood: Floats  # of the votes on the task, divided by the root of their number, (tasks, classes)
    held_out: FusionWeights | None  # weights that held-out votes prefer; None if no task has two votes
    held_out_votes: int
    confusion: Floats  # of the crowd, [true, said]


@dataclass(frozen=True)
class Fusion(ClassifierAggregator):
    """log P(k) = a log q[k] + b / sqrt(n) · Σ over n votes of log confusion[worker, k, said] + const.

    q are the classifier's probabilities after vector scaling, fitted so that they predict single votes;
    a vote needs no truth, and the scaling makes classifiers that are too sure or too unsure alike. The root
    of n is because votes on a task are not independent: some items mislead everybody. Confusion matrices
    come from a few rounds of EM. A worker's matrix is shrunk to that of the crowd with the worker's own
    skill; none is estimated from the task that it is used for.

    The weights a and b of experience are those of least log-loss on other crowds whose truth is known. Where
    tasks have two votes or more, they move towards the weights under which each vote is predicted best from
    the classifier and the other votes; gold labels move them further. With one vote a task nothing but
    experience can say how far a vote is to be trusted.

    Parameters
    ----------
    probs
        The classifier's probabilities, as for `fit`.
    experience
        Weights of other crowds.

    References
    ----------
    Kerrigan, Smyth and Steyvers, Combining human predictions with model probabilities via confusion
    matrices and calibration, NeurIPS 2021. https://arxiv.org/abs/2109.14591

    Examples
    --------
    >>> votes = Votes.of(["a", "b", "c"], ["ann", "bob", "ann"], ["cat", "dog", "cat"])
    >>> result = Fusion().fit(votes, [[0.9, 0.1], [0.3, 0.7], [0.02, 0.98]])
    >>> result.labels.tolist(), bool(result.confidence[0] > result.confidence[2])
    (['cat', 'dog', 'cat'], True)
    """

    experience: FusionExperience = field(default=EXPERIENCE, repr=False, kw_only=True)

    name: ClassVar[str] = "fusion"

    def __str__(self) -> str:
        return self.name

    def fits_in_memory(self, votes: Votes) -> bool:
        return True  # the classifier's probabilities already are an array of (tasks, classes)

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        evidence = collect_evidence(votes, self.probs_of(votes), self.experience)
        weights = choose_weights(evidence, self.experience)
        if votes.gold is not None and (votes.gold >= 0).any():
            weights = fit_fusion(
                evidence.classifier, evidence.log_likelihood, votes.gold,
                around=weights, precision=GOLD_PRECISION,
            )  # fmt: skip
        posterior = votes.clamp(weights(evidence.classifier, evidence.log_likelihood))
        params = {
            "classifier_weight": weights.classifier,
            "crowd_weight": weights.crowd,
            "held_out_votes": evidence.held_out_votes,
            "crowd_confusion": evidence.confusion,
        }
        return Aggregate(votes, posterior, expected_worker_accuracy(votes, posterior), params)


def collect_evidence(votes: Votes, probs: Floats, experience: FusionExperience = EXPERIENCE) -> Evidence:
    """What a classifier and merged votes say about each task, before they are weighted."""
    classifier = _predict_votes(votes, probs)
    log_classifier = np.log(classifier)
    sums = csr_array((votes.weights, np.arange(len(votes)), votes.starts), (len(votes.tasks), len(votes)))
    log_vote, confusion = _fit_workers(votes, log_classifier, sums, experience)
    log_likelihood: Floats = np.asarray(sums @ log_vote)
    n = votes.task_sum()
    held_out, size = _held_out_weights(votes, log_classifier, log_vote, log_likelihood)
    return Evidence(
        classifier, log_likelihood / np.sqrt(np.where(n > 0, n, 1))[:, None], held_out, size, confusion
    )


def choose_weights(evidence: Evidence, experience: FusionExperience) -> FusionWeights:
    """The weights of experience, moved towards those that held-out votes prefer."""
    if evidence.held_out is None:
        return experience.weights
    power = experience.power * evidence.held_out_votes / (evidence.held_out_votes + HELD_OUT_VOTES)
    found, usual, weights = (
        np.array([w.classifier, w.crowd])
        for w in (evidence.held_out, experience.held_out, experience.weights)
    )
    return FusionWeights(*(weights * np.clip(found / usual, *HELD_OUT_RANGE) ** power).tolist())


def _predict_votes(votes: Votes, probs: Floats) -> Floats:
    """Vector scaling of the classifier's probabilities, so that they predict votes, (tasks, classes)."""
    tally = votes.tally()
    n = tally.sum(axis=1)
    if (n > 0).sum() < MIN_TASKS:
        return raise_to_floor(probs, MIN_PROB)
    return Vector().fit(probs, to_probs(tally), weight=n)(probs)


def _fit_workers(
    votes: Votes, log_classifier: Floats, sums: csr_array, experience: FusionExperience
) -> tuple[Floats, Floats]:
    """Log P(vote | class) of each vote, (votes, classes), and the confusion matrix of the crowd, by EM."""
    K = len(votes.classes)
    right = experience.crowd_accuracy
    prior = np.where(np.eye(K, dtype=bool), right, (1 - right) / (K - 1))
    tally = votes.tally()
    crowd, log_vote = prior, np.log(prior.T[votes.label])
    for _ in range(ITERATIONS):
        posterior = votes.clamp(softmax(log_classifier + sums @ log_vote))
        crowd = to_probs(posterior.T @ tally + CROWD_VOTES * prior)
        log_vote = _log_votes(votes, posterior, crowd, experience)
    return log_vote, crowd


def _log_votes(votes: Votes, posterior: Floats, crowd: Floats, experience: FusionExperience) -> Floats:
    """Log P(vote | class), (votes, classes), by confusion matrices without the task of the vote.

    The pseudo-counts of a worker are the matrix of the crowd, its odds of a right label multiplied by the
    ratio of the worker's odds to those that the crowd would have on the same tasks.
    """
    W, K = len(votes.workers), len(votes.classes)
    right = np.diag(crowd)
    own = posterior[votes.task] * votes.weights[:, None]
    by_task = csr_array((votes.weights, (votes.worker, votes.task)), (W, len(votes.tasks)))
    true_counts: Floats = np.asarray(by_task @ posterior)  # (workers, classes)
    hits = votes.worker_sum(posterior[votes.task, votes.label])[votes.worker]
    hits -= own[np.arange(len(votes)), votes.label]
    expected = (true_counts @ right)[votes.worker] - own @ right
    n = true_counts.sum(axis=1)[votes.worker] - votes.weights + experience.skill_votes
    skill, usual = ((x + experience.skill_votes * right.mean()) / n for x in (hits, expected))
    odds = right / (1 - right) * (skill / (1 - skill) * (1 - usual) / usual)[:, None]
    same = np.arange(K) == votes.label[:, None]
    likelihood: Floats = np.where(same, odds, crowd.T[votes.label] / (1 - right)) / (1 + odds)
    if W * K**2 > MAX_MATRIX_NUMBERS:
        return np.asarray(np.log(likelihood))
    said: Floats = votes.onehot.T @ posterior  # how often, (workers x said, true)
    counts = np.maximum(said[votes.cell] - own, 0) + experience.matrix_votes * likelihood
    log_vote: Floats = np.log(
        counts / (np.maximum(true_counts[votes.worker] - own, 0) + experience.matrix_votes)
    )
    return log_vote


def _held_out_weights(
    votes: Votes, log_classifier: Floats, log_vote: Floats, log_likelihood: Floats
) -> tuple[FusionWeights | None, int]:
    """The weights that predict each vote best from the classifier and the other votes, and how many votes."""
    n = votes.task_sum()[votes.task] - votes.weights
    rows = np.flatnonzero(np.diff(votes.starts)[votes.task] > 1)
    rows = rows[:: -(-len(rows) * len(votes.classes) // MAX_VOTE_NUMBERS) or 1]
    if not len(rows):
        return None, 0
    others = log_likelihood[votes.task[rows]] - votes.weights[rows, None] * log_vote[rows]
    weights = fit_held_out_votes(
        log_classifier[votes.task[rows]],
        others / np.sqrt(n[rows])[:, None],
        log_vote[rows],
        max_weight=MAX_HELD_OUT,
    )
    return weights, len(rows)
