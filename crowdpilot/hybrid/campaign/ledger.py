"""Ledger: what was asked and has not come, what was spent, and what is left."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.growing_arrays import grown

ROUNDING = 1e-9  # by which a sum of prices may miss the budget
MANY = 2**62

Key = tuple[int, int, int]  # question, item, worker


def anyone(kind: int) -> int:
    """The number of a worker of whom nothing is known but the kind."""
    return -1 - kind


class Ledger:
    """Money and loans: an item is lent to a worker until their vote comes or they leave.

    What is lent is put aside, so that spent and put aside together never exceed the budget. A vote
    that nobody asked for is paid if there is money for it, and taken as a gift if there is not.

    Parameters
    ----------
    budget
        What may be spent at most.
    questions
        How many there are about each item.
    """

    def __init__(self, budget: float, questions: int) -> None:
        self.budget = budget
        self.spent = 0.0
        self.aside = 0.0  # for votes that have not come
        self.gifts = 0
        self.lent: dict[Key, list[float]] = {}
        self.pending: Floats = np.zeros((0, questions))

    @property
    def left(self) -> float:
        """What may still be promised."""
        return self.budget - self.spent - self.aside

    def room(self, price: float) -> int:
        """How many more votes of this price there is money for; very many if they cost nothing."""
        if price <= 0 or np.isinf(self.budget):
            return MANY
        return max(0, int((self.left + ROUNDING) / price))

    def charge(self, amount: float) -> bool:
        """Spend money at once, if it is there."""
        if self.left + ROUNDING < amount:
            return False
        self.spent += amount
        return True

    def lend(self, key: Key, price: float) -> None:
        """An item goes out to a worker, and its price aside."""
        question, item, _ = key
        self.lent.setdefault(key, []).append(price)
        self.aside += price
        self.pending[item, question] += 1

    def settle(self, key: Key, kind: int, price: float) -> None:
        """A vote has come: on what was lent to this worker, or to anyone of this kind, or on neither."""
        question, item, _ = key
        asked = key if key in self.lent else (question, item, anyone(kind))
        if asked in self.lent:
            self.spent += self._back(asked)
        elif not self.charge(price):
            self.gifts += 1

    def release(self, worker: int, only: Iterable[tuple[int, int]] | None = None) -> list[Key]:
        """What was lent to a worker, or only these questions, is free again."""
        if only is None:
            back = [key for key in self.lent if key[2] == worker]
        else:
            back = [key for key in ((*place, worker) for place in only) if key in self.lent]
        for key in back:
            while key in self.lent:
                self._back(key)
        return back

    def _back(self, key: Key) -> float:
        question, item, _ = key
        prices = self.lent[key]
        price = prices.pop()
        if not prices:
            del self.lent[key]
        self.aside = max(0.0, self.aside - price) if self.lent else 0.0
        self.pending[item, question] -= 1
        return price

    def grow(self, items: int) -> None:
        """There are more items."""
        self.pending = grown(self.pending, np.zeros((items, self.pending.shape[1])))

    def move(self, new: list[int]) -> None:
        """Items have new numbers, below 0 if they are forgotten; what is lent is not."""
        self.pending = self.pending[np.asarray(new, np.intp) >= 0]
        self.lent = {(q, new[item], who): prices for (q, item, who), prices in self.lent.items()}
