"""Campaign: asks for the next votes, takes what comes, and can decide at any moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from crowdpilot.arrays import Floats, Names, to_names
from crowdpilot.hybrid.campaign import model_update, saved_state
from crowdpilot.hybrid.campaign.acquisition import Wishes
from crowdpilot.hybrid.campaign.classifier import Learner
from crowdpilot.hybrid.campaign.decisions import Ask, Decisions
from crowdpilot.hybrid.campaign.input_checks import PerQuestion, check_machine, check_votes, gold_codes, split
from crowdpilot.hybrid.campaign.items import Pool
from crowdpilot.hybrid.campaign.leases import Lending
from crowdpilot.hybrid.campaign.ledger import Ledger, anyone
from crowdpilot.hybrid.campaign.question import Question, evidence_of
from crowdpilot.hybrid.campaign.status import Status, status_of
from crowdpilot.hybrid.campaign.workers import Staff
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.votes import Votes


class Campaign(Lending):
    """The one loop between items, crowd and machine.

    Parameters
    ----------
    items
        Their names.
    classes
        Names of the classes. With criteria two: what does not hold, and what does.
    costs
        Of errors and votes, and the budget. With criteria errors are about "out" and "in".
    plan
        How it is run.
    criteria
        Names of several questions about each item, which is in only if all hold.
    machine
        What a machine says, (items, classes); with criteria a mapping from names to arrays.
    features, classifier
        Rows for each item, and what learns from them: anything with `fit` and `predict_proba`.
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
        machine: PerQuestion = None,
        features: Any = None,
        classifier: Any = None,
        gold: PerQuestion = None,
    ) -> None:
        self.plan = Plan() if plan is None else plan
        self.costs, self.classes, self.criteria = costs, to_names(list(classes)), tuple(criteria) or ("",)
        if len(self.classes) != len(costs.errors):
            raise ValueError(f"there are {len(self.classes)} classes, but costs of {len(costs.errors)}")
        if self.several and costs.errors.shape != (2, 2):
            raise ValueError("with criteria there are two classes (no, yes) and two decisions (out, in)")
        self.label = {name: k for k, name in enumerate(self.classes.tolist())}
        if len(self.label) < len(self.classes) or len(set(self.criteria)) < len(self.criteria):
            raise ValueError("a class or a criterion is given twice")
        self.asked = 0
        kinds = list(costs.prices)
        usual = np.stack([self.plan.usual(kind, len(self.classes)) for kind in kinds])
        self.learner = None if classifier is None else Learner(classifier)
        self.questions = [Question(self.plan, usual, self.learner) for _ in self.criteria]
        self.staff = Staff(kinds, self.questions)
        self.ledger = Ledger(costs.budget, len(self.criteria))
        self.pool = Pool(len(self.criteria), self.plan.seed)
        self.wishes = Wishes(self.plan, costs, self.questions, self.pool, self.ledger)
        self.policy = self.wishes.policy
        pilot = self.plan.first(len(items), classifier is not None)
        self.pool.first = pilot if self.policy.starts_with_pilot else 0
        self.fresh = 0  # votes since workers and machine were learned
        self.add(items, machine=machine, features=features, gold=gold)

    @property
    def several(self) -> bool:
        """Whether there are criteria."""
        return self.criteria != ("",)

    # Items -----------------------------------------------------------------------------------

    def add(
        self,
        items: Sequence[Any] | Names,
        *,
        machine: PerQuestion = None,
        features: Any = None,
        gold: PerQuestion = None,
    ) -> None:
        """New items, with what the machine says of them, or what a machine that learns sees of them."""
        names = to_names(list(items)).tolist()
        self.pool.check(names)
        said = [check_machine(m, len(names), len(self.classes)) for m in split(machine, self.criteria)]
        known = [gold_codes(g, names, self.label) for g in split(gold, self.criteria)]
        looked = any(s is not None for s in said) or self.learner is not None
        price = len(names) * self.costs.machine * looked
        if price > self.ledger.left:
            raise ValueError(f"the budget does not pay for the machine to look at {len(names)} items")
        if self.learner is not None:
            self.learner.add(features, len(names))
        self.ledger.charge(price)
        rows = self.pool.add(names)
        self.ledger.grow(len(names))
        self.wishes.grow(len(names))
        for question, s, k in zip(self.questions, said, known, strict=True):
            question.add(k, s)
        self.wishes.weigh(rows)

    def reveal(self, gold: PerQuestion) -> None:
        """The classes of these items are known from now on; with criteria a mapping from names to these."""
        known = [{} if given is None else dict(given) for given in split(gold, self.criteria)]
        rows = [self.pool.rows(names) for names in known]
        codes = [gold_codes(given, list(given), self.label) for given in known]
        for question, row, code in zip(self.questions, rows, codes, strict=True):
            question.gold[row] = code
            question.believe(row)
        self.wishes.weigh(np.concatenate(rows))

    def withdraw(self, items: Iterable[Any]) -> None:
        """These items are not to be decided any more; votes on them still tell about workers."""
        rows = self.pool.rows(items)
        self.pool.withdrawn[rows] = True
        self.wishes.weigh(rows)

    def close(self, items: Iterable[Any] | None = None) -> None:
        """The decision about these items (or all that are done) is final: later votes do not change it."""
        now = self.decide()
        rows = self.pool.rows(now.items[now.done].tolist() if items is None else items)
        final = np.full(len(self.pool), -1, np.int32)
        final[~self.pool.withdrawn] = now.codes
        self.pool.closed[rows] = final[rows]
        self.wishes.weigh(rows)

    def stop(self, asks: Iterable[Ask]) -> None:
        """No more votes can be had on these."""
        places = self._places(asks)
        for question, row in places:
            self.pool.shut[row, question] = True
        self.wishes.weigh([row for _, row in places])

    def forget(self) -> Decisions:
        """Drop closed and withdrawn items that nobody is voting on; what was decided about the closed ones.

        What their votes tell of workers stays. A machine that learns has only the others to learn from.
        """
        gone = ~self.pool.open & ~self.ledger.pending.any(axis=1)
        final = self.decide().only(gone[~self.pool.withdrawn])
        new = np.where(gone, -1, np.cumsum(~gone) - 1).tolist()
        rows = np.flatnonzero(~gone)
        for question in self.questions:
            question.keep(rows)
        if self.learner is not None and len(gone):
            self.learner.rows = self.learner.take(rows)
        self.pool.keep(rows)
        self.staff.move(new)
        self.ledger.move(new)
        self.wishes.keep(rows)
        return final

    # Votes -----------------------------------------------------------------------------------

    def tell(self, votes: Votes | Iterable[Sequence[Any]], *, refit: bool | None = None) -> None:
        """Votes that came, asked for or not, early or late; all are checked before any is taken.

        Parameters
        ----------
        votes
            `Votes` (without weights), or (item, worker, label), with criteria (item, worker, label,
            criterion). A worker whose name nobody knows is None.
        refit
            Whether to learn workers and machine anew; if not given, as often as the plan says.
        """
        told = check_votes(votes, self.label, self.criteria, self.pool, self.staff, self.ledger)
        who = [self.staff.find(vote.worker) for vote in told]
        for (q, row, worker, _), w in zip(told, who, strict=True):
            kind = self.staff.kind[w]
            key = q, row, anyone(kind) if worker is None else w
            self.ledger.settle(key, kind, float(self.wishes.prices[kind]))
            self.staff.votes[kind] += 1
            if worker is not None:
                self.staff.give(w, (q, row))
        codes = np.array([(t.question, t.row, w, t.label) for t, w in zip(told, who, strict=True)])
        for q, question in enumerate(self.questions if told else ()):
            question.hear(*codes[codes[:, 0] == q, 1:].T)
        self.fresh += len(told)
        self.wishes.weigh([vote.row for vote in told])
        if self.due if refit is None else refit:
            self.refit()

    # Judgement -------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether enough votes have come to learn workers and machine anew."""
        count = sum(len(question.book) for question in self.questions)
        return 0 < self.plan.every <= self.fresh and self.fresh >= self.plan.growth * count

    def refit(self) -> None:
        """Learn workers and machine anew from all votes, and weigh all items again."""
        for question in self.questions:
            question.refit(self.pool.fold)
        self.fresh = 0
        self.wishes.learned(self.learner)

    def lesson(self) -> dict[str, Any]:
        """What the last `refit` has learned, as plain data that JSON can hold."""
        return model_update.written(self)

    def learn(self, lesson: Mapping[str, Any], *, weigh: bool = True) -> None:
        """Take over what another campaign with the same items and workers has learned, instead of `refit`.

        Both may have heard more votes since. What is believed then follows from lesson and votes alone.

        Parameters
        ----------
        lesson
            What `lesson` of the other gave.
        weigh
            Whether to find out at once what is wanted now, for all items; if not, until `wishes.weigh` is
            called for an item its votes are wanted as much as before.
        """
        model_update.take(self, lesson, weigh)

    def believed(self) -> Floats:
        """What decisions rest on, (items, classes); with criteria (items, out and in)."""
        return self.wishes.joined([self.policy.final_posterior(evidence_of(q)) for q in self.questions])

    def decide(self) -> Decisions:
        """The decision with the least expected cost about every item; asking for it changes nothing."""
        kept = np.flatnonzero(~self.pool.withdrawn)
        probs = self.believed()[kept]
        final = self.pool.closed[kept]
        codes = np.where(final >= 0, final, self.costs.decide(probs)).astype(np.int32)
        risk = (probs @ self.costs.errors)[np.arange(len(kept)), codes]
        votes = sum(question.tally.sum(axis=1) for question in self.questions)[kept].astype(np.int32)
        names = to_names(self.pool.items)[kept]
        labels = self.classes[codes] if self.costs.errors.shape[1] == len(self.classes) else codes
        return Decisions(names, codes, labels, probs, risk, votes, self.wishes.over[kept])

    def status(self) -> Status:
        """Where the campaign stands."""
        return status_of(self)

    # State -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold, from which `Campaign.from_dict` goes on exactly."""
        return saved_state.written(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, features: Any = None, classifier: Any = None) -> Self:
        """The campaign that `to_dict` has written down.

        Parameters
        ----------
        data
            What `to_dict` gave.
        features, classifier
            As given before, which are not written down: rows for all items that are not forgotten.
        """
        costs, plan = Costs.from_dict(data["costs"]), Plan.from_dict(data["plan"])
        made = cls([], data["classes"], costs, plan=plan, criteria=data["criteria"], classifier=classifier)
        saved_state.resume(made, data, features)
        return made
