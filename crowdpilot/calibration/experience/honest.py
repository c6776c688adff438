"""Honest posterior: the posterior of a model with the confidence that its label deserves by experience."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import TIE, Codes, Floats
from crowdpilot.calibration.experience.crowd_map import AccuracyEstimate, CrowdMap
from crowdpilot.calibration.experience.evidence import Evidence, collect_evidence
from crowdpilot.calibration.experience.file import load_experience
from crowdpilot.votes import Votes

MARGIN = 1e-6  # by which the probability of the label exceeds that of every other class, at least
MAX_CONFIDENCE = 0.9999
GOLD_LEVEL = 0.98  # of the interval of right labels on gold tasks
MAX_BLOCK = 2**20  # numbers in a block of rows of a posterior


class GoldCheck(NamedTuple):
    """How the labels that the votes would give to gold tasks compare with their gold labels."""

    tasks: int  # with a gold label and votes
    right: int
    expected: AccuracyEstimate  # share of right labels by experience, before the gold labels are seen
    log_likelihood: float  # of right and wrong labels, with the coefficients integrated out

    @property
    def contradicts(self) -> bool:
        """Whether the votes are wrong on gold tasks more often than those of nearly all crowds."""
        return self.right < self.expected.low * self.tasks


class GoldEvidence(NamedTuple):
    """What votes say about tasks whose gold label was held out of the fit, and whether they are right."""

    features: Floats  # (gold tasks, features)
    right: Floats  # 1 where the label is the gold label, else 0, (gold tasks,)


class CrowdEstimate(NamedTuple):
    """What is known about a crowd: how often its labels are right, given the evidence for them."""

    map: CrowdMap
    features: Floats  # evidence for the label of each task, (tasks, features)
    accuracy: AccuracyEstimate  # of all labels


class CrowdFit(NamedTuple):
    """The map of one crowd, and what it says about its labels."""

    map: CrowdMap
    confidence: Floats  # by the map, (tasks,); NaN for tasks without votes or with a gold label
    accuracy: AccuracyEstimate
    gold: GoldCheck | None


class HonestPosterior(NamedTuple):
    """Honest probabilities, and how many labels are right in all."""

    probs: Floats  # (tasks, classes)
    accuracy: AccuracyEstimate
    map: CrowdMap  # of this crowd
    evidence: Evidence
    gold: GoldCheck | None
    confidence: Floats  # by the map, (tasks,); NaN for tasks without votes or with a gold label

    @property
    def crowd(self) -> CrowdEstimate:
        """What is known about the crowd, without the probabilities."""
        return CrowdEstimate(self.map, self.evidence.features, self.accuracy)


def honest_posterior(
    votes: Votes,
    posterior: Floats,
    labels: Codes,
    experience: CrowdMap | None = None,
    gold: GoldEvidence | None = None,
) -> HonestPosterior:
    """The posterior of a model with honest confidence; the labels stay the same.

    The probability of the label of each task is that of a `CrowdMap`, whose coefficients come from
    experience, and from the gold labels of tasks that have votes. The rest is divided among the other
    classes as single votes would, but none gets more than the label. Classes that are tied in the posterior
    of the model stay tied. A task without votes keeps the posterior of the model.

    Parameters
    ----------
    votes
        Merged, with gold labels of some tasks if there are any.
    posterior
        Of a model, (tasks, classes).
    labels
        The label of each task, (tasks,).
    experience
        The distribution of coefficients over crowds; that of the package if not given.
    gold
        Evidence for gold tasks from fits that did not see their gold label. If it is not given, the
        posterior is used, which is a little flattered by gold labels that it has seen.
    """
    evidence = collect_evidence(votes, posterior, labels)
    fit = fit_crowd(votes, evidence, experience, gold)
    probs = votes.clamp(spread_confidence(posterior, labels, fit.confidence, evidence.pool))
    return HonestPosterior(probs, fit.accuracy, fit.map, evidence, fit.gold, fit.confidence)


def fit_crowd(
    votes: Votes,
    evidence: Evidence,
    experience: CrowdMap | None = None,
    gold_evidence: GoldEvidence | None = None,
) -> CrowdFit:
    """The map of a crowd from experience and its gold labels, and the confidence of its labels."""
    prior = load_experience() if experience is None else experience
    voted = votes.task_sum() > 0
    gold = np.full(len(voted), -1, np.int32) if votes.gold is None else votes.gold
    fitted, check = prior, None
    known = voted & (gold >= 0)
    if gold_evidence is None and known.any():
        right = (evidence.label == gold)[known].astype(np.float64)
        gold_evidence = GoldEvidence(evidence.features[known], right)
    if gold_evidence is not None:
        fit = prior.update(*gold_evidence)
        right, expected = gold_evidence.right, prior.accuracy(gold_evidence.features, level=GOLD_LEVEL)
        fitted, check = fit.map, GoldCheck(len(right), int(right.sum()), expected, fit.log_likelihood)
    open_tasks = voted & (gold < 0)
    confidence = np.full(len(voted), np.nan)
    confidence[open_tasks] = np.minimum(fitted.confidence(evidence.features[open_tasks]), MAX_CONFIDENCE)
    accuracy = fitted.accuracy(evidence.features[open_tasks], int((gold >= 0).sum()))
    return CrowdFit(fitted, confidence, accuracy, check)


def spread_confidence(posterior: Floats, labels: Codes, confidence: Floats, pool: Floats) -> Floats:
    """Probabilities of all classes from the confidence of the label, (tasks, classes).

    Parameters
    ----------
    posterior
        Of a model, (tasks, classes): which classes are tied with the label. It stays where there is no
        confidence.
    labels
        (tasks,).
    confidence
        Probability of each label, (tasks,), or NaN.
    pool
        In proportion to which other classes divide the rest, (tasks, classes); each row sums to one. Tied
        classes get their mean in it.
    """
    probs = np.array(posterior, np.float64)
    K = probs.shape[1]
    some = np.flatnonzero(~np.isnan(confidence))
    for rows in np.array_split(some, -(-len(some) * K // MAX_BLOCK) or 1):
        tied = _tied(posterior[rows], labels[rows])
        n = tied.sum(axis=1)
        others = pool[rows]
        each = np.where(n > 1, (others * tied).sum(axis=1) / n, confidence[rows])
        others[tied] = 0
        rest = others.sum(axis=1)
        others /= np.where(rest > 0, rest, 1)[:, None]
        each = np.where(n == K, 1 / K, np.maximum(each, min_confidence(n, others.max(axis=1, initial=0))))
        others *= (1 - n * each)[:, None]
        others[tied] = np.repeat(each, n)
        probs[rows] = others
    return probs


def min_confidence(tied: NDArray[np.int_], largest: Floats) -> Floats:
    """The probability above which a label and those tied with it exceed every other class by `MARGIN`.

    `tied` is the number of these labels and `largest` the largest share of one class in the rest, (tasks,).
    """
    least: Floats = (largest + MARGIN) / (1 + tied * largest)
    return least


def _tied(posterior: Floats, labels: Codes) -> NDArray[np.bool_]:
    """Which classes are as probable as the label, if no class is more probable, (tasks, classes)."""
    rows = np.arange(len(labels))
    tied: NDArray[np.bool_] = posterior >= posterior.max(axis=1, keepdims=True, initial=0) - TIE
    tied &= tied[rows, labels][:, None]
    tied[rows, labels] = True
    return tied
