"""Parts of a campaign (items, workers, ledger, questions, values, leases), changed and saved together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.hybrid.campaign.acquisition import AcquisitionValues
from crowdpilot.hybrid.campaign.decisions import Decisions, decision_posterior, make_decisions
from crowdpilot.hybrid.campaign.estimates import ItemTable
from crowdpilot.hybrid.campaign.estimation.classifier import CrossFittedClassifier
from crowdpilot.hybrid.campaign.estimation.feature_rows import rows_by_name
from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.hybrid.campaign.input_checks import CheckedVote
from crowdpilot.hybrid.campaign.items import Items, Rows
from crowdpilot.hybrid.campaign.leases import Leases
from crowdpilot.hybrid.campaign.ledger import Ledger
from crowdpilot.hybrid.campaign.workers import Cell, Workers
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policy import Evidence


@dataclass(frozen=True, eq=False)
class Parts:
    """What a campaign is composed of.

    Every change of items goes through here, so that all parts have the same rows and all acquisition
    values follow from the present state.
    """

    items: Items
    workers: Workers
    ledger: Ledger
    questions: list[Question]
    values: AcquisitionValues
    leases: Leases
    classifier: CrossFittedClassifier | None

    @classmethod
    def build(cls, plan: Plan, costs: Costs, classes: int, questions: int, classifier: Any) -> Self:
        """The parts of a campaign without items."""
        kinds = list(costs.prices)
        pseudo_counts = np.stack([plan.pseudo_counts(kind, classes) for kind in kinds])
        fitted = None if classifier is None else CrossFittedClassifier(classifier, classes)
        experts = [kind in plan.experts for kind in kinds]
        asked = [Question(plan, pseudo_counts, fitted, experts) for _ in range(questions)]
        items, workers = Items(questions, plan.seed), Workers(kinds, asked)
        ledger = Ledger(costs.budget, questions)
        values = AcquisitionValues(plan, costs, asked, items, ledger, fitted)
        leases = Leases(plan, asked, workers, ledger, values)
        return cls(items, workers, ledger, asked, values, leases, fitted)

    def add_items(
        self, names: list[Any], gold: Sequence[Codes], probs: Sequence[Floats | None], features: Any
    ) -> None:
        """Add items with their known classes and class probabilities, for each question."""
        if self.classifier is not None:
            self.classifier.add_items(rows_by_name(features, names), len(names))
        elif features is not None:
            raise ValueError("there are features, but no classifier that is trained on them (classifier=)")
        rows = self.items.add(names)
        self.ledger.add_items(len(names))
        self.values.add_items(len(names))
        for question, known, p in zip(self.questions, gold, probs, strict=True):
            question.add_items(known, p)
        self.values.recompute(rows)

    def reveal(self, rows: Sequence[Rows], gold: Sequence[Codes]) -> None:
        """The classes of these items are known from now on, for each question."""
        for question, row, code in zip(self.questions, rows, gold, strict=True):
            question.reveal(row, code)
        self.values.recompute(np.concatenate(rows))

    def withdraw(self, rows: Rows) -> None:
        """Take items out of the decisions."""
        self.items.withdrawn[rows] = True
        self.values.recompute(rows)

    def close(self, rows: Rows, decisions: Codes) -> None:
        """Make the decisions about all items that are not withdrawn final for these rows."""
        final = np.full(len(self.items), -1, np.int32)
        final[~self.items.withdrawn] = decisions
        self.items.closed[rows] = final[rows]
        self.values.recompute(rows)

    def stop(self, cells: Sequence[Cell]) -> None:
        """No more votes can be had on these, and none are requested."""
        for question, row in cells:
            self.items.stopped[row, question] = True
            self.items.votes_wanted[row, question] = 0
        self.values.recompute([row for _, row in cells])

    def override(self, rows: Sequence[Rows], codes: Sequence[Codes]) -> None:
        """An expert decided so about these items, for each question; -1 takes it back."""
        for question, (row, code) in enumerate(zip(rows, codes, strict=True)):
            self.items.override[row, question] = code
        self.values.recompute(np.concatenate(rows))

    def request(self, rows: Rows, votes: int) -> None:
        """Each question about these items is to have so many votes, whatever another is worth; 0 for any.

        This wins over an earlier stop, an override and the most votes that an item may have by the plan;
        the budget, gold and the end of an item win over it.
        """
        self.items.votes_wanted[rows] = votes
        self.items.stopped[rows] = False
        self.values.recompute(rows)

    def keep_items(self, rows: Rows) -> None:
        """Drop all other items; the rest is renumbered in order."""
        new_row = np.full(len(self.items), -1)
        new_row[rows] = np.arange(len(rows))
        for question in self.questions:
            question.keep(rows)
        if self.classifier is not None:
            self.classifier.keep(rows)
        self.items.keep(rows)
        self.workers.renumber_items(new_row.tolist())
        self.ledger.renumber_items(new_row.tolist())
        self.values.keep(rows)

    def add_votes(self, votes: Sequence[CheckedVote]) -> None:
        """Votes have arrived: pay them, end their leases, and update the posteriors of their items."""
        workers = self.leases.receive(votes)
        codes = np.array([(v.question, v.row, w, v.label) for v, w in zip(votes, workers, strict=True)])
        for q, question in enumerate(self.questions if votes else ()):
            question.add_votes(*codes[codes[:, 0] == q, 1:].T)
        self.values.recompute([vote.row for vote in votes])

    def posterior(self) -> Floats:
        """The posterior that decisions use, (items, classes); with criteria (items, out and in)."""
        return decision_posterior(self.values.policy, self._evidence(), self.items.override)

    def decide(self, costs: Costs, classes: Names, items: ItemTable) -> Decisions:
        """The decision about every item that is not withdrawn, by these states of the items."""
        return make_decisions(self.values.policy, self._evidence(), costs, classes, items)

    def _evidence(self) -> list[Evidence]:
        return [question.evidence() for question in self.questions]

    def refit(self) -> None:
        """Fit confusion matrices and classifier to all votes, and recompute all acquisition values."""
        for question in self.questions:
            question.refit(self.items.fold)
        self.leases.votes_since_refit = 0
        self.values.after_refit()
        if self.classifier is not None:
            self.classifier.warn_of_failure()

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign, except features and classifier."""
        return {
            "items": self.items.to_state(),
            "workers": self.workers.to_state(),
            "ledger": self.ledger.to_state(),
            "acquisition": self.values.to_state(),
            "requests": self.leases.requests,
            "votes_since_refit": self.leases.votes_since_refit,
            "questions": [question.to_state() for question in self.questions],
        }

    def restore(self, state: Mapping[str, Any], features: Any) -> None:
        """Take over what `to_state` returned, and the features of all items if a classifier is trained."""
        self.items.restore(state["items"])
        self.workers.restore(state["workers"])
        self.ledger.restore(state["ledger"])
        self.values.restore(state["acquisition"])
        self.leases.requests = state["requests"]
        self.leases.votes_since_refit = state["votes_since_refit"]
        for question, saved in zip(self.questions, state["questions"], strict=True):
            question.restore(saved)
        if self.classifier is not None:
            self.classifier.add_items(rows_by_name(features, self.items.names), len(self.items))
