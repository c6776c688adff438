"""Fusion weights: one posterior from a classifier's probabilities and votes, with weights of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # whose `optimize` takes long to import: it is loaded when it is used
from numpy.typing import ArrayLike
from scipy.special import log_softmax, logsumexp, softmax

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import raise_to_floor
from crowdpilot.calibration.sample import check_probs, make_sample
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.votes import Votes

MIN_PROB = 1e-12  # a probability of a classifier counts as at least this
MAX_VOTE_NUMBERS = 2**23  # in an array of (votes, classes); of more votes a part is used
MIN_WEIGHT = 1e-3  # of classifier and crowd, where a prior is around other weights
MAX_WEIGHT = 10.0  # of classifier and crowd

Loss = Callable[[Floats], tuple[float, Floats]]  # of unnormalized log-posteriors: its value and gradient


@dataclass(frozen=True)
class FusionWeights:
    """P(k) ∝ p_k^a · prior_k^(1 - a) · exp(b · Σ over votes of log confusion[worker, k, said]).

    With a = b = 1 this is Bayes' rule with the classifier's prediction p as the prior; a = 0 is the crowd
    alone. Weights below one suit a classifier that is overconfident, and votes with dependent errors.

    Parameters
    ----------
    classifier, crowd
        The weights a and b.

    References
    ----------
    Kerrigan, Smyth and Steyvers, Combining human predictions with model probabilities via confusion
    matrices and calibration, NeurIPS 2021. https://arxiv.org/abs/2109.14591

    Examples
    --------
    >>> vote = np.log([[0.8, 0.2]])  # of someone who is right in 8 of 10 cases
    >>> FusionWeights()([[0.4, 0.6]], vote).round(2).tolist()
    [[0.73, 0.27]]
    """

    classifier: float = 1.0
    crowd: float = 1.0

    def __call__(self, probs: ArrayLike, log_likelihood: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        """The posterior, (tasks, classes).

        Parameters
        ----------
        probs
            Predictions of the classifier, (tasks, classes).
        log_likelihood
            log P(votes on the task | class), (tasks, classes); see `votes_log_likelihood`.
        prior
            Shares of the classes, (classes,); equal ones if not given.
        """
        log_probs, log_prior = _logs(probs, prior)
        of_votes = _checked(log_likelihood, log_probs)
        posterior: Floats = softmax(
            log_prior + self.classifier * (log_probs - log_prior) + self.crowd * of_votes, axis=1
        )
        return posterior


def fit_fusion(
    probs: ArrayLike,
    log_likelihood: ArrayLike,
    target: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    around: FusionWeights | None = None,
    precision: float = 0.0,
) -> FusionWeights:
    """The weights with the least log-loss on tasks of known class.

    Parameters
    ----------
    probs, log_likelihood, prior
        As for `FusionWeights`; the classifier must not have been trained on these tasks.
    target, weight
        As for `Map.fit`: codes with -1 where unknown, or soft labels.
    around, precision
        Mean and precision of a normal prior of the logarithms of the weights, if given.
    """
    log_probs, log_prior = _logs(probs, prior)
    sample = make_sample(probs, target, weight)
    known = sample.target * sample.weight[:, None]
    mass = known.sum(axis=1)
    if not mass.any():
        raise ValueError("no task has a known class and a weight, expected at least one")

    def loss(joint: Floats) -> tuple[float, Floats]:
        log_posterior = log_softmax(joint, axis=1)
        gradient = (mass[:, None] * np.exp(log_posterior) - known) / mass.sum()
        return -float((known * log_posterior).sum() / mass.sum()), gradient

    return _fit_weights(
        log_probs - log_prior,
        _checked(log_likelihood, log_probs),
        log_prior,
        loss,
        around=around,
        precision=precision / mass.sum(),
    )


def fit_fusion_on_votes(
    probs: ArrayLike,
    votes: Votes,
    posterior: Floats,
    *,
    counts: Floats | None = None,
    prior: ArrayLike | None = None,
    max_weight: float = MAX_WEIGHT,
) -> FusionWeights:
    """The weights with the best held-out log-likelihood of the votes; no true labels are needed.

    Each vote is predicted from the classifier and the other votes on its task, with the confusion matrix
    of its worker without that vote.

    Parameters
    ----------
    probs, prior
        As for `FusionWeights`; the classifier must not have seen these votes.
    votes
        Several for most tasks, or there is nothing to learn about the weight of votes.
    posterior
        Of a worker model, (tasks, classes).
    counts
        How often each worker gave each label to each class, (workers, true, said), pseudo-counts
        included; if not given, expected counts by the posterior plus half a vote in each cell.
    max_weight
        Upper bound of both weights.
    """
    log_probs, log_prior = _logs(probs, prior)
    if len(log_probs) != len(votes.tasks):
        raise ValueError(
            f"there are {len(log_probs)} rows of probabilities, expected a row for each of "
            f"{len(votes.tasks)} tasks"
        )
    if counts is None:
        counts = count_labels(votes, posterior) + 0.5
    votes = _subsample(votes)
    own = posterior[votes.task]
    log_vote = np.log(np.maximum(counts[votes.worker, :, votes.label] - own, 1e-3))
    log_vote -= np.log(counts.sum(axis=2)[votes.worker] - own)
    others = _task_sums(votes, log_vote)[votes.task] - log_vote
    classifier = (log_probs - log_prior)[votes.task]
    return fit_held_out_votes(classifier, others, log_vote, log_prior=log_prior, max_weight=max_weight)


def fit_held_out_votes(
    classifier: Floats,
    others: Floats,
    log_vote: Floats,
    *,
    log_prior: Floats | float = 0.0,
    max_weight: float = MAX_WEIGHT,
) -> FusionWeights:
    """The weights under which each vote is predicted best from the classifier and the other votes.

    Parameters
    ----------
    classifier
        Log-probabilities of the classifier for the task of each vote, (votes, classes), relative to the
        prior.
    others
        Log-likelihood of the other votes on that task, (votes, classes).
    log_vote
        log P(vote | class) of the vote itself, (votes, classes).
    log_prior
        Of the classes, (1, classes); equal ones if not given.
    max_weight
        Upper bound of both weights.
    """

    def loss(joint: Floats) -> tuple[float, Floats]:
        before, after = joint, joint + log_vote
        gain = logsumexp(after, axis=1) - logsumexp(before, axis=1)
        return -float(gain.mean()), (softmax(before, axis=1) - softmax(after, axis=1)) / len(joint)

    return _fit_weights(classifier, others, log_prior, loss, max_weight)


def _fit_weights(
    classifier: Floats,
    crowd: Floats,
    log_prior: Floats | float,
    loss: Loss,
    max_weight: float = MAX_WEIGHT,
    *,
    around: FusionWeights | None = None,
    precision: float = 0.0,
) -> FusionWeights:
    """The two weights of least loss, by L-BFGS from one or from the mean of the prior."""
    mean = np.ones(2) if around is None else np.maximum([around.classifier, around.crowd], MIN_WEIGHT)

    def objective(weights: Floats) -> tuple[float, Floats]:
        value, gradient = loss(log_prior + weights[0] * classifier + weights[1] * crowd)
        slope = np.array([(gradient * classifier).sum(), (gradient * crowd).sum()])
        if around is None:
            return value, slope
        off = np.log(weights / mean)
        return value + precision / 2 * float(off @ off), slope + precision * off / weights

    bounds = [(0 if around is None else MIN_WEIGHT, max_weight)] * 2
    optimum = scipy.optimize.minimize(objective, mean, jac=True, method="L-BFGS-B", bounds=bounds)
    return FusionWeights(float(optimum.x[0]), float(optimum.x[1]))


def _logs(probs: ArrayLike, prior: ArrayLike | None) -> tuple[Floats, Floats]:
    """Logarithms of the probabilities, (tasks, classes), and of the prior, (1, classes)."""
    log_probs = np.log(raise_to_floor(check_probs(probs), MIN_PROB))
    K = log_probs.shape[1]
    shares = np.full((1, K), 1 / K) if prior is None else check_probs(np.asarray(prior)[None], "prior")
    if shares.shape[1] != K:
        raise ValueError(f"the prior has {shares.shape[1]} numbers, expected one for each of {K} classes")
    return log_probs, np.log(raise_to_floor(shares, MIN_PROB))


def _checked(log_likelihood: ArrayLike, log_probs: Floats) -> Floats:
    array = np.asarray(log_likelihood, np.float64)
    if array.shape != log_probs.shape:
        raise ValueError(f"the log-likelihood has shape {array.shape}, expected {log_probs.shape}")
    return array


def _task_sums(votes: Votes, values: Floats) -> Floats:
    """The sum of the rows of each task's votes, (tasks, classes)."""
    order = np.argsort(votes.task, kind="stable")
    total = np.zeros((len(votes.tasks), values.shape[1]))
    voted, first = np.unique(votes.task[order], return_index=True)
    if len(voted):
        total[voted] = np.add.reduceat(values[order], first)
    return total


def _subsample(votes: Votes) -> Votes:
    """All votes, or those on every n-th task if they are too many."""
    step = -(-len(votes) * len(votes.classes) // MAX_VOTE_NUMBERS)
    return votes if step <= 1 else votes.take(votes.task % step == 0)
