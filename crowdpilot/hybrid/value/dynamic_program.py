"""Dynamic program: exact optimal stopping for identical workers, over the counts of votes per label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.hybrid.value.vote_outcomes import enumerate_outcomes

Flags = NDArray[np.bool_]
StoppingRule = Callable[
    [Floats], Flags
]  # posteriors (states, classes) -> whether to ask once more, (states,)


class StoppingResult(NamedTuple):
    """Where a stopping rule asks, and its expected cost, which is that of votes and errors."""

    cost: Floats  # expected, (items,), as are the next two
    votes: Floats
    loss: Floats
    asks: Flags  # (items, states); a state is a count of votes for each label


@dataclass(frozen=True, eq=False)
class DynamicProgram:
    """V(c) = min(L(P(c)), price + sum_v P(v | c) V(c + v)) over the counts c of votes for each label.

    Every worker has the same confusion matrix, so that the order of votes does not matter. Nobody is
    asked past the horizon. The largest array is (items, states, classes), where n votes with K
    labels have (n + K choose K) states: 1,891 for 60 votes with two, 3,276 for 25 with three.

    Parameters
    ----------
    confusion
        P(label | class) of every worker, (true, said).
    errors
        Cost of each decision about each class, (classes, decisions).
    price
        Of one vote.
    horizon
        Maximum votes on an item.

    References
    ----------
    Wald, Sequential Analysis, Wiley, 1947; Bertsekas, Dynamic Programming and Optimal Control, vol. 1,
    section on sequential hypothesis testing, Athena Scientific.

    Examples
    --------
    >>> program = DynamicProgram(np.array([[0.8, 0.2], [0.2, 0.8]]), 1 - np.eye(2), price=0.02, horizon=20)
    >>> optimum = program.solve([[0.5, 0.5], [0.99, 0.01]])
    >>> optimum.cost.round(3), optimum.votes.round(1)
    (array([0.112, 0.01 ]), array([4.8, 0. ]))
    """

    confusion: Floats
    errors: Floats
    price: float
    horizon: int

    def __post_init__(self) -> None:
        confusion, errors = (np.asarray(a, np.float64) for a in (self.confusion, self.errors))
        if confusion.ndim != 2 or errors.ndim != 2 or len(confusion) != len(errors):
            raise ValueError(
                f"the confusion matrix has shape {confusion.shape} and the errors {errors.shape}, expected "
                "(true, said) and (classes, decisions) for the same classes"
            )
        if self.horizon < 0 or not self.price >= 0:
            raise ValueError("the price and the horizon are 0 or more")
        object.__setattr__(self, "confusion", confusion)
        object.__setattr__(self, "errors", errors)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Votes for each label in each state, (states, labels); states of fewer votes come first."""
        return enumerate_outcomes(self.confusion.shape[1], self.horizon).counts

    @cached_property
    def _next(self) -> NDArray[np.intp]:
        """The state after a vote for each label, for states before the horizon, (states, labels)."""
        L = self.confusion.shape[1]
        digit = (self.horizon + 1) ** np.arange(L)
        code = self.counts @ digit
        order = np.argsort(code)
        inner = self.counts.sum(axis=1) < self.horizon
        return order[np.searchsorted(code[order], code[inner, None] + digit)]

    @cached_property
    def _stages(self) -> list[slice]:
        """The states of each number of votes."""
        ends = np.searchsorted(self.counts.sum(axis=1), np.arange(self.horizon + 2))
        return [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]

    def joint(self, probs: ArrayLike) -> Floats:
        """P(class, one order of the votes of each state), (items, states, classes)."""
        P = np.asarray(probs, np.float64)
        if P.ndim != 2 or P.shape[1] != len(self.confusion):
            raise ValueError(f"the posterior has shape {P.shape}, expected (items, {len(self.confusion)})")
        likelihood = np.prod(self.confusion[None] ** self.counts[:, None, :], axis=2)  # (states, classes)
        joint: Floats = P[:, None, :] * likelihood
        return joint

    def solve(self, probs: ArrayLike) -> StoppingResult:
        """The optimal stopping rule, by backward induction, for items with these posteriors now.

        Parameters
        ----------
        probs
            (items, classes)
        """
        joint = self.joint(probs)
        probability, cost = joint.sum(axis=2), (joint @ self.errors).min(axis=2)
        orders, asks = self._start(joint)
        for states in reversed(self._stages[:-1]):
            # Costs times the probability of the state: no posterior is needed, and no division by zero.
            more = self.price * probability[:, states] + cost[:, self._next[states]].sum(axis=2)
            asks[:, states] = more < cost[:, states]
            cost[:, states] = np.minimum(more, cost[:, states])
        for states in self._stages[:-1]:
            self._advance(orders, asks, states)
        return self._result(joint, orders, asks)

    def evaluate(self, probs: ArrayLike, rule: StoppingRule) -> StoppingResult:
        """The expected votes, loss and cost of a stopping rule that sees the posterior after each vote.

        Parameters
        ----------
        probs
            (items, classes)
        rule
            From posteriors, (states, classes), to whether to ask once more. Not called past the horizon.
        """
        joint = self.joint(probs)
        orders, asks = self._start(joint)
        for states in self._stages[:-1]:
            reached = np.nonzero(orders[:, states])
            asks[:, states][reached] = rule(to_probs(joint[:, states][reached]))
            self._advance(orders, asks, states)
        return self._result(joint, orders, asks)

    def _start(self, joint: Floats) -> tuple[Floats, Flags]:
        """Number of orders of votes that lead to each state, and where to ask: one to the first; nowhere."""
        orders, asks = np.zeros(joint.shape[:2]), np.zeros(joint.shape[:2], bool)
        orders[:, 0] = 1
        return orders, asks

    def _advance(self, orders: Floats, asks: Flags, states: slice) -> None:
        """Go from states of equally many votes to those of one more, *in place*."""
        going = np.where(asks[:, states], orders[:, states], 0)
        for label in range(self.confusion.shape[1]):
            orders[:, self._next[states, label]] += going  # no state comes twice for one label

    def _result(self, joint: Floats, orders: Floats, asks: Flags) -> StoppingResult:
        asks = asks & (orders > 0)
        votes = (orders * asks * joint.sum(axis=2)).sum(axis=1)
        loss = (orders * ~asks * (joint @ self.errors).min(axis=2)).sum(axis=1)
        return StoppingResult(loss + self.price * votes, votes, loss, asks)
