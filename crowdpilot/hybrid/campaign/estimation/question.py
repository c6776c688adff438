"""Question: the votes on one question about every item, the fitted confusion matrices, and the posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from crowdpilot.aggregation.online.vote_log import VoteLog
from crowdpilot.arrays import Codes, Floats, to_probs
from crowdpilot.growing_arrays import append_rows
from crowdpilot.hybrid.campaign.estimation.classifier import CrossFittedClassifier, fit_temperature
from crowdpilot.hybrid.campaign.estimation.item_posteriors import ItemPosteriors
from crowdpilot.hybrid.campaign.estimation.misleading_share import MisleadingShares
from crowdpilot.hybrid.campaign.estimation.online_update import ExpectedCounts
from crowdpilot.hybrid.campaign.estimation.worker_matrices import WorkerMatrices
from crowdpilot.hybrid.campaign.estimation.worker_model import fit_worker_model, with_label_shares
from crowdpilot.hybrid.campaign.items import Rows
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policy import Evidence
from crowdpilot.hybrid.value.posterior import find_fusion
from crowdpilot.json_values import pack, unpack
from crowdpilot.votes import Votes

MIN_VOTES_TO_TRAIN = 20  # before a classifier is fitted or scaled
MIN_PRIOR = 1e-12


class Question:
    """State of one question, items by row, workers and classes by number; with criteria there are several.

    Parameters
    ----------
    plan
        Settings of the campaign.
    kind_pseudo_counts
        Prior of the confusion matrix of each kind of worker, (kinds, true, said).
    classifier
        Fitted to the posterior at every refit, if there is one.
    experts
        Which kinds of worker are not misled as the crowd is; none if not given.
    """

    def __init__(
        self,
        plan: Plan,
        kind_pseudo_counts: Floats,
        classifier: CrossFittedClassifier | None = None,
        experts: Sequence[bool] | None = None,
    ) -> None:
        K = kind_pseudo_counts.shape[1]
        self.plan, self.kind_pseudo_counts, self._classifier = plan, kind_pseudo_counts, classifier
        self.vote_log = VoteLog()
        self.gold: Codes = np.zeros(0, np.int32)  # the known class of each item, -1 where it is not known
        self.tally = np.zeros((0, K))  # votes for each class, (items, classes)
        experts = [False] * len(kind_pseudo_counts) if experts is None else experts
        shares = MisleadingShares() if plan.honest else MisleadingShares(0.0, 0.0)
        self.posteriors = ItemPosteriors(K, find_fusion(plan.fusion), experts, shares, plan.floor)
        self.matrices = WorkerMatrices(kind_pseudo_counts)
        self.dropped_classes = np.zeros(K)  # expected number of dropped items of each class
        self._online = ExpectedCounts(K) if plan.online else None

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.kind_pseudo_counts.shape[1])

    @property
    def posterior(self) -> Floats:
        """Of the true class, (items, classes)."""
        return self.posteriors.posterior

    @property
    def classifier_probs(self) -> Floats | None:
        """Of the classifier, (items, classes), before temperature scaling; None without one."""
        return self.posteriors.classifier_probs

    @property
    def class_prior(self) -> Floats:
        """Shares of the classes, (classes,)."""
        return self.posteriors.class_prior

    @property
    def worker_kind(self) -> Codes:
        """The kind of each worker, (workers,)."""
        return self.matrices.worker_kind

    def add_worker(self, kind: int) -> None:
        """A new worker, with the confusion matrix of their kind."""
        self.matrices.add_worker(kind)
        if self._online is not None:
            confusion = self.matrices.kind_confusion[[kind]]
            self._online.add_worker(self.plan.worker_pseudo_counts * confusion)

    def add_items(self, gold: Codes, classifier_probs: Floats | None) -> None:
        """New items with their known classes (-1: unknown) and class probabilities.

        Without probabilities they get the mean of those of other items, if there are any.
        """
        n = len(gold)
        self.gold = append_rows(self.gold, gold)
        self.tally = append_rows(self.tally, np.zeros((n, self.classes)))
        new = self.posteriors.add_items(n, classifier_probs)
        if self._online is not None:
            self._online.add_items(n)
        self.update_posterior(new)

    def reveal(self, rows: Rows, gold: Codes) -> None:
        """The classes of these items are known from now on."""
        self.gold[rows] = gold
        self.update_posterior(rows)

    # Votes -----------------------------------------------------------------------------------

    def add_votes(self, item: Rows, worker: Rows, label: Rows) -> None:
        """New votes, in time that depends on their number and that of the classes."""
        first, items = self.vote_log.add(item, worker, label), np.unique(item)
        np.add.at(self.tally, (item, label), 1)
        self.posteriors.add_votes(item, self.worker_kind[worker], self.matrices.of_labels(worker, label))
        self.update_posterior(items)
        self._update_online(items, first)

    def delete_vote(self, item: int, worker: int) -> bool:
        """Delete the vote of a worker on an item; whether there was one."""
        row = self.vote_log.find(item, worker)
        if row < 0:
            return False
        label = int(self.vote_log.label[row])
        self.vote_log.delete([row])
        if self._online is not None:
            self._online.subtract(item, worker, label)
        self.tally[item, label] -= 1
        rows, who = np.array([item]), np.array([worker])
        lost = -self.matrices.of_labels(who, np.array([label]))
        self.posteriors.add_votes(rows, self.worker_kind[who], lost)
        if not self.tally[item].any():
            self.posteriors.clear(rows)
        self.update_posterior(rows)
        self._update_online(rows)
        return True

    def votes(self) -> Votes:
        """All votes by number: tasks are rows of items; with the known classes."""
        names = np.arange(len(self.gold)), np.arange(len(self.worker_kind)), np.arange(self.classes)
        task, worker, label = (self.vote_log.column(name) for name in ("task", "worker", "label"))
        return Votes(task, worker, label, *names, gold=self.gold)

    def keep(self, rows: Rows) -> None:
        """Drop all other items; the expected counts of their votes stay."""
        votes, gone = self.votes(), np.ones(len(self.gold), bool)
        gone[rows] = False
        dropped = votes.take(gone[votes.task])
        consensus = self.posteriors.consensus
        self.matrices.drop(dropped, consensus)
        if self._online is not None:
            self._online.keep(rows, dropped, consensus)
        self.dropped_classes = self.dropped_classes + consensus[gone & self.tally.any(axis=1)].sum(axis=0)
        kept = votes.take(~gone[votes.task])
        self.vote_log = VoteLog()
        self.vote_log.add(np.searchsorted(rows, kept.task), kept.worker, kept.label)
        self.gold, self.tally = self.gold[rows], self.tally[rows]
        self.posteriors.keep(rows)

    # Posterior -------------------------------------------------------------------------------

    def update_posterior(self, rows: Rows) -> None:
        """Recompute the posteriors of some items from classifier, votes and known classes."""
        self.posteriors.update(rows, self.gold[rows])

    def evidence(self) -> Evidence:
        """What a policy may use to decide about all items."""
        state, every = self.posteriors, np.arange(len(self.gold))
        classifier = partial(state.calibrated_probs, every)
        return Evidence(state.posterior, self.tally, state.is_classified, classifier, self.votes)

    def next_worker_confusion(self) -> Floats:
        """Confusion matrix of a new worker of each kind, with the vote weight; (kinds, true, said)."""
        return to_probs(self.matrices.kind_confusion**self.posteriors.fusion.crowd_weight)

    def worker_confusion(self, worker: int) -> Floats:
        """Confusion matrix of one worker, with the vote weight; (true, said)."""
        return to_probs(np.exp(self.matrices.of_worker(worker) * self.posteriors.fusion.crowd_weight))

    # Refit -----------------------------------------------------------------------------------

    def refit(self, fold: Rows) -> None:
        """Fit confusion matrices (EM) and classifier to all votes; their order does not matter.

        Nothing stays of votes that were deleted. `fold` of every item divides them for cross-fitting the
        classifier.
        """
        votes = self.votes()
        workers, dropped_counts = self.matrices.to_fit(votes)
        voted = np.unique(votes.task).astype(np.intp)
        if dropped_counts is None and len(votes) < MIN_VOTES_TO_TRAIN:
            self.posteriors.forget_calibration()
        some = votes.select(tasks=voted, workers=workers)
        fitted = fit_worker_model(
            some,
            self._log_prior(voted),
            self.kind_pseudo_counts,
            kind=self.worker_kind[workers],
            estimate_prior=self.classifier_probs is None,
            worker_pseudo_counts=self.plan.worker_pseudo_counts,
            earlier=None if dropped_counts is None else (self.dropped_classes, dropped_counts),
        )
        self.matrices.kind_confusion = fitted.kind_confusion
        self.matrices.replace(workers, np.log(fitted.confusion))
        self.posteriors.class_prior = to_probs(fitted.posterior.sum(axis=0) + self.dropped_classes + 1)
        self._set_votes(votes)
        if self.plan.honest and (len(votes) or dropped_counts is None):
            self.posteriors.fit_crowd_errors(votes, self.worker_kind, self.plan.experience)
        if self._classifier is not None and len(votes) >= MIN_VOTES_TO_TRAIN:
            confusion = np.exp(self.posteriors.fusion.crowd_weight * self.matrices.own())
            probs = self._classifier.fit_predict_calibrated(
                some, fitted.posterior, fold, confusion, self.plan.map
            )
            if probs is not None:
                self.posteriors.classifier_probs, self.posteriors.learned_from_votes = probs, True
        elif self.classifier_probs is not None and len(votes) >= MIN_VOTES_TO_TRAIN:
            log_likelihood = self.posteriors.log_likelihood[voted]
            self.posteriors.temperature = fit_temperature(self.classifier_probs[voted], log_likelihood)
        self.update_posterior(np.arange(len(self.gold)))
        self._recount()

    def recompute(self) -> None:
        """Recompute log-likelihood and posterior of all items from the present confusion matrices."""
        self._set_votes(self.votes())
        self.update_posterior(np.arange(len(self.gold)))
        self._recount()

    def _set_votes(self, votes: Votes) -> None:
        """Log-likelihoods of all votes by the present confusion matrices."""
        some = self.matrices.select(votes)
        self.posteriors.set_votes(some, self.worker_kind[self.matrices.with_votes], self.matrices.own())

    def _log_prior(self, voted: Rows) -> Floats:
        """Log of the posterior of items before their votes, (voted, classes)."""
        no_votes = np.zeros((len(voted), self.classes))
        if (probs := self.posteriors.calibrated_probs(voted)) is None:
            return no_votes
        return np.log(np.maximum(self.posteriors.fusion(probs, no_votes, self.class_prior), MIN_PRIOR))

    # Incremental EM --------------------------------------------------------------------------

    def _update_online(self, items: Rows, first: int | None = None) -> None:
        """Move the workers who voted on some items, if the plan says so; votes from `first` on are new."""
        if self._online is None:
            return
        rows, position = self.vote_log.rows_of(items)
        worker, label = self.vote_log.worker[rows], self.vote_log.label[rows]
        new = None if first is None else rows >= first
        consensus = self.posteriors.consensus[items]
        moved = self._online.replace(items, position, worker, label, consensus, new)
        self.matrices.change(moved, np.log(to_probs(self._online.counts[moved])))
        self.posteriors.clear(items)
        log_likelihood = self.matrices.of_labels(worker, label)
        self.posteriors.add_votes(items[position], self.worker_kind[worker], log_likelihood)
        self.update_posterior(items)

    def _recount(self) -> None:
        """Expected counts of all votes by the present posterior, if the plan says so."""
        if self._online is not None:
            votes, kind = self.votes(), self.worker_kind
            prior = to_probs(with_label_shares(self.kind_pseudo_counts, votes, self.matrices.dropped_counts))[
                kind
            ]
            counts = self.plan.worker_pseudo_counts * np.stack([prior, self.matrices.kind_confusion[kind]])
            self._online.recount(votes, self.posteriors.consensus, self.matrices.dropped_counts, *counts)

    # State -----------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign."""
        task, worker, label = (pack(self.vote_log.column(name)) for name in ("task", "worker", "label"))
        return {
            "votes": {"item": task, "worker": worker, "label": label},
            "gold": pack(self.gold),
            "tally": pack(self.tally),
            "posteriors": self.posteriors.to_state(),
            **self.matrices.to_state(),
            "dropped_classes": pack(self.dropped_classes),
            "online": None if self._online is None else self._online.to_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned."""
        votes = state["votes"]
        self.vote_log.add(*(unpack(votes[name]) for name in ("item", "worker", "label")))
        self.gold, self.tally = unpack(state["gold"]), unpack(state["tally"])
        self.posteriors.restore(state["posteriors"])
        self.matrices.restore(state)
        self.dropped_classes = unpack(state["dropped_classes"])
        self.update_posterior(np.arange(len(self.gold)))
        if self._online is not None:
            self._online.restore(state["online"])
