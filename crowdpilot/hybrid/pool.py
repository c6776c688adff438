"""Pool: the items of a campaign, by name and by number, and what has become of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, Names, hash_names, to_names

Rows = NDArray[np.intp]


class Pool:
    """Items that may be added, withdrawn or closed in the middle.

    Parameters
    ----------
    criteria
        How many questions there are about each.
    seed
        Of the lots that are drawn between equals.
    pilot
        How many items, drawn by lot, come first.
    """

    def __init__(self, criteria: int, seed: int, pilot: int = 0) -> None:
        self.seed, self.first = seed, pilot
        self.items: list[Any] = []
        self.place: dict[Any, int] = {}
        self.withdrawn = np.zeros(0, bool)
        self.closed: Codes = np.zeros(0, np.int32)  # the final decision, -1 while there is none
        self.shut = np.zeros((criteria, 0), bool)  # where no more votes can be had
        self.lot: Floats = np.zeros(0)
        self.pilot = np.zeros(0, bool)

    def __len__(self) -> int:
        return len(self.items)

    def add(self, names: Sequence[Any]) -> Rows:
        """New items; where they are."""
        n, before = len(names), len(self)
        if len(set(names)) < n or not self.place.keys().isdisjoint(names):
            twice = next(name for i, name in enumerate(names) if name in self.place or name in names[:i])
            raise ValueError(f"there is an item {twice!r} already; every item has a name of its own")
        self.place |= {name: before + i for i, name in enumerate(names)}
        self.items += names
        self.withdrawn = np.append(self.withdrawn, np.zeros(n, bool))
        self.closed = np.append(self.closed, np.full(n, -1)).astype(np.int32)
        self.shut = np.concatenate([self.shut, np.zeros((len(self.shut), n), bool)], axis=1)
        self.lot = np.append(self.lot, self.hash(names, 0) / 2.0**64)
        self.pilot = np.append(self.pilot, np.zeros(n, bool))
        rows = np.arange(before, before + n)
        self.pilot[rows[np.argsort(self.lot[rows])[: self.first - int(self.pilot.sum())]]] = True
        return rows

    def hash(self, names: Sequence[Any] | Names, salt: int) -> NDArray[np.uint64]:
        """A number for each name, the same in every run with this seed."""
        return hash_names(to_names(list(names)), self.seed + salt)

    def rows(self, items: Iterable[Any]) -> Rows:
        """Where these items are."""
        try:
            return np.asarray([self.place[item] for item in items], np.intp)
        except KeyError as error:
            raise ValueError(f"there is no item {error.args[0]!r}") from None

    @property
    def open(self) -> NDArray[np.bool_]:
        """Which items are still to be decided, (items,)."""
        return ~self.withdrawn & (self.closed < 0)
