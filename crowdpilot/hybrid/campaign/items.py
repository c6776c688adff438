"""Pool: the items of a campaign, by name and by number, and what has become of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, Names, hash_names, to_names
from crowdpilot.growing_arrays import grown
from crowdpilot.hybrid.campaign.classifier import FOLDS

Rows = NDArray[np.intp]


class Pool:
    """Items that may be added, withdrawn, closed or forgotten in the middle.

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
        self.shut = np.zeros((0, criteria), bool)  # where no more votes can be had
        self.lot: Floats = np.zeros(0)
        self.pilot = np.zeros(0, bool)
        self.fold: Rows = np.zeros(0, np.intp)
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self.items)

    def check(self, names: Sequence[Any]) -> None:
        """Refuse a name that is there already, or twice."""
        if len(set(names)) == len(names) and self.place.keys().isdisjoint(names):
            return
        twice = next(name for i, name in enumerate(names) if name in self.place or name in names[:i])
        raise ValueError(f"there is an item {twice!r} already; every item has a name of its own")

    def add(self, names: Sequence[Any]) -> Rows:
        """New items; where they are."""
        self.check(names)
        n, before = len(names), len(self)
        self.place.update((name, before + i) for i, name in enumerate(names))
        self.items += names
        lot = self._hash(names, 0) / 2.0**64
        pilot = np.zeros(n, bool)
        pilot[np.argsort(lot, kind="stable")[: self.first]] = True
        self.first -= int(pilot.sum())
        self.withdrawn = grown(self.withdrawn, np.zeros(n, bool))
        self.closed = grown(self.closed, np.full(n, -1))
        self.shut = grown(self.shut, np.zeros((n, self.shut.shape[1]), bool))
        self.lot = grown(self.lot, lot)
        self.pilot = grown(self.pilot, pilot)
        self.fold = grown(self.fold, self._hash(names, 1) % FOLDS)
        return np.arange(before, before + n)

    def _hash(self, names: Sequence[Any] | Names, salt: int) -> NDArray[np.uint64]:
        """A number for each name, the same in every run with this seed."""
        return hash_names(to_names(list(names)), self.seed + salt)

    def row(self, item: Any) -> int:
        """Where an item is."""
        try:
            return self.place[item]
        except (KeyError, TypeError):
            raise ValueError(f"there is no item {item!r}") from None

    def rows(self, items: Iterable[Any]) -> Rows:
        """Where these items are."""
        return np.asarray([self.row(item) for item in items], np.intp)

    @property
    def open(self) -> NDArray[np.bool_]:
        """Which items are still to be decided, (items,)."""
        return ~self.withdrawn & (self.closed < 0)

    def keep(self, rows: Rows) -> None:
        """Forget all other items."""
        self.forgotten += len(self) - len(rows)
        self.items = [self.items[row] for row in rows.tolist()]
        self.place = {name: n for n, name in enumerate(self.items)}
        for name in ("withdrawn", "closed", "shut", "lot", "pilot", "fold"):
            setattr(self, name, getattr(self, name)[rows])
