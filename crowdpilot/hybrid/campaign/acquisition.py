"""Wishes: how much each vote is wanted, kept up to date item by item, and which to ask for next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.growing_arrays import grown
from crowdpilot.hybrid.campaign.batch import SPARE, best_places, explore, unlike
from crowdpilot.hybrid.campaign.classifier import Learner
from crowdpilot.hybrid.campaign.items import Pool, Rows
from crowdpilot.hybrid.campaign.ledger import Ledger
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.hybrid.campaign.workers import Place
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import View, find_policy
from crowdpilot.hybrid.policy import NEVER
from crowdpilot.hybrid.value.screening import inclusion_probability, others_hold, screening_errors
from crowdpilot.hybrid.value.training_value import training_value

SEVERAL = 2  # votes that decide about an item, roughly


class Wishes:
    """What the policy wants, for every kind of worker and every question about every item.

    Parameters
    ----------
    plan, costs
        Of the campaign.
    questions, pool, ledger
        What is known of the items, and what is asked already.
    """

    def __init__(
        self, plan: Plan, costs: Costs, questions: Sequence[Question], pool: Pool, ledger: Ledger
    ) -> None:
        self.plan, self.costs, self.policy = plan, costs, find_policy(plan.policy)
        self.questions, self.pool, self.ledger = questions, pool, ledger
        self.prices = np.array(list(costs.prices.values()))
        self.met = np.arange(len(self.prices)) == 0  # kinds of workers that have come
        self.want: Floats = np.zeros((0, len(self.prices), len(questions)))
        self.reached = 0.0  # share of the items that have votes
        self.training = 0.0  # what a label brings through the machine
        self.curve: list[tuple[int, float]] = []

    def grow(self, items: int) -> None:
        """There are more items."""
        self.want = grown(self.want, np.zeros((items, *self.want.shape[1:])))

    def keep(self, rows: Rows) -> None:
        """Forget all other items."""
        self.want = self.want[rows]

    def meet(self, kind: int) -> None:
        """A worker of a kind is there: from now on items may wait for such, before nothing does."""
        if not self.met[kind]:
            self.met[kind] = True
            self.weigh(np.arange(len(self.pool)))

    @property
    def over(self) -> NDArray[np.bool_]:
        """Whether no vote on an item is wanted, and none awaited, (items,)."""
        unwanted, idle = (self.want <= 0).all(axis=(1, 2)), ~self.ledger.pending.any(axis=1)
        return np.asarray(unwanted & idle)

    def weigh(self, rows: Iterable[int] | Rows) -> None:
        """Find out anew how much votes on these items are wanted."""
        some = np.unique(np.asarray(list(rows) if not isinstance(rows, np.ndarray) else rows, np.intp))
        for q, question in enumerate(self.questions):
            self.want[some, :, q] = self._wanted(some, q, question.voters).T

    def _wanted(self, rows: Rows, q: int, voters: Floats) -> Floats:
        """How much a vote of each kind is wanted on one question about some items, (kinds, items)."""
        question = self.questions[q]
        errors, rest = self._stakes(rows, q)
        prices = np.where(self.met, self.prices, np.inf)
        view = View(
            question.probs[rows], question.machine_of(rows), question.tally[rows],
            self.ledger.pending[rows, q], errors, voters, prices, rest, self.training, self.reached,
        )  # fmt: skip
        wanted = self.policy.acquisition_values(view)
        wanted[0, self.pool.pilot[rows] & (view.votes < self.plan.pilot_votes)] = np.inf
        full = False if self.plan.per_item is None else view.votes >= self.plan.per_item
        open_ = ~self.pool.withdrawn[rows] & (self.pool.closed[rows] < 0) & ~self.pool.shut[rows, q]
        return np.where(full | ~open_ | (question.gold[rows] >= 0), NEVER, wanted)

    def _stakes(self, rows: Rows, q: int) -> tuple[Floats, Floats]:
        """Costs of decisions as one question sees them, and how probably all others hold."""
        if len(self.questions) == 1:
            return self.costs.errors, np.ones(len(rows))
        holds = np.stack([question.probs[rows, 1] for question in self.questions], axis=1).ravel()
        item = np.repeat(np.arange(len(rows)), len(self.questions))
        mine = slice(q, None, len(self.questions))
        return screening_errors(holds, item, self.costs.errors)[mine], others_hold(holds, item)[mine]

    def joined(self, probs: Sequence[Floats]) -> Floats:
        """One belief about each item from those of all questions, (items, classes)."""
        if len(self.questions) == 1:
            return probs[0]
        holds = np.stack([p[:, 1] for p in probs], axis=1)
        item = np.repeat(np.arange(len(holds)), len(probs))
        inside = inclusion_probability(holds.ravel(), item, len(holds))
        return np.stack([1 - inside, inside], axis=1)

    def choose(
        self,
        worker: int,
        kind: int,
        seen: set[Place],
        n: int,
        learner: Learner | None,
        rng: np.random.Generator,
    ) -> list[Place]:
        """Up to `n` votes to ask for together, of one worker, or of anyone of a kind (below 0)."""
        wanted = best_places(self.want[:, kind], self.pool.lot, SPARE * n, seen)
        if worker >= 0:
            wanted = self._by_worker(wanted, worker, kind)
        if learner is not None and learner.compares and self.training > 0 and len(wanted) > n:
            worth = np.array([self.want[row, kind, q] for q, row in wanted])
            rows = np.array([row for _, row in wanted], np.intp)
            wanted = [wanted[i] for i in unlike(worth, learner.take(rows), n)]
        if self.plan.explore + self.plan.gold == 0:
            return wanted[:n]
        known = np.stack([question.gold >= 0 for question in self.questions], axis=1)
        free = self.pool.open[:, None] & ~self.pool.shut
        if self.plan.per_item is not None:
            votes = np.stack([question.tally.sum(axis=1) for question in self.questions], axis=1)
            free &= votes + self.ledger.pending < self.plan.per_item
        tests = known & ~self.pool.withdrawn[:, None] & ~self.pool.shut
        return explore(wanted[:n], seen, free & ~known, tests, self.plan, rng)

    def _by_worker(self, wanted: list[Place], worker: int, kind: int) -> list[Place]:
        """The same places by what this worker's vote is worth there, without those where it is not.

        Who is as good as most is given the others too: if a vote of a usual worker is wanted, somebody
        has to give it.
        """
        worth: dict[Place, float] = {}
        for q, question in enumerate(self.questions):
            rows = np.array([row for place, row in wanted if place == q], np.intp)
            voters = question.voters
            voters[kind] = question.voter(worker)
            found = self._wanted(rows, q, voters)[kind].tolist()
            least = -np.inf if question.is_good(worker) else 0.0
            worth |= {(q, row): w for row, w in zip(rows.tolist(), found, strict=True) if w > least}
        return sorted((place for place in wanted if place in worth), key=lambda place: -worth[place])

    def learned(self, learner: Learner | None) -> None:
        """Workers and machine are known better now: weigh all items again."""
        voted = np.any([question.tally.any(axis=1) for question in self.questions], axis=0)
        self.reached = float(voted.mean()) if len(voted) else 0.0
        if learner is not None:
            self.training = self._taught(self.pool.open & ~voted)
        self.weigh(np.arange(len(self.pool)))

    def _taught(self, new: NDArray[np.bool_]) -> float:
        """What one more label brings through the machine, by its learning curve so far."""
        said = [question.machine for question in self.questions if question.machine is not None]
        if len(said) < len(self.questions) or not new.any():
            return 0.0
        # Whatever the machine leaves undone, a few votes will do.
        loss = np.minimum(self.costs.expected(self.joined(said)), SEVERAL * self.prices[0])
        self.curve.append((sum(len(question.book) for question in self.questions), float(loss.mean())))
        return training_value(self.curve, int(new.sum()))
