"""Ledger: what was asked and has not come, what was spent, and what is left."""

from __future__ import annotations

from typing import Any

import numpy as np

ANYONE = -1  # the code of a worker who is not known by name
ROUNDING = 1e-9  # by which a sum of prices may miss the budget
MANY = 2**62

Key = tuple[int, int, int]  # question, item, worker


class Ledger:
    """Money and loans: an item is lent to a worker until their vote comes or they leave.

    What is lent is put aside, so that spent and put aside together never exceed the budget. A vote
    that nobody asked for is paid if there is money for it, and taken as a gift if there is not.

    Parameters
    ----------
    budget
        What may be spent at most.
    shape
        Questions and items.
    """

    def __init__(self, budget: float, shape: tuple[int, int]) -> None:
        self.budget = budget
        self.spent = 0.0
        self.aside = 0.0  # for votes that have not come
        self.gifts = 0
        self.lent: dict[Key, list[float]] = {}
        self.pending = np.zeros(shape)

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
        self.lent.setdefault(key, []).append(price)
        self.aside += price
        self.pending[key[:2]] += 1

    def settle(self, key: Key, price: float) -> None:
        """A vote has come."""
        question, item, _ = key
        asked = key if key in self.lent else (question, item, ANYONE)
        if asked in self.lent:
            self.spent += self._back(asked)
        elif not self.charge(price):
            self.gifts += 1

    def release(self, worker: int) -> list[Key]:
        """What was lent to a worker is free again."""
        back = [key for key in self.lent if key[2] == worker]
        for key in back:
            while key in self.lent:
                self._back(key)
        return back

    def _back(self, key: Key) -> float:
        prices = self.lent[key]
        price = prices.pop()
        if not prices:
            del self.lent[key]
        self.aside = max(0.0, self.aside - price) if self.lent else 0.0
        self.pending[key[:2]] -= 1
        return price

    def grow(self, items: int) -> None:
        """There are more items."""
        self.pending = np.concatenate([self.pending, np.zeros((len(self.pending), items))], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold."""
        lent = [[*key, prices] for key, prices in self.lent.items()]
        return {"spent": self.spent, "aside": self.aside, "gifts": self.gifts, "lent": lent}

    def load(self, data: dict[str, Any]) -> None:
        """Go on where `to_dict` was called."""
        for question, item, worker, prices in data["lent"]:
            for price in prices:
                self.lend((question, item, worker), price)
        self.spent, self.aside, self.gifts = data["spent"], data["aside"], data["gifts"]
