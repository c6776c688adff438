"""Programme: when to stop asking identical workers, solved exactly by dynamic programming."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.hybrid.value.outcomes import enumerate_outcomes

Flags = NDArray[np.bool_]
Rule = Callable[[Floats], Flags]  # beliefs (states, classes) to whether to ask once more, (states,)


class Course(NamedTuple):
    """When each item is asked about, and what comes of it; the cost is that of votes and errors."""

    cost: Floats  # (items,), expected, as are the next two
    votes: Floats
    loss: Floats
    asks: Flags  # (items, states); a state is a count of votes for each label


@dataclass(frozen=True, eq=False)
class Programme:
    """V(c) = min(L(P(c)), price + sum_v P(v | c) V(c + v)) over the counts c of votes for each label.

    Every voter has the same confusion matrix, so that the order of votes does not matter. Nothing is
    asked past the horizon. The largest array is (items, states, classes), where n votes with K
    labels are in one of (n + K choose K) states: 1,891 for 60 votes with two, 3,276 for 25 with three.

    Parameters
    ----------
    said
        How often a voter gives each label to items of each class, (true, said).
    errors
        Cost of each decision about each class, (classes, decisions).
    price
        Of one vote.
    horizon
        Most votes on an item.

    References
    ----------
    Wald, Sequential Analysis, Wiley, 1947; Bertsekas, Dynamic Programming and Optimal Control, vol. 1,
    section on sequential hypothesis testing, Athena Scientific.

    Examples
    --------
    >>> programme = Programme(np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2), price=0.02, horizon=20)
    >>> plan = programme.solve([[0.5, 0.5], [0.99, 0.01]])
    >>> plan.cost.round(3), plan.votes.round(1)
    (array([0.112, 0.01 ]), array([4.8, 0. ]))
    """

    said: Floats
    errors: Floats
    price: float
    horizon: int

    def __post_init__(self) -> None:
        said, errors = (np.asarray(a, np.float64) for a in (self.said, self.errors))
        if said.ndim != 2 or errors.ndim != 2 or len(said) != len(errors):
            raise ValueError(
                f"the voters have shape {said.shape} and the errors {errors.shape}, expected (true, said) "
                "and (classes, decisions) for the same classes"
            )
        if self.horizon < 0 or not self.price >= 0:
            raise ValueError("the price and the horizon are 0 or more")
        object.__setattr__(self, "said", said)
        object.__setattr__(self, "errors", errors)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Votes for each label in each state, (states, labels); states of fewer votes come first."""
        return enumerate_outcomes(self.said.shape[1], self.horizon).counts

    @cached_property
    def _next(self) -> NDArray[np.intp]:
        """The state after a vote for each label, for states before the horizon, (states, labels)."""
        L = self.said.shape[1]
        place = (self.horizon + 1) ** np.arange(L)
        code = self.counts @ place
        order = np.argsort(code)
        inner = self.counts.sum(axis=1) < self.horizon
        return order[np.searchsorted(code[order], code[inner, None] + place)]

    @cached_property
    def _levels(self) -> list[slice]:
        """The states of each number of votes."""
        ends = np.searchsorted(self.counts.sum(axis=1), np.arange(self.horizon + 2))
        return [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    def joint(self, probs: ArrayLike) -> Floats:
        """Chance of the class and of one order of the votes of each state, (items, states, classes)."""
        P = np.asarray(probs, np.float64)
        if P.ndim != 2 or P.shape[1] != len(self.said):
            raise ValueError(f"the beliefs have shape {P.shape}, expected (items, {len(self.said)})")
        heard = np.prod(self.said[None] ** self.counts[:, None, :], axis=2)  # (states, classes)
        joint: Floats = P[:, None, :] * heard
        return joint

    def solve(self, probs: ArrayLike) -> Course:
        """The plan that costs least, for items of which this is believed before any vote.

        Parameters
        ----------
        probs
            (items, classes)
        """
        joint = self.joint(probs)
        chance, cost = joint.sum(axis=2), (joint @ self.errors).min(axis=2)
        orders, asks = self._start(joint)
        for states in reversed(self._levels[:-1]):
            # Costs times the chance of the state: no posterior is needed, and none divides by zero.
            more = self.price * chance[:, states] + cost[:, self._next[states]].sum(axis=2)
            asks[:, states] = more < cost[:, states]
            cost[:, states] = np.minimum(more, cost[:, states])
        for states in self._levels[:-1]:
            self._walk(orders, asks, states)
        return self._outcome(joint, orders, asks)

    def follow(self, probs: ArrayLike, rule: Rule) -> Course:
        """What comes of a rule that looks at the belief after each vote and says whether to go on.

        Parameters
        ----------
        probs
            (items, classes)
        rule
            Of beliefs, (any number, classes); whether to ask once more. Not asked past the horizon.
        """
        joint = self.joint(probs)
        orders, asks = self._start(joint)
        for states in self._levels[:-1]:
            there = np.nonzero(orders[:, states])
            asks[:, states][there] = rule(to_probs(joint[:, states][there]))
            self._walk(orders, asks, states)
        return self._outcome(joint, orders, asks)

    def _start(self, joint: Floats) -> tuple[Floats, Flags]:
        """Orders of votes that lead to each state, and where to ask: none but the first, and nowhere."""
        orders, asks = np.zeros(joint.shape[:2]), np.zeros(joint.shape[:2], bool)
        orders[:, 0] = 1
        return orders, asks

    def _walk(self, orders: Floats, asks: Flags, states: slice) -> None:
        """Go from states of equally many votes to those of one more, *in place*."""
        going = np.where(asks[:, states], orders[:, states], 0)
        for label in range(self.said.shape[1]):
            orders[:, self._next[states, label]] += going  # no state comes twice for one label

    def _outcome(self, joint: Floats, orders: Floats, asks: Flags) -> Course:
        asks = asks & (orders > 0)
        asked = (orders * asks * joint.sum(axis=2)).sum(axis=1)
        loss = (orders * ~asks * (joint @ self.errors).min(axis=2)).sum(axis=1)
        return Course(loss + self.price * asked, asked, loss, asks)
