"""Audit: experts check decided items drawn with weights; bounds on the cost hold at any stopping time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Codes, Floats, divide, has_repeats
from crowdpilot.hybrid.audit.betting import failure_probability
from crowdpilot.hybrid.audit.expert_errors import expert_error_upper, loss_with_misses
from crowdpilot.hybrid.audit.loss_bound import LossBound
from crowdpilot.hybrid.audit.pool import Bound, check_pool, of_decision, wrong_decisions
from crowdpilot.hybrid.audit.strata import stratify
from crowdpilot.hybrid.costs import Costs
from crowdpilot.notebook_html import histogram, panel

UNKNOWN = -1
PLANNED_SHARE = 0.1  # of the items, by default
ALPHA_SHARES = (0.5, 0.4, 0.1)  # of reported losses, error rate of experts, and misses, if experts err
STATE_VERSION = 1


class Audit:
    """Which decided items to check next, and a bound on the cost of all from those checked.

    Items are drawn without replacement, more often where the model expects a loss, and never with
    probability zero where a loss is possible. The bound holds for any model, however wrong, and at any
    stopping time; a good model makes it tight.

    Parameters
    ----------
    costs
        Of errors.
    decided
        The decision about each item, (items,).
    probs
        Posterior of its classes, (items, classes), or the expected cost of the decision, (items,).
    level
        Probability with which the bound holds.
    seed
        Of the draws. It must not be chosen by looking at the result.
    planned
        About how many items will be checked, by default a tenth of them. The bound holds at any other
        number too, and is tightest near this one.
    experts_err
        Whether answers may be wrong. Second opinions are then needed, and the bound assumes that experts
        err independently of each other, about any item with the same probability.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random(2000) / 5  # probability that decision 0 is wrong
    >>> truth = (rng.random(2000) < wrong).astype(int)
    >>> audit = Audit(Costs.binary(), np.zeros(2000, int), np.stack([1 - wrong, wrong], axis=1), seed=1)
    >>> items = audit.draw(200)
    >>> audit.add_answers(items, truth[items])
    >>> truth.mean() <= audit.bound().cost <= 2 * truth.mean()
    np.True_
    """

    def __init__(
        self,
        costs: Costs,
        decided: ArrayLike,
        probs: ArrayLike,
        *,
        level: float = 0.95,
        seed: int = 0,
        planned: float | None = None,
        experts_err: bool = False,
    ) -> None:
        decided, probs = np.asarray(decided), np.asarray(probs, np.float64)
        check_pool(costs, decided, probs)
        if probs.ndim == 2:
            expected = of_decision(probs @ costs.errors, decided)
            error_probability = of_decision(probs @ wrong_decisions(costs.errors), decided)
        else:
            expected = probs
            error_probability = np.clip(divide(expected, costs.errors.max(axis=0)[decided], 0.0), 0, 1)
        planned = PLANNED_SHARE * len(decided) if planned is None else planned
        self._start(costs.errors, decided, expected, error_probability, level, seed, planned, experts_err)

    def _start(
        self,
        errors: Floats,
        decided: Codes,
        expected: Floats,
        error_probability: Floats,
        level: float,
        seed: int,
        planned: float,
        experts_err: bool,
    ) -> None:
        """Start without draws; `expected` cost and `error_probability` are of the decisions, (items,)."""
        self._alpha = failure_probability(level)
        if not planned > 0:
            raise ValueError(f"{planned} items are planned to be checked, expected one or more")
        self.errors, self._wrong, self.decided = errors, wrong_decisions(errors), decided
        self._expected, self._error_probability = expected, error_probability
        self.level, self._seed, self._planned = level, seed, float(planned)
        self.experts_err = experts_err
        cap = errors.max(axis=0)[decided]
        loss_probability = np.clip(divide(expected, cap, 0.0), 0, 1)
        self._strata = stratify(cap, loss_probability)
        alpha = self._alpha * (ALPHA_SHARES[0] if experts_err else 1)
        self._cost = LossBound(self._strata, cap, loss_probability, alpha, planned)
        self._error = LossBound(self._strata, np.ones(len(cap)), error_probability, alpha, planned)
        shuffled = np.random.default_rng(seed).permutation(len(cap))
        self._order = shuffled[np.argsort(self._strata.code[shuffled], kind="stable")]
        self._left = self._strata.size.copy()
        self._ends = np.cumsum(self._strata.size).astype(int)
        self._drawn: list[int] = []
        self._draw_of: dict[int, int] = {}  # the number of the draw of an item
        self._settled_before: list[int] = []  # how many draws were settled before each draw
        self._answers: list[int] = []  # by draw
        self._second_answers: list[int] = []  # of the first draws
        self._settled = 0  # draws whose loss counts in the bound

    @property
    def pending(self) -> list[int]:
        """Items drawn without an answer; the bound uses the draws before the first of them."""
        return [i for i, code in zip(self._drawn, self._answers, strict=True) if code == UNKNOWN]

    @property
    def pending_second(self) -> list[int]:
        """Items drawn for a second expert without an answer."""
        return [i for i, code in zip(self._drawn, self._second_answers, strict=False) if code == UNKNOWN]

    @property
    def answers(self) -> dict[int, int]:
        """Classes given by experts, by item."""
        return self._answered(self._answers)

    @property
    def second_answers(self) -> dict[int, int]:
        """Classes given by second experts, by item."""
        return self._answered(self._second_answers)

    def _answered(self, codes: list[int]) -> dict[int, int]:
        return {i: code for i, code in zip(self._drawn, codes, strict=False) if code != UNKNOWN}

    def draw(self, n: int = 1) -> list[int]:
        """Draw the next items to be checked; fewer at the end of the pool."""
        return [self._draw(None) for _ in range(n) if self._left @ self._cost.sampling_weight > 0]

    def add_answers(self, items: ArrayLike, classes: ArrayLike) -> None:
        """Add the true classes, as codes, of items that were drawn, in any order."""
        checked = self._check(items, classes, self._answers, "twice: the truth of")
        for draw, code in checked.items():
            self._answers[draw] = code
        self._settle(len(self._drawn))

    def draw_second(self, n: int = 1) -> list[int]:
        """Items for a second expert: the first drawn, whatever their answers."""
        start = len(self._second_answers)
        self._second_answers += [UNKNOWN] * min(n, len(self._drawn) - start)
        return self._drawn[start : len(self._second_answers)]

    def add_second_answers(self, items: ArrayLike, classes: ArrayLike) -> None:
        """Add the classes given by a second expert, who has not seen the answers of the first."""
        checked = self._check(items, classes, self._second_answers, "twice: a second opinion on")
        for draw, code in checked.items():
            self._second_answers[draw] = code

    def bound(self) -> Bound:
        """The bounds that follow from the answers so far."""
        size = len(self.decided)
        cost, wrong = self._cost.upper(), self._error.upper()
        if self.experts_err:
            return self._bound_with_misses(cost, wrong)
        cost_left = max(cost - self._cost.known_loss, 0.0)
        wrong_left = max(wrong - self._error.known_loss, 0.0)
        return Bound(
            items=size, checked=self._settled,
            cost=cost / size, cost_low=self._cost.lower() / size, total=cost,
            error_rate=wrong / size, error_rate_low=self._error.lower() / size,
            remaining_cost=cost_left / size, remaining_total=cost_left,
            remaining_error_rate=wrong_left / size,
        )  # fmt: skip

    def _bound_with_misses(self, reported_cost: float, reported_wrong: float) -> Bound:
        """Bounds on true instead of reported losses; lower bounds are zero."""
        size, most = len(self.decided), float(self._cost.cap @ self._cost.size)
        both = zip(self._answers, self._second_answers, strict=False)
        pairs = [(a, b) for a, b in both if min(a, b) > UNKNOWN]
        disagreements = sum(a != b for a, b in pairs)
        error = expert_error_upper(len(pairs), disagreements, ALPHA_SHARES[1] * self._alpha)
        alpha = ALPHA_SHARES[2] * self._alpha
        total = min(loss_with_misses(reported_cost, float(self._cost.cap.max()), error, alpha), most)
        wrong = min(loss_with_misses(reported_wrong, 1.0, error, alpha), size)
        return Bound(
            size, self._settled, total / size, 0.0, total, wrong / size, 0.0, None, None, None, error
        )

    def __repr__(self) -> str:
        return f"Audit({self._settled} of {len(self.decided)} items checked, {len(self.pending)} pending)"

    def _repr_html_(self) -> str:
        expected = histogram(self._error_probability, "probability of an error")
        return panel("Audit", repr(self)[6:-1], self.bound()._repr_html_(), sparks=[expected])

    def estimate(self) -> float:
        """Unbiased estimate of the cost per item, as decided and if experts are right."""
        return self._cost.estimate() / len(self.decided)

    def done(self, target: float) -> bool:
        """Whether the bound on the cost per item is at most this; it may be checked after every answer."""
        return self.bound().cost <= target

    def _draw(self, item: int | None) -> int:
        """Draw an item, or repeat an earlier draw; the bets do not depend on which item it is."""
        share = self._cost.sampling_weight / (self._left @ self._cost.sampling_weight)
        if item is None:
            u = np.random.default_rng([self._seed, len(self._drawn)]).random()
            open_ = np.flatnonzero(self._left * share)
            cumulative = np.cumsum((self._left * share)[open_])
            index = np.searchsorted(cumulative, u * cumulative[-1], side="right")
            stratum = open_[min(index, len(open_) - 1)]
            item = int(self._order[self._ends[stratum] - int(self._left[stratum])])
        stratum = int(self._strata.code[item])
        for loss_bound in (self._cost, self._error):
            loss_bound.record_draw(self._left, share, stratum)
        self._left[stratum] -= 1
        self._draw_of[item] = len(self._drawn)
        self._drawn.append(item)
        self._answers.append(UNKNOWN)
        self._settled_before.append(self._settled)
        return item

    def _settle(self, end: int) -> None:
        """Record the losses of draws in their order, before this draw and the first without an answer."""
        while self._settled < end and (truth := self._answers[self._settled]) != UNKNOWN:
            decided = self.decided[self._drawn[self._settled]]
            self._cost.record_loss(float(self.errors[truth, decided]))
            self._error.record_loss(float(self._wrong[truth, decided]))
            self._settled += 1

    def _check(self, items: ArrayLike, classes: ArrayLike, known: list[int], repeated: str) -> dict[int, int]:
        """Codes of classes by draw; ValueError if they are no answers to draws without one."""
        which, codes = np.atleast_1d(items), np.atleast_1d(classes)
        if which.shape != codes.shape or which.ndim != 1:
            raise ValueError(f"there are {which.size} items and {codes.size} answers, expected as many")
        if len(which) and (which.dtype.kind not in "iu" or codes.dtype.kind not in "iu"):
            raise ValueError("items and answers are expected as whole numbers: indices and codes of classes")
        if ((codes < 0) | (codes >= len(self.errors))).any():
            raise ValueError(f"an answer is not the code of one of the {len(self.errors)} classes")
        draws = [self._draw_of.get(int(item), len(known)) for item in which]
        if other := [i for i, draw in zip(which, draws, strict=True) if draw >= len(known)]:
            raise ValueError(f"item {other[0]} was not drawn for this, and would make the bound invalid")
        again = [i for i, draw in zip(which, draws, strict=True) if known[draw] != UNKNOWN]
        if again or has_repeats(np.asarray(draws)):
            raise ValueError(f"{repeated} item {again[0] if again else which[0]}")
        return dict(zip(draws, map(int, codes), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """State of version 1 as plain data that JSON can hold; `Audit.from_dict` goes on from there."""
        return {
            "version": STATE_VERSION,
            "error_costs": self.errors.tolist(),
            "decisions": self.decided.tolist(),
            "expected_costs": self._expected.tolist(),
            "error_probabilities": self._error_probability.tolist(),
            "level": self.level,
            "seed": self._seed,
            "planned_items": self._planned,
            "experts_err": self.experts_err,
            "drawn_items": list(self._drawn),
            "settled_before_draw": list(self._settled_before),
            "answers": list(self._answers),
            "second_answers": list(self._second_answers),
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Audit:
        """The audit that `to_dict` has saved, which continues as if it had never stopped."""
        if state.get("version") != STATE_VERSION:
            raise ValueError(
                f"an audit of version {state.get('version')} cannot be read, expected {STATE_VERSION}"
            )
        audit = cls.__new__(cls)
        audit._start(
            errors=np.asarray(state["error_costs"]),
            decided=np.asarray(state["decisions"]),
            expected=np.asarray(state["expected_costs"]),
            error_probability=np.asarray(state["error_probabilities"]),
            level=state["level"],
            seed=state["seed"],
            planned=state["planned_items"],
            experts_err=state["experts_err"],
        )
        for item, settled in zip(state["drawn_items"], state["settled_before_draw"], strict=True):
            audit._answers = list(state["answers"][: len(audit._drawn)])
            audit._settle(settled)
            audit._draw(item)
        audit._answers, audit._second_answers = list(state["answers"]), list(state["second_answers"])
        audit._settle(len(audit._drawn))
        return audit
