"""Ledger: the money of a campaign (spent, reserved for open leases, left) and votes that are not paid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.growing_arrays import append_rows
from crowdpilot.json_values import pack, unpack

BUDGET_TOLERANCE = 1e-9  # by which a sum of prices may miss the budget through rounding
UNLIMITED_VOTES = 2**62

LeaseKey = tuple[int, int, int]  # (question, row of the item, worker)


def anyone(kind: int) -> int:
    """The number, below 0, that stands for an unknown worker of a kind."""
    return -1 - kind


class Ledger:
    """Money spent and reserved: the price of a leased vote is reserved until it arrives or is released.

    Spent and reserved money together never exceed the budget. A vote that nobody asked for is paid if
    money is left; otherwise it counts as unpaid.

    Parameters
    ----------
    budget
        Most money that may be spent.
    questions
        Number of questions about each item.
    """

    def __init__(self, budget: float, questions: int) -> None:
        self.budget = budget
        self.spent = 0.0
        self.reserved = 0.0
        self.reserved_beside = 0.0  # more (or less) for open leases, at other prices than those of now
        self.unpaid = 0  # votes
        self.leases: dict[LeaseKey, list[float]] = {}  # prices; several if leased to anyone of a kind
        self.pending: Floats = np.zeros((0, questions))  # open leases of each item, (items, questions)

    @property
    def left(self) -> float:
        """Money that is neither spent nor reserved."""
        return self.budget - self.spent - self.reserved - self.reserved_beside

    def affordable_votes(self, price: float) -> int:
        """How many more votes of this price the budget pays for."""
        if price <= 0 or np.isinf(self.budget):
            return UNLIMITED_VOTES
        return max(0, int((self.left + BUDGET_TOLERANCE) / price))

    def charge(self, amount: float) -> bool:
        """Spend money at once; False, and nothing changes, if it is not there."""
        if self.left + BUDGET_TOLERANCE < amount:
            return False
        self.spent += amount
        return True

    def reserve(self, key: LeaseKey, price: float) -> None:
        """Open a lease and reserve its price."""
        question, item, _ = key
        self.leases.setdefault(key, []).append(price)
        self.reserved += price
        self.pending[item, question] += 1

    def settle(self, key: LeaseKey, kind: int, price: float) -> None:
        """Pay for a vote: from the worker's lease, else from one to anyone of the kind, else unasked."""
        question, item, _ = key
        leased = key if key in self.leases else (question, item, anyone(kind))
        if leased in self.leases:
            self.spent += self._end(leased)
        elif not self.charge(price):
            self.unpaid += 1

    def release(self, worker: int, only: Iterable[tuple[int, int]] | None = None) -> list[LeaseKey]:
        """End the leases of a worker (or only those of these cells) without a vote; returns their keys."""
        if only is None:
            ended = [key for key in self.leases if key[2] == worker]
        else:
            ended = [key for key in ((*cell, worker) for cell in only) if key in self.leases]
        for key in ended:
            while key in self.leases:
                self._end(key)
        return ended

    def _end(self, key: LeaseKey) -> float:
        """End one lease; its price is not reserved any more."""
        question, item, _ = key
        prices = self.leases[key]
        price = prices.pop()
        if not prices:
            del self.leases[key]
        self.reserved = max(0.0, self.reserved - price) if self.leases else 0.0
        self.pending[item, question] -= 1
        return price

    def add_items(self, n: int) -> None:
        """Make room for new items."""
        self.pending = append_rows(self.pending, np.zeros((n, self.pending.shape[1])))

    def renumber_items(self, new_row: list[int]) -> None:
        """Items have new rows, -1 where they were dropped; an item with an open lease never is."""
        self.pending = self.pending[np.asarray(new_row, np.intp) >= 0]
        self.leases = {(q, new_row[item], who): prices for (q, item, who), prices in self.leases.items()}

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign."""
        return {
            "spent": pack(self.spent),
            "reserved": pack(self.reserved),
            "reserved_beside": pack(self.reserved_beside),
            "unpaid": self.unpaid,
            "leases": pack(self.leases),
            "pending": pack(self.pending),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned; versions 1 and 2 have nothing reserved at other prices."""
        self.spent, self.reserved, self.unpaid = state["spent"], state["reserved"], state["unpaid"]
        self.reserved_beside = state.get("reserved_beside", 0.0)
        self.leases = unpack(state["leases"])
        self.pending = unpack(state["pending"])
