"""Items: the items of a campaign by name and row, and the state of each: withdrawn, closed, overridden."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.growing_arrays import append_rows
from crowdpilot.hybrid.campaign.estimation.classifier import FOLDS
from crowdpilot.json_values import pack, unpack
from crowdpilot.names import hash_names, to_names

Rows = NDArray[np.intp]


class Items:
    """Items that may be added, withdrawn, closed or dropped at any time.

    Row *n* of every array is about `names[n]`.

    Parameters
    ----------
    questions
        Number of questions about each item.
    seed
        Of the hash of names that breaks ties, draws the pilot and divides items into folds.
    """

    def __init__(self, questions: int, seed: int) -> None:
        self.seed = seed
        self.names: list[Any] = []
        self.row_of: dict[Any, int] = {}
        self.withdrawn = np.zeros(0, bool)
        self.closed: Codes = np.zeros(0, np.int32)  # the final decision, -1 while there is none
        self.stopped = np.zeros((0, questions), bool)  # where no more votes can be had
        self.override: Codes = np.zeros((0, questions), np.int32)  # what an expert decided, -1 for nothing
        self.votes_wanted: Codes = np.zeros((0, questions), np.int32)  # whatever another is worth
        self.tie_break: Floats = np.zeros(0)  # a hash of each name in [0, 1)
        self.pilot = np.zeros(0, bool)
        self.fold: Rows = np.zeros(0, np.intp)  # for cross-fitting
        self.pilot_left = 0  # items of the pilot that are not drawn yet
        self.dropped = 0

    def __len__(self) -> int:
        return len(self.names)

    def check_new(self, names: Sequence[Any]) -> None:
        """Raise ValueError if a name exists already or is given twice."""
        if len(set(names)) == len(names) and self.row_of.keys().isdisjoint(names):
            return
        twice = next(name for i, name in enumerate(names) if name in self.row_of or name in names[:i])
        raise ValueError(f"there is an item {twice!r} already; every item has a name of its own")

    def add(self, names: Sequence[Any]) -> Rows:
        """Append items; returns their rows. Those with the smallest hash fill the pilot."""
        self.check_new(names)
        n, before = len(names), len(self)
        self.row_of.update((name, before + i) for i, name in enumerate(names))
        self.names += names
        tie_break = self._hash(names, 0) / 2.0**64
        pilot = np.zeros(n, bool)
        pilot[np.argsort(tie_break, kind="stable")[: self.pilot_left]] = True
        self.pilot_left -= int(pilot.sum())
        self.withdrawn = append_rows(self.withdrawn, np.zeros(n, bool))
        self.closed = append_rows(self.closed, np.full(n, -1))
        self.stopped = append_rows(self.stopped, np.zeros((n, self.stopped.shape[1]), bool))
        self.override = append_rows(self.override, np.full((n, self.stopped.shape[1]), -1))
        self.votes_wanted = append_rows(self.votes_wanted, np.zeros((n, self.stopped.shape[1])))
        self.tie_break = append_rows(self.tie_break, tie_break)
        self.pilot = append_rows(self.pilot, pilot)
        self.fold = append_rows(self.fold, self._hash(names, 1) % FOLDS)
        return np.arange(before, before + n)

    def _hash(self, names: Sequence[Any] | Names, salt: int) -> NDArray[np.uint64]:
        """A number for each name, the same in every run with this seed."""
        return hash_names(to_names(list(names)), self.seed + salt)

    def row(self, name: Any) -> int:
        """The row of an item; ValueError if there is none of this name."""
        try:
            return self.row_of[name]
        except (KeyError, TypeError):
            raise ValueError(f"there is no item {name!r}") from None

    def rows(self, names: Iterable[Any]) -> Rows:
        """The rows of these items."""
        return np.asarray([self.row(name) for name in names], np.intp)

    @property
    def open(self) -> NDArray[np.bool_]:
        """Items that are neither withdrawn nor closed, (items,)."""
        return ~self.withdrawn & (self.closed < 0)

    def is_overridden(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether an expert has decided about whole items, (rows,): all criteria, or one that fails."""
        override = self.override[rows]
        is_out = (override == 0).any(axis=1) if override.shape[1] > 1 else False
        return np.asarray((override >= 0).all(axis=1) | is_out)

    def keep(self, rows: Rows) -> None:
        """Drop all other items; the rest is renumbered in order."""
        self.dropped += len(self) - len(rows)
        self.names = [self.names[row] for row in rows.tolist()]
        self.row_of = {name: n for n, name in enumerate(self.names)}
        self.withdrawn, self.closed = self.withdrawn[rows], self.closed[rows]
        self.stopped, self.tie_break = self.stopped[rows], self.tie_break[rows]
        self.override, self.votes_wanted = self.override[rows], self.votes_wanted[rows]
        self.pilot, self.fold = self.pilot[rows], self.fold[rows]

    def to_state(self) -> dict[str, Any]:
        """Plain data for a saved campaign."""
        return {
            "names": pack(self.names),
            "withdrawn": pack(self.withdrawn),
            "closed": pack(self.closed),
            "stopped": pack(self.stopped),
            "override": pack(self.override),
            "votes_wanted": pack(self.votes_wanted),
            "tie_break": pack(self.tie_break),
            "pilot": pack(self.pilot),
            "fold": pack(self.fold),
            "pilot_left": self.pilot_left,
            "dropped": self.dropped,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `to_state` returned; version 1 has neither overrides nor requests for votes."""
        self.names = unpack(state["names"])
        self.row_of = {name: n for n, name in enumerate(self.names)}
        self.withdrawn = unpack(state["withdrawn"])
        self.closed = unpack(state["closed"])
        self.stopped = unpack(state["stopped"])
        nothing = np.full(self.stopped.shape, -1, np.int32)
        self.override = unpack(state["override"]) if "override" in state else nothing
        self.votes_wanted = unpack(state["votes_wanted"]) if "votes_wanted" in state else nothing + 1
        self.tie_break = unpack(state["tie_break"])
        self.pilot = unpack(state["pilot"])
        self.fold = unpack(state["fold"])
        self.pilot_left = state["pilot_left"]
        self.dropped = state["dropped"]
