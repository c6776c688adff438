"""Campaign: the loop between items, crowd and classifier (ask, tell, decide), composed of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.hybrid.campaign import input_checks
from crowdpilot.hybrid.campaign.decisions import Ask, Decisions
from crowdpilot.hybrid.campaign.input_checks import list_names
from crowdpilot.hybrid.campaign.items import Rows
from crowdpilot.hybrid.campaign.model_update import read_model_update, write_model_update
from crowdpilot.hybrid.campaign.parts import Parts
from crowdpilot.hybrid.campaign.saved_state import CAMPAIGN_FORMAT, CAMPAIGN_VERSION, check_header, header
from crowdpilot.hybrid.campaign.status import Status, campaign_html, make_status
from crowdpilot.hybrid.campaign.view import CampaignView
from crowdpilot.hybrid.campaign.workers import Cell
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.names import to_names
from crowdpilot.votes import Votes


class Campaign:
    """The loop between items, crowd and classifier.

    Parameters
    ----------
    items
        Their names.
    classes
        Names of the classes. With criteria two: what does not hold, and what does.
    costs
        Of errors and votes, and the budget. With criteria errors are about "out" and "in".
    plan
        Settings.
    criteria
        Names of several questions about each item, which is in only if all hold.
    classifier_probs
        Class probabilities of a classifier, (items, classes), or by item in a data frame, a mapping or a
        file; with criteria a mapping from names to these.
    features, classifier
        Rows for each item, and what is trained on them: anything with `fit` and `predict_proba`.
    gold
        Known classes of some items, by name; with criteria a mapping from names to these.

    Examples
    --------
    >>> campaign = Campaign(["a", "b"], ["no", "yes"], Costs.binary(fp=1, fn=2, crowd=0.02))
    >>> sorted(ask.item for ask in campaign.ask("ann", 2))
    ['a', 'b']
    >>> campaign.tell([("a", "ann", "yes"), ("b", "ann", "no")])
    >>> campaign.decide().labels.tolist()
    ['yes', 'no']
    """

    def __init__(
        self,
        items: Sequence[Any] | Names,
        classes: Sequence[Any] | Names,
        costs: Costs,
        *,
        plan: Plan | None = None,
        criteria: Sequence[str] = (),
        classifier_probs: input_checks.PerCriterion = None,
        features: Any = None,
        classifier: Any = None,
        gold: input_checks.PerCriterion = None,
    ) -> None:
        items, self.classes = list_names(items, "items"), list_names(classes, "classes")
        self.plan, self.costs, self.criteria = plan or Plan(), costs, tuple(criteria) or ("",)
        self._class_code = input_checks.check_classes(self.classes.tolist(), self.criteria, costs)
        self._parts = parts = Parts.build(self.plan, costs, len(self.classes), len(self.criteria), classifier)
        self._items, self._leases, self.policy = parts.items, parts.leases, parts.values.policy
        self.view = CampaignView(parts, self.criteria)
        self.set_pilot_size(len(items), trains_classifier=classifier is not None)
        self.add(items, classifier_probs=classifier_probs, features=features, gold=gold)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Campaign({self.status().summary})"

    def _repr_html_(self) -> str:
        return campaign_html(self.status(), self.decide())

    @property
    def has_criteria(self) -> bool:
        """Whether there are several questions, one for each criterion."""
        return self.criteria != ("",)

    def add(
        self,
        items: Sequence[Any] | Names,
        *,
        classifier_probs: input_checks.PerCriterion = None,
        features: Any = None,
        gold: input_checks.PerCriterion = None,
    ) -> None:
        """Add items, with class probabilities of a classifier, or features for the one that is trained."""
        names = list_names(items, "items").tolist()
        self._items.check_new(names)
        probs = input_checks.probs_by_question(classifier_probs, self.criteria, to_names(names), self.classes)
        known = input_checks.gold_by_question(gold, self.criteria, names, self._class_code)
        classified = any(p is not None for p in probs) or self.view.trains_classifier
        price = len(names) * self.costs.classifier * classified
        if price > self._parts.ledger.left:
            raise ValueError(f"the budget does not pay for the classifier to look at {len(names)} items")
        self._parts.add_items(names, known, probs, features)
        self._parts.ledger.charge(price)

    def set_pilot_size(self, items: int, *, trains_classifier: bool) -> None:
        """Draw the pilot from the items that are added next, as large as the plan says for so many items."""
        if self.policy.starts_with_pilot:
            self._items.pilot_left = self.plan.pilot_size(items, trains_classifier)

    def reveal(self, gold: input_checks.PerCriterion) -> None:
        """The classes of these items are known from now on, or (None) not any more; with criteria by name."""
        self._parts.reveal(*self._labels(gold))

    def override(self, labels: input_checks.PerCriterion) -> None:
        """An expert decides so, or (None) not any more; unlike gold this does not judge workers."""
        self._parts.override(*self._labels(labels))

    def _labels(self, labels: input_checks.PerCriterion) -> tuple[list[Rows], list[Codes]]:
        return input_checks.labels_by_question(labels, self.criteria, self._items, self._class_code)

    def request(self, items: Iterable[Any], votes: int) -> None:
        """Every question about these items is to have so many votes, whatever another is worth; 0 for any."""
        self._parts.request(self._items.rows(items), votes)

    def withdraw(self, items: Iterable[Any]) -> None:
        """Take items out of the decisions; their votes still count in the confusion matrices of workers."""
        self._parts.withdraw(self._items.rows(items))

    def close(self, items: Iterable[Any] | None = None) -> None:
        """Make the decision about these items (or all that are done) final: later votes do not change it.

        It is the one without overrides, which stay in force until they are taken back.
        """
        table = self.view.items()
        rows = np.flatnonzero(table.done & ~table.withdrawn) if items is None else self._items.rows(items)
        now = self._parts.decide(self.costs, self.classes, table.without_overrides())
        self._parts.close(rows, now.codes)

    def stop(self, asks: Iterable[Ask]) -> None:
        """Never ask for these again, unless votes are requested: no more can be had on them."""
        self._parts.stop(self._cells(asks))

    def drop_closed(self) -> Decisions:
        """Drop closed and withdrawn items without open leases; returns the decisions about the closed ones.

        Their votes still count in the confusion matrices of workers. A classifier is trained on the others.
        """
        gone = ~self._items.open & ~self._parts.ledger.pending.any(axis=1)
        final = self.decide().only(gone[~self._items.withdrawn])
        self._parts.keep_items(np.flatnonzero(~gone))
        return final

    def register_worker(self, worker: Any, kind: str | None = None) -> None:
        """Add a worker of a kind, such as an expert; workers who are not registered are of the first kind."""
        self._leases.register(worker, kind)

    def ask(
        self, worker: Any = None, n: int = 1, *, kind: str | None = None, gold_share: float = 0.0
    ) -> list[Ask]:
        """Lease up to `n` votes that are worth their price to one worker (or to anyone of a kind).

        Nobody is asked the same twice. The price is reserved until the vote arrives (`tell`) or the lease
        ends (`release`). A share of the votes is asked on items of known class, to test the worker.
        """
        return self._asks(self._leases.ask(worker, n, kind, gold_share))

    def propose(self, n: int = 1, *, kind: str | None = None) -> list[Ask]:
        """What `ask` would lease to anyone of a kind, without leasing it; counts as one of `requests`."""
        return self._asks(self._leases.propose(n, kind))

    def lease(self, asks: Iterable[Ask], worker: Any = None, *, kind: str | None = None) -> None:
        """Lease these to a worker (or to anyone) as if `ask` had chosen them, as a replica does."""
        self._leases.lease(self._cells(asks), worker, kind)

    def release(
        self, worker: Any = None, asks: Iterable[Ask] | None = None, *, ask_again: bool = True
    ) -> None:
        """End the leases of a worker (None: those to anyone), or only these; late votes are still accepted.

        With `ask_again` the worker may be asked the same later; without, they said that they cannot tell.
        """
        self._leases.release(worker, None if asks is None else self._cells(asks), ask_again=ask_again)

    def retract(self, asks: Iterable[Ask], worker: Any) -> None:
        """Delete answers of a worker, votes or "cannot tell", and lease the same to them again."""
        self._leases.retract(self._cells(asks), worker)

    def _cells(self, asks: Iterable[Ask]) -> list[Cell]:
        return [(input_checks.criterion_code(q, self.criteria), self._items.row(item)) for item, q in asks]

    def _asks(self, cells: Iterable[Cell]) -> list[Ask]:
        return [Ask(self._items.names[row], self.criteria[question]) for question, row in cells]

    def tell(self, votes: Votes | Iterable[Sequence[Any]], *, refit: bool | None = None) -> None:
        """Add votes, asked for or not, early or late; all are checked before any is added.

        Parameters
        ----------
        votes
            `Votes` (without weights), or (item, worker, label), with criteria (item, worker, label,
            criterion). A worker without a name is None.
        refit
            Whether to refit confusion matrices and classifier; if not given, as often as the plan says.
        """
        state = self._parts.items, self._parts.workers, self._parts.ledger
        self._parts.add_votes(input_checks.check_votes(votes, self._class_code, self.criteria, *state))
        if self.refit_due if refit is None else refit:
            self.refit()

    @property
    def refit_due(self) -> bool:
        """Whether enough votes have arrived for a refit, by `Plan.refit_due`."""
        return self.plan.refit_due(self.view.votes_since_refit, self.view.vote_count)

    def refit(self) -> None:
        """Fit confusion matrices and classifier to all votes, and recompute all acquisition values."""
        self._parts.refit()

    def model_update(self, *, with_classifier: bool | None = None) -> dict[str, Any]:
        """The estimates of the last `refit` as plain data, with those of a classifier trained here."""
        include = self.view.trains_classifier if with_classifier is None else with_classifier
        return write_model_update(self._parts.questions, self._parts.values, with_classifier=include)

    def apply_model_update(self, update: Mapping[str, Any], *, recompute_values: bool = True) -> None:
        """Take over the estimates of another campaign with the same items and workers, instead of `refit`.

        Both may have received more votes since: the posterior follows from update and votes alone. Without
        `recompute_values` the acquisition values stay until the method of that name is called for all rows.
        """
        read_model_update(self._parts.questions, self._parts.values, update)
        if recompute_values:
            self._parts.values.recompute_all()

    def recompute_values(self, rows: Rows) -> None:
        """Recompute the acquisition values of votes on the items in these rows."""
        self._parts.values.recompute(rows)

    def posterior(self) -> Floats:
        """The posterior that decisions use, (items, classes); with criteria (items, out and in)."""
        return self._parts.posterior()

    def decide(self) -> Decisions:
        """The decision with the least expected cost about every item; changes nothing."""
        return self._parts.decide(self.costs, self.classes, self.view.items())

    def status(self) -> Status:
        """Where the campaign stands."""
        return make_status(self.decide(), self.costs.errors, self._parts, refit_due=self.refit_due)

    def synchronize(
        self, *, requests: int | None = None, votes_since_refit: int | None = None,
        spent: float | None = None, reserved_beside: float | None = None,
    ) -> None:  # fmt: skip
        """Take over counters that a database keeps; those that are not given stay as they are.

        `spent` is then all that votes and classifier have cost, so that no vote is unpaid. `reserved_beside`
        is what open leases take more than by the prices of now, where these have changed.
        """
        if reserved_beside is not None:
            self._parts.ledger.reserved_beside = reserved_beside
        if requests is not None:
            self._leases.requests = requests
        if votes_since_refit is not None:
            self._leases.votes_since_refit = votes_since_refit
        if spent is not None:
            self._parts.ledger.spent, self._parts.ledger.unpaid = spent, 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold, from which `Campaign.from_dict` continues exactly."""
        return {
            **header(CAMPAIGN_FORMAT, CAMPAIGN_VERSION),
            "classes": self.classes.tolist(),
            "criteria": list(self.criteria) if self.has_criteria else [],
            "costs": self.costs.to_dict(),
            "plan": self.plan.to_dict(),
            "trains_classifier": self.view.trains_classifier,
            **self._parts.to_state(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, features: Any = None, classifier: Any = None) -> Self:
        """The campaign that `to_dict` has saved, with features of its items and classifier as before."""
        check_header(data, CAMPAIGN_FORMAT, CAMPAIGN_VERSION, 1, 2)
        if data["trains_classifier"] != (classifier is not None):
            raise ValueError("a campaign goes on with a classifier if and only if it had one before")
        settings = {"plan": Plan.from_dict(data["plan"]), "criteria": data["criteria"]}
        campaign = cls([], data["classes"], Costs.from_dict(data["costs"]), classifier=classifier, **settings)
        campaign._parts.restore(data, features)
        return campaign
