"""Estimates, item table, worker table: the state of a campaign as plain arrays that others may read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid.value.crowd_errors import CrowdErrors
from crowdpilot.hybrid.value.posterior import FusionRule, crowd_only


@dataclass(frozen=True, eq=False)
class Estimates:
    """What a campaign has estimated about one question; items by row, workers and classes by number.

    The arrays are those of the campaign, not copies: they are to be read, not changed.

    Parameters
    ----------
    posterior
        (items, classes), with known classes as known.
    log_likelihood, expert_log_likelihood
        log P(votes | class) of crowd and experts, (items, classes).
    class_prior
        (classes,).
    log_confusion
        Logs of the confusion matrices, (workers, true, said).
    classifier_probs, calibrated_probs
        Of the classifier, (items, classes), before and after temperature scaling; None without one.
    kind_pseudo_counts
        Prior of the confusion matrix of each kind of worker, (kinds, true, said).
    worker_kind
        The kind of each worker, (workers,).
    dropped_counts, dropped_classes
        Expected counts of votes on dropped items, (workers, true, said), and of their classes, (classes,).
    fusion
        Combines classifier and votes.
    crowd_errors
        How far the errors of the crowd on one item are shared.
    experts
        Which kinds of worker are not misled as the crowd is, (kinds,).
    learned_from_votes
        Whether the classifier was trained on the votes, so that it predicts what the crowd sees.
    """

    posterior: Floats
    log_likelihood: Floats
    expert_log_likelihood: Floats
    class_prior: Floats
    log_confusion: Floats
    classifier_probs: Floats | None
    calibrated_probs: Floats | None
    kind_pseudo_counts: Floats
    worker_kind: Codes
    dropped_counts: Floats
    dropped_classes: Floats
    fusion: FusionRule
    crowd_errors: CrowdErrors
    experts: NDArray[np.bool_]
    learned_from_votes: bool

    def posterior_under(
        self, rows: NDArray[Any], log_likelihood: Floats, expert_log_likelihood: Floats | None = None
    ) -> Floats:
        """The posterior of items under these log-likelihoods, (rows, classes), were their classes unknown."""
        by_item = self.calibrated_probs is not None and not self.learned_from_votes
        prior = prior_of(self.fusion, self._classifier(rows) if by_item else None, self.class_prior)
        return self.crowd_errors.truth(
            self.consensus_under(rows, log_likelihood), prior, expert_log_likelihood
        )

    def consensus_under(self, rows: NDArray[Any], log_likelihood: Floats) -> Floats:
        """Posterior of the class that the crowd sees in items, under this log-likelihood, (rows, classes)."""
        return combine(self.fusion, self._classifier(rows), log_likelihood, self.class_prior)

    def _classifier(self, rows: NDArray[Any]) -> Floats | None:
        return None if self.calibrated_probs is None else self.calibrated_probs[rows]


def combine(fusion: FusionRule, probs: Floats | None, log_likelihood: Floats, class_prior: Floats) -> Floats:
    """The posterior from a classifier's probabilities (if any) and the votes' log-likelihood."""
    if probs is None:
        log_likelihood = fusion.crowd_weight * log_likelihood
        return crowd_only(log_likelihood, log_likelihood, class_prior)
    return fusion(probs, log_likelihood, class_prior)


def prior_of(fusion: FusionRule, probs: Floats | None, class_prior: Floats) -> Floats:
    """The posterior before any vote, (items, classes); without a classifier (classes,)."""
    if probs is None:
        of_all: Floats = combine(fusion, None, np.zeros((1, len(class_prior))), class_prior)[0]
        return of_all
    return fusion(probs, np.zeros_like(probs), class_prior)


@dataclass(frozen=True, eq=False)
class ItemTable:
    """The state of every item that was not dropped; row *n* of every array is about `names[n]`.

    Parameters
    ----------
    names
        Of the items, in the order in which they were added.
    open
        Neither withdrawn nor closed, (items,).
    withdrawn, pilot
        (items,).
    stopped
        Where no more votes can be had, (items, questions).
    final
        Code of the final decision of a closed item, -1 while there is none, (items,).
    done
        No vote on the item is worth its price, and none is pending, (items,).
    gold
        Code of the known class, -1 where it is not known, (items, questions).
    override
        Code of the class that an expert decided on, -1 where there is none, (items, questions).
    votes
        Number of votes, (items, questions).
    votes_wanted
        Number of votes that were requested in all, 0 where none were, (items, questions).
    """

    names: list[Any]
    open: NDArray[Any]
    withdrawn: NDArray[Any]
    pilot: NDArray[Any]
    stopped: NDArray[Any]
    final: Codes
    done: NDArray[Any]
    gold: Codes
    override: Codes
    votes: Floats
    votes_wanted: Codes

    def without_overrides(self) -> ItemTable:
        """The same, as if no expert had decided."""
        return replace(self, override=np.full_like(self.override, -1))


@dataclass(frozen=True, eq=False)
class WorkerTable:
    """All workers by number.

    Parameters
    ----------
    names
        Of the workers, in the order in which they came; None is a worker without a name.
    kind
        Number of the kind of each, (workers,).
    kinds
        Names of the kinds.
    votes_by_kind
        Votes that have arrived from workers of each kind.
    asked
        What each was asked or has answered: rows (worker, item, question), (n, 3).
    """

    names: list[Any]
    kind: NDArray[Any]
    kinds: list[str]
    votes_by_kind: list[int]
    asked: NDArray[Any]
