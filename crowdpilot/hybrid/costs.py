"""Costs: the error matrix C[true, decided], the price of a vote by kind of worker, and the budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Codes, Floats

CROWD, EXPERT = "crowd", "expert"


@dataclass(frozen=True, eq=False)
class Costs:
    """The loss of every decision, and the price of every vote, in one currency.

    Parameters
    ----------
    errors
        Cost of deciding *d* about an item of class *k*, (classes, decisions). There may be
        more decisions than classes, such as to refer an item to somebody else.
    prices
        Price of a vote for each kind of worker: "crowd", "expert", or any other name.
    classifier
        Price of classifying one item, once.
    budget
        Most money that may be spent on votes and classifier; errors are not paid from it.

    Examples
    --------
    >>> costs = Costs.binary(fp=1, fn=5, crowd=0.02)
    >>> costs.expected([[0.9, 0.1], [0.7, 0.3]]).tolist()
    [0.5, 0.7]
    >>> costs.decide([[0.9, 0.1], [0.7, 0.3]]).tolist()
    [0, 1]
    """

    errors: Floats
    prices: Mapping[str, float] = field(default_factory=lambda: {CROWD: 0.05})
    classifier: float = 0.0
    budget: float = np.inf

    def __post_init__(self) -> None:
        errors = np.array(self.errors, np.float64)
        if errors.ndim != 2 or errors.shape[0] < 2 or errors.shape[1] < 1:
            raise ValueError(f"the errors have shape {errors.shape}, expected (classes, decisions)")
        if not (np.isfinite(errors) & (errors >= 0)).all():
            raise ValueError("an error has a negative or infinite cost; costs are 0 or more")
        errors.flags.writeable = False
        object.__setattr__(self, "errors", errors)
        prices = {str(kind): float(price) for kind, price in self.prices.items()}
        object.__setattr__(self, "prices", prices)
        if not prices:
            raise ValueError("no kind of worker has a price; give prices={'crowd': 0.05}")
        for what, price in {**prices, "classifier": self.classifier, "budget": self.budget}.items():
            if not price >= 0 or (what != "budget" and not np.isfinite(price)):
                raise ValueError(f"the price of '{what}' is {price}, expected a number of 0 or more")

    @classmethod
    def binary(
        cls,
        *,
        fp: float = 1.0,
        fn: float = 1.0,
        classifier: float = 0.0,
        budget: float = np.inf,
        **prices: float,
    ) -> Costs:
        """Two classes, the second being the positive one.

        Parameters
        ----------
        fp
            Cost of deciding "positive" about a negative item.
        fn
            Cost of deciding "negative" about a positive item.
        classifier, budget
            As for the class.
        prices
            Of each kind of worker, by its name.
        """
        return cls(np.array([[0.0, fp], [fn, 0.0]]), prices or {CROWD: 0.05}, classifier, budget)

    @classmethod
    def equal(
        cls,
        classes: int,
        *,
        error: float = 1.0,
        classifier: float = 0.0,
        budget: float = np.inf,
        **prices: float,
    ) -> Costs:
        """Any number of classes, all errors of equal cost."""
        return cls(error * (1 - np.eye(classes)), prices or {CROWD: 0.05}, classifier, budget)

    def expected(self, probs: ArrayLike) -> Floats:
        """Expected cost of the best decision about each item, (items,); `probs` is (items, classes)."""
        least: Floats = (np.asarray(probs, np.float64) @ self.errors).min(axis=-1)
        return least

    def decide(self, probs: ArrayLike) -> Codes:
        """The decision about each item with the least expected cost, (items,); the first of equals."""
        best: Codes = (np.asarray(probs, np.float64) @ self.errors).argmin(axis=-1).astype(np.int32)
        return best

    def price(self, kind: str) -> float:
        """Price of a vote of this kind of worker."""
        if kind not in self.prices:
            known = ", ".join(f"'{name}'" for name in self.prices)
            raise ValueError(f"there is no price for the kind of worker '{kind}'; there are {known}")
        return self.prices[kind]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts that JSON can hold, for `Costs.from_dict`."""
        budget = None if np.isinf(self.budget) else self.budget
        plain = {"errors": self.errors.tolist(), "prices": dict(self.prices)}
        return {**plain, "classifier": self.classifier, "budget": budget}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Costs:
        """The costs that `to_dict` returned."""
        budget = np.inf if data["budget"] is None else data["budget"]
        return cls(np.asarray(data["errors"]), data["prices"], data["classifier"], budget)
