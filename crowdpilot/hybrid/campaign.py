"""Campaign: asks for the next votes, takes what comes, and can decide at any moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats, Names, to_names
from crowdpilot.hybrid.answers import Ask, Decisions
from crowdpilot.hybrid.batch import SPARE, Place, best_places, explore, unlike
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.given import check_machine, gold_codes
from crowdpilot.hybrid.ledger import ANYONE, MANY, Ledger
from crowdpilot.hybrid.machine import FOLDS, Learner
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import View, find_policy
from crowdpilot.hybrid.policies.policy import NEVER
from crowdpilot.hybrid.pool import Pool, Rows
from crowdpilot.hybrid.question import Question
from crowdpilot.hybrid.staff import Staff
from crowdpilot.hybrid.stakes import stakes
from crowdpilot.hybrid.training import training_value

SEVERAL = 2  # votes that decide about an item, roughly

PerQuestion = Any  # one value, or with criteria a mapping from their names to values


class Campaign:
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
        self.policy = find_policy(self.plan.policy)
        self.costs, self.classes, self.criteria = costs, to_names(list(classes)), tuple(criteria) or ("",)
        if len(self.classes) != len(costs.errors):
            raise ValueError(f"there are {len(self.classes)} classes, but costs of {len(costs.errors)}")
        if self.several and costs.errors.shape != (2, 2):
            raise ValueError("with criteria there are two classes (no, yes) and two decisions (out, in)")
        self.label = {name: k for k, name in enumerate(self.classes.tolist())}
        self.rng = np.random.default_rng(self.plan.seed)
        kinds = list(costs.prices)
        usual = np.stack([self.plan.usual(kind, len(self.classes)) for kind in kinds])
        self.learner = None if classifier is None else Learner(classifier)
        self.questions = [Question(self.plan, usual, self.learner) for _ in self.criteria]
        self.staff = Staff(kinds, self._enlist)
        self.pool = Pool(len(self.criteria), self.plan.seed, self.plan.pilot if self.policy.pilots else 0)
        self.ledger = Ledger(costs.budget, (len(self.criteria), 0))
        self.prices = np.array([costs.price(kind) for kind in kinds])
        self.want = np.zeros((len(kinds), len(self.criteria), 0))
        self.fold: Rows = np.zeros(0, np.intp)
        self.reached = 0.0  # share of the items that have votes
        self.fresh = 0  # votes since workers and machine were learned
        self.training = 0.0  # what a label brings through the machine
        self.curve: list[tuple[int, float]] = []
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
        said = [check_machine(self._of(machine, c), len(names), len(self.classes)) for c in self.criteria]
        known = [gold_codes(self._of(gold, c), names, self.label) for c in self.criteria]
        looked = any(s is not None for s in said) or self.learner is not None
        if len(names) * self.costs.machine * looked > self.ledger.left:
            raise ValueError(f"the budget does not pay for the machine to look at {len(names)} items")
        if self.learner is not None:
            self.learner.add(features, len(names))
        rows = self.pool.add(names)
        self.ledger.charge(len(names) * self.costs.machine * looked)
        self.ledger.grow(len(names))
        for question, s, k in zip(self.questions, said, known, strict=True):
            question.add(k, s)
        self.fold = np.append(self.fold, (self.pool.hash(names, 1) % FOLDS).astype(np.intp))
        self.want = np.concatenate([self.want, np.zeros((*self.want.shape[:2], len(names)))], axis=2)
        self._weigh(rows)

    def _of(self, given: PerQuestion, criterion: str) -> Any:
        return given.get(criterion) if self.several and given is not None else given

    def withdraw(self, items: Iterable[Any]) -> None:
        """These items are not to be decided any more; votes on them still tell about workers."""
        rows = self.pool.rows(items)
        self.pool.withdrawn[rows] = True
        self._weigh(rows)

    def close(self, items: Iterable[Any] | None = None) -> None:
        """The decision about these items (or all that are done) is final: later votes do not change it."""
        now = self.decide()
        rows = self.pool.rows(now.items[now.done].tolist() if items is None else items)
        final = np.full(len(self.pool), -1, np.int32)
        final[self.pool.rows(now.items.tolist())] = now.codes
        self.pool.closed[rows] = final[rows]
        self._weigh(rows)

    def stop(self, asks: Iterable[Ask]) -> None:
        """No more votes can be had on these."""
        rows = [(self._criterion(ask.criterion), self.pool.rows([ask.item])[0]) for ask in asks]
        for question, row in rows:
            self.pool.shut[question, row] = True
        self._weigh(np.unique([row for _, row in rows]).astype(np.intp))

    def _criterion(self, name: str) -> int:
        if name not in self.criteria:
            raise ValueError(f"there is no criterion {name!r}; there are {', '.join(self.criteria)}")
        return self.criteria.index(name)

    # Votes -----------------------------------------------------------------------------------

    def ask(self, worker: Any = None, n: int = 1, *, kind: str | None = None) -> list[Ask]:
        """Up to `n` votes that are worth their price, to be asked of one worker (or of anyone).

        Nobody is asked the same question twice. What is asked is lent: its price is put aside until
        the vote comes (`tell`) or the worker leaves (`release`).
        """
        who = ANYONE if worker is None else self.staff.find(worker, kind)
        what = self.staff.code_of(kind or self.staff.kinds[0]) if who == ANYONE else self.staff.kind[who]
        n = min(n, self.ledger.room(float(self.prices[what])), self._left(who))
        if n <= 0:
            return []
        chosen = self._choose(who, what, n)
        for question, row in chosen:
            self.ledger.lend((question, row, who), float(self.prices[what]))
            if who != ANYONE:
                self.staff.seen[who].add((question, row))
        self._weigh(np.unique([row for _, row in chosen]).astype(np.intp))
        return [Ask(self.pool.items[row], self.criteria[question]) for question, row in chosen]

    def _left(self, who: int) -> int:
        """How many more votes a worker may give."""
        if who == ANYONE or self.plan.per_worker is None:
            return MANY
        return self.plan.per_worker - len(self.staff.seen[who])

    def _choose(self, who: int, what: int, n: int) -> list[Place]:
        seen = self.staff.seen[who] if who != ANYONE else set()
        wanted = best_places(self.want[what], self.pool.lot, SPARE * n + len(seen))
        wanted = [place for place in wanted if place not in seen]
        if who != ANYONE:
            wanted = self._by_worker(wanted, who, what)
        if self.learner is not None and self.training > 0 and len(wanted) > n:
            worth = np.array([self.want[what][place] for place in wanted])
            rows = np.array([row for _, row in wanted], np.intp)
            wanted = [wanted[i] for i in unlike(worth, self.learner.take(rows), n)]
        return explore(wanted[:n], seen, self.questions, self.pool, self.plan, self.rng)

    def _by_worker(self, wanted: list[Place], who: int, what: int) -> list[Place]:
        """The same places by what this worker's vote is worth there, without those where it is not."""
        worth: dict[Place, float] = {}
        for q, question in enumerate(self.questions):
            rows = np.array([row for place, row in wanted if place == q], np.intp)
            voters = question.voters
            voters[what] = question.voter(who)
            found = self._wanted(rows, q, voters)[what]
            worth |= {(q, int(row)): float(w) for row, w in zip(rows, found, strict=True) if w > 0}
        return sorted(worth, key=lambda place: -worth[place])

    def tell(self, votes: Iterable[tuple[Any, ...]], *, refit: bool | None = None) -> None:
        """Votes that came: (item, worker, label), with criteria (item, worker, label, criterion).

        A worker that nobody knows by name is None. All votes are checked before any is taken.

        Parameters
        ----------
        votes
            Asked for or not, early or late.
        refit
            Whether to learn workers and machine anew; if not given, as often as the plan says.
        """
        told = [self._checked(vote) for vote in votes]
        if len({vote[:3] for vote in told if vote[1] is not None}) < sum(v[1] is not None for v in told):
            raise ValueError("a worker votes twice on the same question, which counts once")
        for q, question in enumerate(self.questions):
            mine = [v for v in told if v[2] == q]
            who = [self.staff.find(worker, None) for _, worker, *_ in mine]
            for (row, worker, *_), w in zip(mine, who, strict=True):
                price = float(self.prices[self.staff.kind[w]])
                self.ledger.settle((q, row, w if worker is not None else ANYONE), price)
                if worker is not None:
                    self.staff.seen[w].add((q, row))
            codes = np.asarray([(v[0], w, v[3]) for v, w in zip(mine, who, strict=True)], np.intp)
            if len(codes):
                question.hear(*codes.T)
        self.fresh += len(told)
        self._weigh(np.unique([vote[0] for vote in told]).astype(np.intp))
        if self.due if refit is None else refit:
            self.refit()

    def _checked(self, vote: tuple[Any, ...]) -> tuple[int, Any, int, int]:
        """Row, worker, question and label of a vote that may be taken."""
        item, worker, label, *criterion = vote
        row = int(self.pool.rows([item])[0])
        question = self._criterion(criterion[0] if criterion else "")
        if label not in self.label:
            known = ", ".join(map(str, self.classes[:10]))
            raise ValueError(f"the label {label!r} of item {item!r} is not a class ({known})")
        if worker in self.staff.place and worker is not None:
            w = self.staff.place[worker]
            if (question, row) in self.staff.seen[w] and (question, row, w) not in self.ledger.lent:
                raise ValueError(f"worker {worker!r} has voted on item {item!r} already")
        return row, worker, question, self.label[label]

    def release(self, worker: Any) -> None:
        """A worker has left: what was lent to them goes to others; they may still answer late."""
        if worker in self.staff.place:
            who = self.staff.place[worker]
            back = self.ledger.release(who)
            self.staff.seen[who] -= {key[:2] for key in back}
            self._weigh(np.unique([key[1] for key in back]).astype(np.intp))

    def _enlist(self, kind: int) -> None:
        for question in self.questions:
            question.enlist(kind)

    # Judgement -------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether enough votes have come to learn workers and machine anew."""
        count = sum(len(question.item) for question in self.questions)
        return 0 < self.plan.every <= self.fresh and self.fresh >= self.plan.growth * count

    def refit(self) -> None:
        """Learn workers and machine anew from all votes, and weigh all items again."""
        for question in self.questions:
            question.refit(self.fold)
        self.fresh = 0
        self.reached = float(np.any([q.tally.any(axis=1) for q in self.questions], axis=0).mean())
        if self.learner is not None:
            self.training = self._taught()
        self._weigh(np.arange(len(self.pool)))

    def _taught(self) -> float:
        """What one more label brings through the machine, by its learning curve so far."""
        said = [question.machine for question in self.questions if question.machine is not None]
        new = self.pool.open & ~np.any([q.tally.any(axis=1) for q in self.questions], axis=0)
        if len(said) < len(self.questions) or not new.any():
            return 0.0
        # Whatever the machine leaves undone, a few votes will do.
        loss = np.minimum(self.costs.expected(self._joined(said)), SEVERAL * self.prices[0])
        self.curve.append((sum(len(q.item) for q in self.questions), float(loss.mean())))
        return training_value(self.curve, int(new.sum()))

    def _weigh(self, rows: Rows) -> None:
        """How much a vote on these items is wanted."""
        for q, question in enumerate(self.questions):
            self.want[:, q, rows] = self._wanted(rows, q, question.voters)

    def _wanted(self, rows: Rows, q: int, voters: Floats) -> Floats:
        """How much a vote of each kind is wanted on one question about some items, (kinds, items)."""
        question, probs = self.questions[q], [other.probs[rows] for other in self.questions]
        errors, rest = stakes(probs, q, self.costs.errors)
        view = View(
            probs[q], question.machine_of(rows), question.tally[rows], self.ledger.pending[q, rows],
            errors, voters, self.prices, rest, self.training, self.reached,
        )  # fmt: skip
        wanted = self.policy.want(view)
        wanted[0, self.pool.pilot[rows] & (view.votes < self.plan.pilot_votes)] = np.inf
        full = False if self.plan.per_item is None else view.votes >= self.plan.per_item
        never = full | ~self.pool.open[rows] | self.pool.shut[q, rows] | (question.gold[rows] >= 0)
        return np.where(never, NEVER, wanted)

    def believed(self) -> Floats:
        """What decisions rest on, (items, classes); with criteria (items, out and in)."""
        return self._joined([self.policy.judge(question) for question in self.questions])

    def _joined(self, probs: list[Floats]) -> Floats:
        """One belief about each item from those of all questions."""
        if not self.several:
            return probs[0]
        inside = np.prod([p[:, 1] for p in probs], axis=0)
        return np.stack([1 - inside, inside], axis=1)

    def decide(self) -> Decisions:
        """The decision with the least expected cost about every item; asking for it changes nothing."""
        kept = np.flatnonzero(~self.pool.withdrawn)
        probs = self.believed()[kept]
        final = self.pool.closed[kept]
        codes = np.where(final >= 0, final, self.costs.decide(probs)).astype(np.int32)
        risk = (probs @ self.costs.errors)[np.arange(len(kept)), codes]
        votes = sum(question.tally.sum(axis=1) for question in self.questions)[kept].astype(np.int32)
        done = np.asarray((self.want[:, :, kept] <= 0).all(axis=(0, 1)))
        names = to_names(self.pool.items)[kept]
        labels = self.classes[codes] if self.costs.errors.shape[1] == len(self.classes) else codes
        return Decisions(names, codes, labels, probs, risk, votes, done)
