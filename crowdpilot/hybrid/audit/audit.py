"""An audit: experts look at a few finished items, and a bound says how wrong all may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Codes, Floats, divide, has_repeats
from crowdpilot.hybrid.audit.expert_errors import allow_for_misses, expert_error_bound
from crowdpilot.hybrid.audit.loss_bound import Book
from crowdpilot.hybrid.audit.pool import Bound, check_pool, pick, wrong_decisions
from crowdpilot.hybrid.audit.strata import stratify
from crowdpilot.hybrid.costs import Costs

UNKNOWN = -1
PLANNED = 0.1  # of the items
SPLIT = (0.5, 0.4, 0.1)  # of alpha, if experts err: reported losses, error rate of experts, misses


class Audit:
    """Which finished items to check next, and what the checked ones prove about all.

    Items are drawn without replacement, more often where the model expects a loss, and never with
    probability zero where a loss is possible. The bound holds for any model, however wrong, and at any
    time of stopping; a good model makes it tight.

    Parameters
    ----------
    costs
        What errors cost.
    decided
        The decision about each item, (items,).
    probs
        Probabilities of its classes, (items, classes), or what it is expected to cost, (items,).
    alpha
        How often the bound may fail.
    seed
        Where random numbers begin. It must not be chosen by looking at the result.
    planned
        About how many items will be checked, a tenth of them if not given. The bound holds at any other
        number too, and is tightest near this one.
    experts_err
        Whether the answers of `tell` may be wrong. Second opinions are then needed, and the bound
        assumes that experts err independently of each other, about any item with one probability.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> wrong = rng.random(2000) / 5  # probability that decision 0 is wrong
    >>> truth = (rng.random(2000) < wrong).astype(int)
    >>> audit = Audit(Costs.binary(), np.zeros(2000, int), np.stack([1 - wrong, wrong], axis=1), seed=1)
    >>> items = audit.next(200)
    >>> audit.tell(items, truth[items])
    >>> truth.mean() <= audit.bound().cost <= 2 * truth.mean()
    np.True_
    """

    def __init__(
        self,
        costs: Costs,
        decided: ArrayLike,
        probs: ArrayLike,
        *,
        alpha: float = 0.05,
        seed: int,
        planned: float | None = None,
        experts_err: bool = False,
    ) -> None:
        decided, probs = np.asarray(decided), np.asarray(probs, np.float64)
        check_pool(costs, decided, probs)
        if probs.ndim == 2:
            expected, doubt = (
                pick(probs @ costs.errors, decided),
                pick(probs @ wrong_decisions(costs.errors), decided),
            )
        else:
            expected = probs
            doubt = np.clip(divide(expected, costs.errors.max(axis=0)[decided], 0.0), 0, 1)
        planned = PLANNED * len(decided) if planned is None else planned
        self._begin(costs.errors, decided, expected, doubt, alpha, seed, planned, experts_err)

    def _begin(
        self,
        errors: Floats,
        decided: Codes,
        expected: Floats,
        doubt: Floats,
        alpha: float,
        seed: int,
        planned: float,
        experts_err: bool,
    ) -> None:
        """Nothing is drawn yet; `expected` is the cost of items, `doubt` the chance that they are wrong."""
        if not 0 < alpha < 1:
            raise ValueError(f"alpha is {alpha}, expected a number between 0 and 1")
        if not planned > 0:
            raise ValueError(f"{planned} items are planned to be checked, expected one or more")
        self._errors, self._wrong, self._decided = errors, wrong_decisions(errors), decided
        self._expected, self._doubt = expected, doubt
        self._alpha, self._seed, self._planned = alpha, seed, float(planned)
        self.experts_err = experts_err
        cap = errors.max(axis=0)[decided]
        chance = np.clip(divide(expected, cap, 0.0), 0, 1)
        self._strata = stratify(cap, chance)
        level = alpha * (SPLIT[0] if experts_err else 1)
        self._cost = Book(self._strata, cap, chance, level, planned)
        self._error = Book(self._strata, np.ones(len(cap)), doubt, level, planned)
        shuffled = np.random.default_rng(seed).permutation(len(cap))
        self._order = shuffled[np.argsort(self._strata.code[shuffled], kind="stable")]
        self._left = self._strata.size.copy()
        self._ends = np.cumsum(self._strata.size).astype(int)
        self._drawn: list[int] = []
        self._place: dict[int, int] = {}  # of an item among those drawn
        self._seen: list[int] = []  # how many draws were settled before each draw
        self._truths: list[int] = []
        self._second: list[int] = []  # of the first draws
        self._settled = 0

    @property
    def waiting(self) -> list[int]:
        """Items drawn whose truth has not been told; the bound stands still at the first of them."""
        return [i for i, truth in zip(self._drawn, self._truths, strict=True) if truth == UNKNOWN]

    @property
    def waiting_again(self) -> list[int]:
        """Items on which the opinion of a second expert has been asked and not been told."""
        return [i for i, truth in zip(self._drawn, self._second, strict=False) if truth == UNKNOWN]

    @property
    def answers(self) -> dict[int, int]:
        """What was told, by item."""
        return self._known(self._truths)

    @property
    def second_answers(self) -> dict[int, int]:
        """What second experts have told, by item."""
        return self._known(self._second)

    def _known(self, truths: list[int]) -> dict[int, int]:
        return {i: truth for i, truth in zip(self._drawn, truths, strict=False) if truth != UNKNOWN}

    def next(self, n: int = 1) -> list[int]:
        """Draw the next items to be checked; fewer if the pool is at its end."""
        return [self._draw(None) for _ in range(n) if self._left @ self._cost.pull > 0]

    def tell(self, items: ArrayLike, truths: ArrayLike) -> None:
        """Take the true classes of items that were drawn, in any order."""
        told = self._check(items, truths, self._truths, "twice: the truth of")
        for place, truth in told.items():
            self._truths[place] = truth
        self._settle(len(self._drawn))

    def next_again(self, n: int = 1) -> list[int]:
        """Items that a second expert should look at: the first drawn, whatever was said of them."""
        start = len(self._second)
        self._second += [UNKNOWN] * min(n, len(self._drawn) - start)
        return self._drawn[start : len(self._second)]

    def tell_again(self, items: ArrayLike, truths: ArrayLike) -> None:
        """Take what a second expert, who has not seen the answers of the first, says of items."""
        for place, truth in self._check(items, truths, self._second, "twice: a second opinion on").items():
            self._second[place] = truth

    def bound(self) -> Bound:
        """What the answers so far prove."""
        size = len(self._decided)
        found = {"items": size, "checked": self._settled}
        high, many = self._cost.high(), self._error.high()
        if self.experts_err:
            return self._bound_with_misses(high, many)
        low, few = self._cost.low(), self._error.low()
        rest, wrong = max(high - self._cost.known, 0.0), max(many - self._error.known, 0.0)
        return Bound(
            **found, cost=high / size, cost_low=low / size, total=high,
            error_rate=many / size, error_rate_low=few / size,
            remaining_cost=rest / size, remaining_total=rest, remaining_error_rate=wrong / size,
        )  # fmt: skip

    def _bound_with_misses(self, high: float, many: float) -> Bound:
        """True losses instead of reported ones; below, nothing is sure."""
        size, most = len(self._decided), float(self._cost.cap @ self._cost.size)
        pairs = [(a, b) for a, b in zip(self._truths, self._second, strict=False) if min(a, b) > UNKNOWN]
        error = expert_error_bound(len(pairs), sum(a != b for a, b in pairs), SPLIT[1] * self._alpha)
        slack = SPLIT[2] * self._alpha
        total = min(allow_for_misses(high, float(self._cost.cap.max()), error, slack), most)
        wrong = min(allow_for_misses(many, 1.0, error, slack), size)
        return Bound(
            size, self._settled, total / size, 0.0, total, wrong / size, 0.0, None, None, None, error
        )

    def estimate(self) -> float:
        """Unbiased estimate of the cost per item, as decided and if experts are right."""
        return self._cost.estimate() / len(self._decided)

    def done(self, target: float) -> bool:
        """Whether the cost per item is surely at most this; it may be asked after every answer."""
        return self.bound().cost <= target

    def _draw(self, item: int | None) -> int:
        """Draw an item, or repeat a draw of the past; the stakes do not depend on which it is."""
        share = self._cost.pull / (self._left @ self._cost.pull)
        if item is None:
            luck = np.random.default_rng([self._seed, len(self._drawn)]).random()
            open = np.flatnonzero(self._left * share)
            reach = np.cumsum((self._left * share)[open])
            found = np.searchsorted(reach, luck * reach[-1], side="right")
            stratum = open[min(found, len(open) - 1)]
            item = int(self._order[self._ends[stratum] - int(self._left[stratum])])
        stratum = int(self._strata.code[item])
        for book in (self._cost, self._error):
            book.place(self._left, share, stratum)
        self._left[stratum] -= 1
        self._place[item] = len(self._drawn)
        self._drawn.append(item)
        self._truths.append(UNKNOWN)
        self._seen.append(self._settled)
        return item

    def _settle(self, end: int) -> None:
        """Write down the losses of draws in their order, up to this one or the first unknown."""
        while self._settled < end and (truth := self._truths[self._settled]) != UNKNOWN:
            decided = self._decided[self._drawn[self._settled]]
            self._cost.settle(float(self._errors[truth, decided]))
            self._error.settle(float(self._wrong[truth, decided]))
            self._settled += 1

    def _check(self, items: ArrayLike, truths: ArrayLike, known: list[int], what: str) -> dict[int, int]:
        """Answers by the place of their draw, or one sentence why they are no such answers."""
        which, said = np.atleast_1d(items), np.atleast_1d(truths)
        if which.shape != said.shape or which.ndim != 1:
            raise ValueError(f"there are {which.size} items and {said.size} answers, expected as many")
        if len(which) and (which.dtype.kind not in "iu" or said.dtype.kind not in "iu"):
            raise ValueError("items and answers are expected as whole numbers: places and codes of classes")
        if ((said < 0) | (said >= len(self._errors))).any():
            raise ValueError(f"an answer is not the code of one of the {len(self._errors)} classes")
        places = [self._place.get(int(item), len(known)) for item in which]
        if lost := [i for i, place in zip(which, places, strict=True) if place >= len(known)]:
            raise ValueError(f"item {lost[0]} was not drawn for this, and would break the bound's promise")
        again = [i for i, place in zip(which, places, strict=True) if known[place] != UNKNOWN]
        if again or has_repeats(np.asarray(places)):
            raise ValueError(f"{what} item {again[0] if again else which[0]}")
        return dict(zip(places, map(int, said), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts that JSON can hold; `Audit.from_dict` goes on from there."""
        lists = {"drawn": self._drawn, "seen": self._seen, "truths": self._truths, "second": self._second}
        return {
            "errors": self._errors.tolist(), "decided": self._decided.tolist(),
            "expected": self._expected.tolist(), "doubt": self._doubt.tolist(),
            "alpha": self._alpha, "seed": self._seed, "planned": self._planned,
            "experts_err": self.experts_err,
            **{name: list(values) for name, values in lists.items()},
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Audit:
        """The audit that `to_dict` has written down, which continues as if it had never stopped."""
        audit = cls.__new__(cls)
        errors, decided, expected, doubt = (
            np.asarray(data[name]) for name in ("errors", "decided", "expected", "doubt")
        )
        settings = (data[name] for name in ("alpha", "seed", "planned", "experts_err"))
        audit._begin(errors, decided, expected, doubt, *settings)
        for item, seen in zip(data["drawn"], data["seen"], strict=True):
            audit._truths = list(data["truths"][: len(audit._drawn)])
            audit._settle(seen)
            audit._draw(item)
        audit._truths, audit._second = list(data["truths"]), list(data["second"])
        audit._settle(len(audit._drawn))
        return audit
