"""Item posteriors: for every item the log-likelihood of its votes, the crowd's consensus, the true class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Floats, to_probs
from crowdpilot.calibration.experience import CrowdMap
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.growing_arrays import append_rows
from crowdpilot.hybrid.campaign.estimates import combine, prior_of
from crowdpilot.hybrid.campaign.estimation.classifier import MIN_PROBABILITY, floored
from crowdpilot.hybrid.campaign.estimation.misleading_share import MisleadingShares, fit_misleading_share
from crowdpilot.hybrid.campaign.items import Rows
from crowdpilot.hybrid.value.crowd_errors import CrowdErrors
from crowdpilot.hybrid.value.posterior import FusionRule
from crowdpilot.json_values import pack, unpack
from crowdpilot.votes import Votes

ARRAYS = ("log_likelihood", "expert_log_likelihood", "consensus", "posterior", "_item_prior")


class ItemPosteriors:
    """Posteriors of all items for one question; all arrays are (items, classes).

    Parameters
    ----------
    classes
        Number of classes.
    fusion
        Combines classifier and votes.
    experts
        Which kinds of worker are not misled as the crowd is, (kinds,).
    shares
        Of misleading items, until they are fitted.
    floor
        Least probability of a class by the classifier.
    """

    def __init__(
        self,
        classes: int,
        fusion: FusionRule,
        experts: Sequence[bool],
        shares: MisleadingShares,
        floor: float,
    ) -> None:
        self.fusion, self.experts = fusion, np.asarray(experts, bool)
        self.set_shares(shares)
        self._floor = floor
        self.classifier_probs: Floats | None = None  # before temperature scaling
        self.temperature = 1.0  # the power of these probabilities
        self.class_prior = np.full(classes, 1 / classes)
        self.learned_from_votes = False  # whether the classifier was, so that it predicts the consensus
        self.log_likelihood = np.zeros((0, classes))  # log P(votes of the crowd | consensus)
        self.expert_log_likelihood = np.zeros((0, classes))  # log P(votes of experts | true class)
        self.consensus = np.zeros((0, classes))  # posterior of the class that the crowd sees
        self.posterior = np.zeros((0, classes))  # of the true class
        self._item_prior = np.zeros((0, classes))  # posterior before any vote, by a given classifier

    def add_items(self, n: int, classifier_probs: Floats | None) -> Rows:
        """Make room for new items without votes; returns the rows that are to be updated.

        Without class probabilities they get the mean of those of other items, if there are any.
        """
        before, old = len(self.posterior), self.classifier_probs
        first = 0 if old is None and classifier_probs is not None else before
        if old is not None and classifier_probs is None:
            classifier_probs = np.tile(old.mean(axis=0), (n, 1))
        if classifier_probs is not None:
            old = np.tile(self.class_prior, (before, 1)) if old is None else old
            self.classifier_probs = append_rows(old, floored(classifier_probs, MIN_PROBABILITY))
        for name in ARRAYS:
            array = getattr(self, name)
            setattr(self, name, append_rows(array, np.zeros((n, array.shape[1]))))
        return np.arange(first, before + n)

    def keep(self, rows: Rows) -> None:
        """Drop all other items."""
        for name in ARRAYS:
            setattr(self, name, getattr(self, name)[rows])
        self.classifier_probs = None if self.classifier_probs is None else self.classifier_probs[rows]

    # Votes -----------------------------------------------------------------------------------

    def set_votes(self, votes: Votes, worker_kind: Codes, log_confusion: Floats) -> None:
        """Log-likelihoods of all votes by these confusion matrices."""
        by_expert = self.experts[worker_kind[votes.worker]]
        self.log_likelihood = votes_log_likelihood(votes.take(~by_expert), log_confusion)
        self.expert_log_likelihood = votes_log_likelihood(votes.take(by_expert), log_confusion)

    def add_votes(self, item: Rows, kind: Codes, log_likelihood: Floats) -> None:
        """Add votes by workers of these kinds, with their log-likelihoods (votes, classes)."""
        by_expert = self.experts[kind]
        np.add.at(self.log_likelihood, item[~by_expert], log_likelihood[~by_expert])
        if by_expert.any():
            np.add.at(self.expert_log_likelihood, item[by_expert], log_likelihood[by_expert])

    def clear(self, rows: Rows) -> None:
        """Forget all votes on some items."""
        self.log_likelihood[rows] = self.expert_log_likelihood[rows] = 0

    def fit_crowd_errors(self, votes: Votes, worker_kind: Codes, experience: CrowdMap | None) -> None:
        """How far the errors of the crowd on one item are shared, by experience and known classes."""
        crowd = votes.take(~self.experts[worker_kind[votes.worker]])
        voted = np.unique(crowd.task).astype(np.intp)
        consensus = combine(self.fusion, None, self.log_likelihood[voted], self.class_prior)
        fitted = crowd.select(tasks=voted), consensus, self.class_prior, experience
        self.set_shares(fit_misleading_share(*fitted) if len(crowd) else MisleadingShares())

    def forget_calibration(self) -> None:
        """Take given class probabilities as they are, and none that were learned from votes."""
        self.temperature = 1.0
        if self.learned_from_votes:
            self.classifier_probs, self.learned_from_votes = None, False

    def set_shares(self, shares: MisleadingShares) -> None:
        """Take these shares of misleading items: the expected one for posteriors, the least to buy votes."""
        self.crowd_errors, self.least_errors = (CrowdErrors(share) for share in shares)

    @property
    def shares(self) -> MisleadingShares:
        """The shares of misleading items."""
        return MisleadingShares(self.crowd_errors.misleading, self.least_errors.misleading)

    # Posterior -------------------------------------------------------------------------------

    def calibrated_probs(self, rows: Rows) -> Floats | None:
        """The classifier's probabilities after temperature scaling, (rows, classes), if there is one."""
        if self.classifier_probs is None:
            return None
        return floored(to_probs(self.classifier_probs[rows] ** self.temperature), self._floor)

    @property
    def is_classified(self) -> bool:
        """Whether a classifier has a part in the posteriors."""
        return self.classifier_probs is not None and self.fusion.uses_classifier

    def update(self, rows: Rows, gold: Codes) -> None:
        """Recompute the posteriors of some items, with their known classes (rows,), -1 where unknown."""
        probs = self.calibrated_probs(rows)
        if probs is not None and not self.learned_from_votes:
            self._item_prior[rows] = prior_of(self.fusion, probs, self.class_prior)
        crowd = combine(self.fusion, probs, self.log_likelihood[rows], self.class_prior)
        prior, expert = self._prior(rows), self.expert_log_likelihood[rows]
        self.posterior[rows], self.consensus[rows] = self.crowd_errors.truth(crowd, prior), crowd
        # Those that experts have voted on, apart: no item depends on which others are updated with it.
        some = _voted(expert)
        votes = crowd[some], _of_rows(prior, some), expert[some]
        self.posterior[rows[some]] = self.crowd_errors.truth(*votes)
        self.consensus[rows[some]] = self.crowd_errors.consensus(*votes)
        known = gold >= 0
        self.posterior[rows[known]] = self.consensus[rows[known]] = np.eye(crowd.shape[1])[gold[known]]

    def consensus_errors(self, rows: Rows, errors: Floats) -> Floats:
        """Expected costs of each decision by class of the consensus; see `CrowdErrors.errors`.

        They are for the value of votes, and by the least share of misleading items.
        """
        prior, expert = self._prior(rows), self.expert_log_likelihood[rows]
        by_crowd, some = self.least_errors.errors(errors, prior), _voted(expert)
        if len(some) == 0:
            return by_crowd
        by_item = np.broadcast_to(by_crowd, (len(rows), *errors.shape[-2:])).copy()
        own_errors = errors[some] if errors.ndim == 3 else errors
        by_item[some] = self.least_errors.errors(own_errors, _of_rows(prior, some), expert[some])
        return by_item

    def _prior(self, rows: Rows) -> Floats:
        """Of the true class of misleading items, (rows, classes), or (classes,) if the same for all."""
        if self.classifier_probs is not None and not self.learned_from_votes:
            return self._item_prior[rows]
        return prior_of(self.fusion, None, self.class_prior)

    # State -----------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign, from which `restore` and `update` make the posteriors."""
        return {
            "log_likelihood": pack(self.log_likelihood),
            "expert_log_likelihood": pack(self.expert_log_likelihood),
            "class_prior": pack(self.class_prior),
            "misleading_shares": list(self.shares),
            "classifier_probs": pack(self.classifier_probs),
            "temperature": pack(self.temperature),
            "learned_from_votes": self.learned_from_votes,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned; the posteriors are to be updated."""
        self.log_likelihood = unpack(state["log_likelihood"])
        self.expert_log_likelihood = unpack(state["expert_log_likelihood"])
        self.class_prior = unpack(state["class_prior"])
        self.set_shares(MisleadingShares(*state["misleading_shares"]))
        self.classifier_probs = unpack(state["classifier_probs"])
        self.temperature = state["temperature"]
        self.learned_from_votes = state["learned_from_votes"]
        self.consensus, self.posterior, self._item_prior = (
            np.zeros_like(self.log_likelihood) for _ in range(3)
        )


def _voted(log_likelihood: Floats) -> Rows:
    """Rows with votes."""
    return np.flatnonzero(log_likelihood.any(axis=1))


def _of_rows(prior: Floats, rows: Rows) -> Floats:
    """The prior of some rows, which may be the same for all."""
    return prior[rows] if prior.ndim > 1 else prior
