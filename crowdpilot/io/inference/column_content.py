"""What the columns of a table say about each other: which values repeat, follow or fix others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes
from crowdpilot.io.columns import Table

MAX_UNCHECKED_VALUES = 20  # so few values may all be different
MIN_SURPLUS_ROWS = 10  # beyond one for each worker, from which on a value that never differs says something
MIN_NEARLY_UNIQUE_SHARE = 0.9
Content = Callable[[Sequence[str]], Table]


@dataclass(eq=False)
class ColumnContent:
    """The columns of a table, which are read when asked for, and the roles that are known so far."""

    names: Sequence[str]
    roles: dict[str, str]
    content: Content

    @cached_property
    def _table(self) -> Table:
        wanted = {name for name in self.names if self.names.count(name) == 1}
        return self.content([name for name in dict.fromkeys(self.names) if name in wanted])

    def _codes(self, name: str) -> Codes:
        return self._table[name].distinct.codes

    def _count(self, name: str) -> int:
        return len(self._table[name].distinct.names)

    def _is_constant(self, name: str) -> bool:
        return len(self._table) > 1 and self._count(name) < 2

    def _is_unique(self, name: str) -> bool:
        """Whether no value repeats."""
        return self._count(name) == int((self._codes(name) >= 0).sum())

    def _is_nearly_unique(self, name: str) -> bool:
        return self._count(name) >= MIN_NEARLY_UNIQUE_SHARE * int((self._codes(name) >= 0).sum())

    def _is_mostly_different(self, name: str) -> bool:
        filled = int((self._codes(name) >= 0).sum())
        return filled > MAX_UNCHECKED_VALUES and 2 * self._count(name) > filled

    def _say_the_same(self, first: str, second: str) -> bool:
        """Whether two columns name the same things, each value of one with one of the other."""
        return self._follows(first, second) and self._follows(second, first)

    def _are_equal(self, first: str, second: str, role: str) -> bool:
        """Whether it does not matter which of two columns has a role; of two boxes to tick it does."""
        if role == "label" and {*self._names(first)} & {*self._names(second)}:
            return self._table[first].values() == self._table[second].values()
        return self._say_the_same(first, second)

    def _names(self, name: str) -> list[Any]:
        return list(self._table[name].distinct.names.tolist())

    def _follows(self, name: str, key: str) -> bool:
        """Whether the value of a column is fixed by that of another."""
        keys, pairs = _pairs(self._codes(key), self._codes(name))
        return len(np.unique(pairs)) == len(np.unique(keys))

    def _is_fixed_by_task(self, name: str) -> bool:
        """Whether tasks that have several rows have one value in all of them."""
        if "task" not in self.roles:
            return False
        task = self._codes(self.roles["task"])
        several = np.bincount(task[task >= 0]) > 1 if (task >= 0).any() else np.zeros(0, bool)
        return bool(several.any()) and self._follows(name, self.roles["task"])

    def _is_fact_about_worker(self, name: str) -> bool:
        """Whether workers with many rows in all have one value in all of theirs."""
        if "worker" not in self.roles:
            return False
        worker = self._codes(self.roles["worker"])
        surplus = int((worker >= 0).sum()) - self._count(self.roles["worker"])
        return surplus >= MIN_SURPLUS_ROWS and self._follows(name, self.roles["worker"])

    def _varies_within_tasks(self, name: str) -> bool:
        return "task" in self.roles and not self._follows(name, self.roles["task"])

    def _repeats(self, name: str) -> float:
        """Share of rows whose task and worker were there before, if this is the one that is not known."""
        known = next((role for role in ("worker", "task") if self.roles.get(role, name) != name), None)
        if known is None:
            return 0.0
        _, pairs = _pairs(self._codes(self.roles[known]), self._codes(name))
        return 1 - len(np.unique(pairs)) / max(len(pairs), 1)


def _pairs(first: Codes, second: Codes) -> tuple[Codes, NDArray[np.int64]]:
    """Where two columns both have a value, the code of the first, and one number for the pair."""
    both = (first >= 0) & (second >= 0)
    return first[both], first[both] * np.int64(second.max(initial=0) + 1) + second[both]
