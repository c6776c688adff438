"""Active-learning scores of ActiveLab: which examples to label next, or once more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdpilot.aggregation.models.crowdlab import Crowdlab
from crowdpilot.arrays import Floats, divide, softmax
from crowdpilot.votes import Votes

TEMPERATURES = (0.1, 0.2, 0.5, 0.8, 1.0, 2.0, 3.0, 5.0, 8.0)  # those of cleanlab
STEPS_BETWEEN = 4  # finer temperatures between two of these
MIN_PROB = 1e-30  # before a logarithm


class Scores(NamedTuple):
    """Of examples with labels and of those without; label next those with the lowest scores."""

    labelled: Floats
    unlabelled: Floats


def activelab_scores(votes: Votes, probs: Floats, unlabelled: Floats) -> Scores:
    """The scores of ActiveLab, as in cleanlab 2.9.0.

    The quality of the consensus by CROWDLAB, averaged with a guess. The quality has the weights of the
    classifier and of the annotators of the example, the guess the mean weight of an annotator. The
    probabilities are first raised to a power (temperature scaling) to fit the labels. If every example has
    one label, the quality is the classifier's, and all weights are one.

    Parameters
    ----------
    votes
        The labels.
    probs, unlabelled
        The classifier's probabilities of the examples with and without labels, (examples, classes).

    References
    ----------
    Goh and Mueller, ActiveLab: active learning with re-labeling by multiple annotators, 2023.
    https://arxiv.org/abs/2301.11856
    """
    K = len(votes.classes)
    count = np.bincount(votes.task, minlength=len(votes.tasks))
    if (count == 1).all():
        quality, classifier, worker = probs[votes.task, votes.label], 1.0, np.ones(len(votes.workers))
        quality = quality[np.argsort(votes.task)]
    else:
        temperature = fit_temperature(votes, probs)
        probs, unlabelled = scale(probs, temperature), scale(unlabelled, temperature)
        first, second = (Crowdlab(passes=n).fit(votes, probs) for n in (1, 2))
        quality = second.probs[np.arange(len(count)), first.codes]
        classifier, worker = second.params["classifier_weight"], second.params["weight"]
    guess = worker[np.bincount(votes.worker, minlength=len(worker)) > 0].mean()
    weight = np.bincount(votes.task, worker[votes.worker], len(votes.tasks)) + classifier
    return Scores(
        (weight * quality + guess / K) / (weight + guess),
        (classifier * unlabelled.max(axis=1, initial=0) + guess / K) / (classifier + guess),
    )


def fit_temperature(votes: Votes, probs: Floats) -> float:
    """The temperature at which probabilities predict the labels best, by search among a few."""
    tally = votes.tally()
    shares = divide(tally, tally.sum(axis=1, keepdims=True), 0.0)

    def cross_entropy(temperature: float) -> float:
        scaled = np.maximum(scale(probs, temperature), MIN_PROB)
        return -float((shares * np.log(scaled)).sum())

    n = int(np.argmin([cross_entropy(t) for t in TEMPERATURES]))
    below, best, above = (TEMPERATURES[min(max(m, 0), len(TEMPERATURES) - 1)] for m in (n - 1, n, n + 1))
    finer = np.unique(
        [*np.linspace(below, best, STEPS_BETWEEN + 1), *np.linspace(best, above, STEPS_BETWEEN + 1)]
    )
    return float(finer[int(np.argmin([cross_entropy(t) for t in finer]))])


def scale(probs: Floats, temperature: float) -> Floats:
    """The probabilities to the power of one over the temperature, each row summing to one."""
    return softmax(np.log(np.maximum(probs, MIN_PROB)) / temperature)
