"""Pilot: posterior draws of confusion matrices, item classes and shared crowd errors after a pilot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, softmax, to_probs
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.hybrid.campaign.estimation.worker_model import WorkerModel, fit_worker_model
from crowdpilot.votes import Votes

MISLEADING_SHARES = (np.arange(400) + 0.5) / 400  # grid of the share of items that mislead the crowd
LOG_SD = 0.7  # of the log-normal prior of that share: how far crowds differ from what experience says
MAX_KIND_COUNTS = 30.0  # votes on each class that a pilot is worth at most, as votes on one item err together
PRIOR_MISLEADING_ITEMS = 2.0  # pseudo-counts of misleading items, with the classes of the others
GOLD_MISLEADING_SHARE = 0.1  # that is assumed of items with known class while workers are fitted
MIN_PROBABILITY = 1e-12

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Pilot:
    """What is known of one question before the rest of a campaign is simulated.

    Parameters
    ----------
    votes
        So far; tasks are all items of the campaign.
    worker_kind
        The kind of each worker, (workers,).
    kind_pseudo_counts
        Prior of the confusion matrix of each kind of worker, (kinds, true, said).
    worker_pseudo_counts
        Weight of the confusion matrix of the kind in that of each worker.
    item_prior
        Posterior of each item before its votes, (items, classes), if there is a classifier.
    gold
        The class of each item, -1 where it is not known, (items,).
    override
        The class that an expert decided on, -1 where there is none, (items,). It counts as the true one, but
        is no evidence of the crowd: experts decide where they have looked, mostly where it is wrong.
    earlier_classes
        Number of earlier items (or pseudo-counts) of each class, (classes,).
    earlier_counts
        Expected counts of votes on items that were dropped, (workers, true, said).
    misleading_share
        Share of the items that mislead the crowd, as the campaign has fitted it.
    truth_prior
        Probabilities of the true class of each item before its votes, (items, classes), by a classifier that
        did not learn from them. The crowd does not mislead it.
    """

    votes: Votes
    worker_kind: Codes
    kind_pseudo_counts: Floats
    worker_pseudo_counts: float
    item_prior: Floats | None
    gold: Codes
    override: Codes
    earlier_classes: Floats
    earlier_counts: Floats
    misleading_share: float
    truth_prior: Floats | None = None

    def overridden(self, classes: NDArray[np.intp]) -> NDArray[np.intp]:
        """These classes of the items, (items,), with those that an expert decided on in their place."""
        return np.where(self.override >= 0, self.override, classes)


@dataclass(frozen=True, eq=False)
class PosteriorDraw:
    """One draw of everything that the pilot leaves uncertain.

    Parameters
    ----------
    consensus
        The class of each item that unlimited votes would give, (items,).
    confusion
        Of each worker with respect to the consensus, (workers, true, said).
    kind_confusion
        Of a new worker of each kind, (kinds, true, said).
    misleading_classes
        Class distribution of each item if it misleads the crowd, (items, classes).
    misleading_share
        Posterior of their share, at each of `MISLEADING_SHARES`.
    """

    consensus: NDArray[np.intp]
    confusion: Floats
    kind_confusion: Floats
    misleading_classes: Floats
    misleading_share: Floats

    def draw_truth(self, gold: Codes, rng: Random) -> NDArray[np.intp]:
        """True classes, (items,): the consensus, but any class for misleading items; gold where known."""
        share = rng.choice(MISLEADING_SHARES, p=self.misleading_share)
        other = draw_classes(self.misleading_classes, rng)
        true = np.where(rng.random(len(self.consensus)) < share, other, self.consensus)
        return np.where(gold >= 0, gold, true)


def posterior_draws(pilot: Pilot, n: int, rng: Random) -> Iterator[PosteriorDraw]:
    """Draw from the posterior after a pilot, by a weighted likelihood bootstrap.

    The items of the pilot are resampled with replacement and the workers fitted to these, which covers the
    variation between pilots; then confusion matrices and classes are drawn from the posterior of that
    fit. Shares of the classes lie between those of the fit and those of the votes, since fits to few votes
    tend to find too few items of a class. An item of class k has the consensus z of the crowd. On a share s
    of the items, those that mislead, z and k are independent:

        P(k | z) = (1 - s) [k = z] + s misleading_classes[k].

    Where a classifier did not learn from the votes, it is not misled: there `misleading_classes` of an item
    are its probabilities, as in the posterior by which the campaign decides (see `CrowdErrors.truth`).

    Votes alone say little of s. Its prior is log-normal, around the share that experience with many crowds
    gives to such votes, with LOG_SD. Items of known class are evidence of it:
    P(k | votes) = sum_z P(k | z) P(z | votes).

    References
    ----------
    Newton and Raftery, Approximate Bayesian inference with the weighted likelihood bootstrap, Journal
    of the Royal Statistical Society B 56(1), 1994.
    """
    votes = pilot.votes
    N = len(votes.tasks)
    voted = np.unique(votes.task).astype(np.intp)
    label_counts = np.bincount(votes.label, minlength=len(votes.classes)) * len(voted) / max(len(votes), 1)
    has_votes = len(voted) > 0 or bool(pilot.earlier_counts.any())
    for _ in range(n):
        fitted = _fit(pilot, rng.choice(voted, len(voted))) if len(voted) else _without_votes(pilot)
        kind_counts = MAX_KIND_COUNTS * fitted.kind_confusion if has_votes else pilot.kind_pseudo_counts
        kind_confusion = _dirichlet(kind_counts, rng)
        mix = rng.random()
        class_counts = mix * fitted.posterior.sum(axis=0) + (1 - mix) * label_counts
        prior = _dirichlet(class_counts + pilot.earlier_classes + 1, rng)
        worker_prior = pilot.worker_pseudo_counts * kind_confusion[pilot.worker_kind]
        confusion = _dirichlet(fitted.counts + worker_prior, rng)
        item_prior = np.tile(prior, (N, 1)) if pilot.item_prior is None else pilot.item_prior
        log_likelihood = votes_log_likelihood(votes, np.log(confusion))
        posterior = softmax(np.log(np.maximum(item_prior, MIN_PROBABILITY)) + log_likelihood)
        known = np.bincount(pilot.gold[pilot.gold >= 0], minlength=len(prior))
        of_crowd = _dirichlet(1 + PRIOR_MISLEADING_ITEMS * prior + known, rng)
        misleading = np.tile(of_crowd, (N, 1)) if pilot.truth_prior is None else pilot.truth_prior
        share = misleading_share_posterior(pilot.misleading_share, posterior, misleading, pilot.gold)
        weights = posterior * _gold_likelihood(pilot.gold, misleading, float(share @ MISLEADING_SHARES))
        yield PosteriorDraw(draw_classes(weights, rng), confusion, kind_confusion, misleading, share)


def misleading_share_posterior(
    usual_share: float, posterior: Floats, misleading_classes: Floats, gold: Codes
) -> Floats:
    """Posterior of the share of misleading items at each of `MISLEADING_SHARES`.

    Parameters
    ----------
    usual_share
        Median of its prior, as experience says.
    posterior
        Of the consensus of each item, (items, classes).
    misleading_classes
        Class distribution of each item if it misleads, (items, classes).
    gold
        Known class of each item, or -1, (items,).
    """
    s = MISLEADING_SHARES
    logs = -0.5 * (np.log(s / max(usual_share, s[0])) / LOG_SD) ** 2 - np.log(s)
    known = np.flatnonzero(gold >= 0)
    agreeing, independent = posterior[known, gold[known]], misleading_classes[known, gold[known]]
    likelihood = (1 - s[:, None]) * agreeing + s[:, None] * independent
    logs += np.log(likelihood + MIN_PROBABILITY).sum(axis=1)
    return to_probs(np.exp(logs - logs.max()))


def _fit(pilot: Pilot, items: NDArray[np.intp]) -> WorkerModel:
    """Workers fitted to some items, each as often as it is named."""
    votes, K = pilot.votes, len(pilot.votes.classes)
    order = np.argsort(votes.task, kind="stable")
    start = np.searchsorted(votes.task[order], items)
    size = np.searchsorted(votes.task[order], items, side="right") - start
    task = np.repeat(np.arange(len(items), dtype=np.int32), size)
    rows = order[np.repeat(start - np.cumsum(size) + size, size) + np.arange(size.sum())]
    resampled = Votes(
        task, votes.worker[rows], votes.label[rows], np.arange(len(items)), votes.workers, votes.classes
    )
    prior = np.ones((len(items), K)) if pilot.item_prior is None else pilot.item_prior[items]
    prior = prior * _gold_likelihood(
        pilot.gold[items], np.full((len(items), K), 1 / K), GOLD_MISLEADING_SHARE
    )
    return fit_worker_model(
        resampled,
        np.log(np.maximum(prior, MIN_PROBABILITY)),
        pilot.kind_pseudo_counts,
        kind=pilot.worker_kind,
        estimate_prior=pilot.item_prior is None,
        worker_pseudo_counts=pilot.worker_pseudo_counts,
        earlier=(pilot.earlier_classes, pilot.earlier_counts),
    )


def _without_votes(pilot: Pilot) -> WorkerModel:
    """Workers if no item of the campaign has votes: prior and earlier votes alone."""
    total = pilot.kind_pseudo_counts.astype(np.float64)
    np.add.at(total, pilot.worker_kind, pilot.earlier_counts)
    kind_confusion = to_probs(total)
    counts = pilot.earlier_counts + pilot.worker_pseudo_counts * kind_confusion[pilot.worker_kind]
    no_items = np.zeros((0, kind_confusion.shape[1]))
    return WorkerModel(to_probs(counts), kind_confusion, pilot.earlier_counts, no_items)


def _gold_likelihood(gold: Codes, misleading_classes: Floats, share: float) -> Floats:
    """P(true class | consensus), (items, consensus classes); ones where the true class is not known."""
    agrees = gold[:, None] == np.arange(misleading_classes.shape[1])
    of_gold = misleading_classes[np.arange(len(gold)), np.maximum(gold, 0)]
    likelihood = (1 - share) * agrees + share * of_gold[:, None]
    return np.where(gold[:, None] >= 0, likelihood, 1.0)


def _dirichlet(counts: Floats, rng: Random) -> Floats:
    """Draws from Dirichlet distributions over the last axis."""
    return to_probs(np.maximum(rng.standard_gamma(counts), MIN_PROBABILITY))


def draw_classes(weights: Floats, rng: Random) -> NDArray[np.intp]:
    """A class for each row, drawn with probabilities proportional to its weights."""
    cumulative = np.cumsum(weights, axis=1)
    codes: NDArray[np.intp] = (rng.random((len(weights), 1)) * cumulative[:, -1:] > cumulative).sum(axis=1)
    return codes
