"""Acquisition values: the value of a vote of each kind of worker on each item, and the choice of batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.growing_arrays import append_rows
from crowdpilot.hybrid.campaign.batch import CANDIDATES_PER_VOTE, BestCells, diverse, explore, mix_gold
from crowdpilot.hybrid.campaign.estimation.classifier import CrossFittedClassifier
from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.hybrid.campaign.items import Items, Rows
from crowdpilot.hybrid.campaign.ledger import Ledger
from crowdpilot.hybrid.campaign.workers import Cell
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import View, find_policy
from crowdpilot.hybrid.policy import NEVER
from crowdpilot.hybrid.value.screening import inclusion_probability, others_hold, screening_errors
from crowdpilot.hybrid.value.training_value import training_value
from crowdpilot.json_values import pack, unpack

MAX_CELLS_PER_BLOCK = 2**20  # numbers in the error costs of a block of items
VOTES_TO_DECIDE = 2  # roughly, on an item that the classifier leaves open


class AcquisitionValues:
    """The policy's value of a vote of every kind of worker on every question about every item.

    Parameters
    ----------
    plan, costs
        Of the campaign.
    questions, items, ledger
        Posteriors, states of the items and pending votes; only read here.
    classifier
        Whose features make batches diverse and whose learning curve gives labels a training value, if any.
    """

    def __init__(
        self,
        plan: Plan,
        costs: Costs,
        questions: Sequence[Question],
        items: Items,
        ledger: Ledger,
        classifier: CrossFittedClassifier | None = None,
    ) -> None:
        self._plan, self._costs, self.policy = plan, costs, find_policy(plan.policy)
        self._questions, self._items, self._ledger = questions, items, ledger
        self._classifier = classifier
        self.prices = np.array(list(costs.prices.values()))
        self.kinds_met = np.arange(len(self.prices)) == 0  # kinds of which a worker has come
        self.values: Floats = np.zeros((0, len(self.prices), len(questions)))  # (items, kinds, questions)
        self._best = [BestCells() for _ in self.prices]  # by kind
        self.share_with_votes = 0.0  # of the items, at the last refit
        self.training_value = 0.0  # of one more label, through the classifier
        self.learning_curve: list[tuple[int, float]] = []  # (votes, mean loss) after each refit

    def add_items(self, n: int) -> None:
        """Make room for new items, whose values are to be recomputed."""
        self.values = append_rows(self.values, np.zeros((n, *self.values.shape[1:])))
        self._forget_best()

    def keep(self, rows: Rows) -> None:
        """Drop all other items."""
        self.values = self.values[rows]
        self._forget_best()

    def _forget_best(self) -> None:
        for best in self._best:
            best.forget()

    def include_kind(self, kind: int) -> None:
        """A worker of a kind has come: items may wait for votes of this kind from now on."""
        if not self.kinds_met[kind]:
            self.kinds_met[kind] = True
            self.recompute_all()

    def restore_kinds(self, kinds_met: NDArray[np.bool_]) -> None:
        """Go back to these kinds, (kinds,)."""
        if (self.kinds_met != kinds_met).any():
            self.kinds_met[:] = kinds_met
            self.recompute_all()

    @property
    def done(self) -> NDArray[np.bool_]:
        """Items on which no vote has a value above 0 and none is pending, (items,)."""
        worthless, idle = (self.values <= 0).all(axis=(1, 2)), ~self._ledger.pending.any(axis=1)
        return np.asarray(worthless & idle)

    def recompute(self, rows: Iterable[int] | Rows) -> None:
        """Recompute the values of votes on these items."""
        some = np.unique(np.asarray(list(rows) if not isinstance(rows, np.ndarray) else rows, np.intp))
        for q, question in enumerate(self._questions):
            self.values[some, :, q] = self._values_of(some, q, question.next_worker_confusion()).T
        for best in self._best:
            best.update(some)

    def recompute_all(self) -> None:
        """Recompute the values of votes on all items."""
        self.recompute(np.arange(len(self._items)))

    def _values_of(self, rows: Rows, q: int, confusion: Floats) -> Floats:
        """Values of votes on one question, (kinds, rows), by workers with matrices (kinds, true, said)."""
        size = max(1, MAX_CELLS_PER_BLOCK // self._costs.errors.size)
        blocks = [rows[start : start + size] for start in range(0, max(len(rows), 1), size)]
        return np.concatenate([self._values_of_block(block, q, confusion) for block in blocks], axis=1)

    def _values_of_block(self, rows: Rows, q: int, confusion: Floats) -> Floats:
        """The same for some of them, as error costs may differ between items."""
        question, items = self._questions[q], self._items
        errors, others = self._errors(rows, q)
        prices = np.where(self.kinds_met, self.prices, np.inf)
        posteriors = question.posteriors
        view = View(
            posteriors.posterior[rows], posteriors.calibrated_probs(rows), question.tally[rows],
            self._ledger.pending[rows, q], errors, confusion, prices, posteriors.consensus[rows],
            posteriors.consensus_errors(rows, errors), posteriors.experts, others, self.training_value,
            self.share_with_votes,
        )  # fmt: skip
        values = self.policy.acquisition_values(view)
        requested = view.votes < items.votes_wanted[rows, q]
        values[0, items.pilot[rows] & (view.votes < self._plan.pilot_votes)] = np.inf
        full = False if self._plan.per_item is None else view.votes >= self._plan.per_item
        is_overridden = items.is_overridden(rows) | (items.override[rows, q] >= 0)
        values = np.where(full | is_overridden, NEVER, values)
        values[0, requested] = np.inf
        open_ = ~items.withdrawn[rows] & (items.closed[rows] < 0) & ~items.stopped[rows, q]
        return np.where(~open_ | (question.gold[rows] >= 0), NEVER, values)

    def _errors(self, rows: Rows, q: int) -> tuple[Floats, Floats]:
        """Error costs as one question sees them, and the probability that all other criteria hold."""
        if len(self._questions) == 1:
            return self._costs.errors, np.ones(len(rows))
        posteriors = [question.posterior[rows] for question in self._questions]
        known = with_overrides(posteriors, self._items.override[rows])
        holds = np.stack([posterior[:, 1] for posterior in known], axis=1).ravel()
        item = np.repeat(np.arange(len(rows)), len(self._questions))
        own = slice(q, None, len(self._questions))
        return screening_errors(holds, item, self._costs.errors)[own], others_hold(holds, item)[own]

    def choose(
        self, worker: int, kind: int, asked: set[Cell], n: int, rng: np.random.Generator, gold_share: float
    ) -> list[Cell]:
        """Up to `n` cells to ask of one worker, or (below 0) of anyone of a kind; none of `asked`."""
        items, classifier = self._items, self._classifier
        cells = self._best[kind].find(self.values[:, kind], items.tie_break, CANDIDATES_PER_VOTE * n, asked)
        if worker >= 0:
            cells = self._for_worker(cells, worker, kind)
        if classifier is not None and classifier.is_numeric and self.training_value > 0 and len(cells) > n:
            values = np.array([self.values[row, kind, q] for q, row in cells])
            rows = np.array([row for _, row in cells], np.intp)
            cells = [cells[i] for i in diverse(values, classifier.features_of(rows), n)]
        cells = self._explore(cells[:n], asked, rng)
        if gold_share == 0:
            return cells
        gold = np.stack([question.gold for question in self._questions], axis=1)
        gold[items.withdrawn[:, None] | items.stopped] = -1
        return mix_gold(cells, asked, gold, gold_share, rng)

    def _explore(self, cells: list[Cell], asked: set[Cell], rng: np.random.Generator) -> list[Cell]:
        """The same cells, some replaced by random ones, as the plan says."""
        if self._plan.explore + self._plan.gold == 0:
            return cells
        items = self._items
        known = np.stack([question.gold >= 0 for question in self._questions], axis=1)
        free = items.open[:, None] & ~items.stopped & (items.override < 0)
        if self._plan.per_item is not None:
            votes = np.stack([question.tally.sum(axis=1) for question in self._questions], axis=1)
            free &= votes + self._ledger.pending < self._plan.per_item
        tests = known & ~items.withdrawn[:, None] & ~items.stopped
        return explore(cells, asked, free & ~known, tests, self._plan, rng)

    def _for_worker(self, cells: list[Cell], worker: int, kind: int) -> list[Cell]:
        """The same cells by the value of this worker's own vote, without those where it has none.

        A worker whose accuracy is at least the median of the kind keeps all cells: a vote that is worth
        its price from an average worker must be given by somebody.
        """
        own_value: dict[Cell, float] = {}
        for q, question in enumerate(self._questions):
            rows = np.array([row for asked_about, row in cells if asked_about == q], np.intp)
            confusion = question.next_worker_confusion()
            confusion[kind] = question.worker_confusion(worker)
            values = self._values_of(rows, q, confusion)[kind].tolist()
            is_good = question.matrices.is_above_median(worker, question.class_prior)
            least = -np.inf if is_good else 0.0
            own_value |= {(q, row): v for row, v in zip(rows.tolist(), values, strict=True) if v > least}
        return sorted((cell for cell in cells if cell in own_value), key=lambda cell: -own_value[cell])

    def after_refit(self) -> None:
        """Recompute everything with the newly fitted confusion matrices and classifier."""
        voted = np.any([question.tally.any(axis=1) for question in self._questions], axis=0)
        self.share_with_votes = float(voted.mean()) if len(voted) else 0.0
        if self._classifier is not None:
            self.training_value = self._extend_curve(self._items.open & ~voted)
        self.recompute_all()

    def _extend_curve(self, unlabelled: NDArray[np.bool_]) -> float:
        """Add a point to the learning curve; the training value of one more label."""
        probs = [q.classifier_probs for q in self._questions if q.classifier_probs is not None]
        if len(probs) < len(self._questions) or not unlabelled.any():
            return 0.0
        # An item that the classifier leaves open costs no more than the few votes that decide it.
        loss = np.minimum(self._costs.expected(joint_posterior(probs)), VOTES_TO_DECIDE * self.prices[0])
        votes = sum(len(question.vote_log) for question in self._questions)
        self.learning_curve.append((votes, float(loss.mean())))
        return training_value(self.learning_curve, int(unlabelled.sum()))

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign."""
        return {
            "kinds_met": pack(self.kinds_met),
            "values": pack(self.values),
            "share_with_votes": self.share_with_votes,
            "training_value": self.training_value,
            "learning_curve": [list(point) for point in self.learning_curve],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned."""
        self.kinds_met, self.values = unpack(state["kinds_met"]), unpack(state["values"])
        self._forget_best()
        self.share_with_votes, self.training_value = state["share_with_votes"], state["training_value"]
        self.learning_curve = [(votes, loss) for votes, loss in state["learning_curve"]]


def with_overrides(posteriors: Sequence[Floats], override: Codes) -> list[Floats]:
    """The posteriors of all questions, each (items, classes), sure of what an expert decided.

    `override` has the code of the class, -1 where there is none, (items, questions).
    """
    return [_sure(posterior, code) for posterior, code in zip(posteriors, override.T, strict=True)]


def _sure(posterior: Floats, code: Codes) -> Floats:
    if (code < 0).all():
        return posterior
    return np.where(code[:, None] >= 0, np.eye(posterior.shape[1])[code], posterior)


def joint_posterior(posteriors: Sequence[Floats]) -> Floats:
    """One posterior from those of all questions, each (items, classes): with criteria P(out) and P(in)."""
    if len(posteriors) == 1:
        return posteriors[0]
    holds = np.stack([posterior[:, 1] for posterior in posteriors], axis=1)
    item = np.repeat(np.arange(len(holds)), len(posteriors))
    inside = inclusion_probability(holds.ravel(), item, len(holds))
    return np.stack([1 - inside, inside], axis=1)
