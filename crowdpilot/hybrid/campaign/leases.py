"""Lending: which votes are asked of whom, what comes back without an answer, and what is taken back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from crowdpilot.hybrid.campaign.acquisition import Wishes
from crowdpilot.hybrid.campaign.classifier import Learner
from crowdpilot.hybrid.campaign.decisions import Ask
from crowdpilot.hybrid.campaign.input_checks import criterion_code
from crowdpilot.hybrid.campaign.items import Pool
from crowdpilot.hybrid.campaign.ledger import Ledger, anyone
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.hybrid.campaign.workers import Place, Staff
from crowdpilot.hybrid.plan import Plan


class Lending:
    """The part of a campaign that deals with workers: a question is lent until its vote comes."""

    plan: Plan
    criteria: tuple[str, ...]
    questions: list[Question]
    learner: Learner | None
    pool: Pool
    staff: Staff
    ledger: Ledger
    wishes: Wishes
    asked: int  # how often somebody was asked; numbers what is drawn by lot
    fresh: int

    def hire(self, worker: Any, kind: str | None = None) -> None:
        """Make a worker known as one of a kind, such as an expert; others are of the first kind."""
        self.wishes.meet(self.staff.kind[self.staff.find(worker, kind)])

    def ask(self, worker: Any = None, n: int = 1, *, kind: str | None = None) -> list[Ask]:
        """Up to `n` votes that are worth their price, to be asked of one worker (or of anyone).

        Nobody is asked the same question twice. What is asked is lent: its price is put aside until
        the vote comes (`tell`) or the worker leaves (`release`).
        """
        who, what = self._find(worker, kind)
        seen: set[Place] = set() if worker is None else self.staff.seen[who]
        if worker is not None and self.plan.per_worker is not None:
            n = min(n, self.plan.per_worker - self.staff.given[who])
        self.wishes.meet(what)
        n = min(n, self.ledger.room(float(self.wishes.prices[what])))
        if n <= 0:
            return []
        rng = np.random.default_rng([self.plan.seed, self.asked])
        chosen = self.wishes.choose(who, what, seen, n, self.learner, rng)
        self._lend(who, chosen)
        return [Ask(self.pool.items[row], self.criteria[question]) for question, row in chosen]

    def lend(self, asks: Iterable[Ask], worker: Any = None, *, kind: str | None = None) -> None:
        """These are asked of a worker (or of anyone), as if `ask` had chosen them.

        So a campaign keeps up with another that does the choosing. What was lent to them already stays so.
        """
        who, what = self._find(worker, kind)
        self.wishes.meet(what)
        self._lend(who, [place for place in self._places(asks) if (*place, who) not in self.ledger.lent])

    def _lend(self, who: int, places: list[Place]) -> None:
        price = float(self.wishes.prices[self.staff.kind[who] if who >= 0 else -1 - who])
        for place in places:
            self.ledger.lend((*place, who), price)
            if who >= 0:
                self.staff.give(who, place)
        self.asked += 1
        self.wishes.weigh([row for _, row in places])

    def release(self, worker: Any = None, asks: Iterable[Ask] | None = None, *, again: bool = True) -> None:
        """What was lent to a worker who has left (or only these) goes to others; they may still answer late.

        None is whoever was asked without a name. With `again` they may be asked the same another time;
        without, they have said that they cannot tell.
        """
        named = [self.staff.place[worker]] if worker in self.staff.place else []
        only = None if asks is None else set(self._places(asks))
        for who in map(anyone, range(len(self.staff.kinds))) if worker is None else named:
            back = self.ledger.release(who, only)
            if worker is not None and again:
                self.staff.take_back(who, {key[:2] for key in back})
            self.wishes.weigh([row for _, row, _ in back])

    def retract(self, asks: Iterable[Ask], worker: Any) -> None:
        """A worker takes answers back, votes or "cannot tell": these questions are lent to them again."""
        if worker not in self.staff.place:
            raise ValueError(f"worker {worker!r} has not answered anything")
        who, places = self.staff.place[worker], self._places(asks)
        answered = [p for p in places if p in self.staff.seen[who] and (*p, who) not in self.ledger.lent]
        if len(answered) < len(places):
            raise ValueError(f"worker {worker!r} has not answered what is to be taken back")
        kind = self.staff.kind[who]
        for question, row in places:
            if self.questions[question].unhear(row, who):
                self.ledger.spent -= float(self.wishes.prices[kind])
                self.staff.votes[kind] -= 1
                self.fresh = max(0, self.fresh - 1)
        self._lend(who, places)

    def _find(self, worker: Any, kind: str | None) -> tuple[int, int]:
        """The number of a worker, or of anyone of a kind; and of the kind."""
        if worker is None:
            what = self.staff.code_of(kind or self.staff.kinds[0])
            return anyone(what), what
        who = self.staff.find(worker, kind)
        return who, self.staff.kind[who]

    def _places(self, asks: Iterable[Ask]) -> list[Place]:
        return [(criterion_code(name, self.criteria), self.pool.row(item)) for item, name in asks]
