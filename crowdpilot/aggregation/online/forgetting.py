"""Fading: what a worker said long ago counts for less than what they say now."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.online.vote_log import Rows
from crowdpilot.arrays import Floats
from crowdpilot.growing_arrays import grown

LONG = 50  # half-lives after which counts are written in smaller units


class Fading:
    """A clock for each worker that goes on with each of their votes.

    A vote counts half when the worker has given `half_life` more. Instead of making all counts smaller
    with each vote, a new vote counts for more: for `factor`, and what is counted is to be multiplied by
    `scale`. So a vote that is taken back is taken back as what it counted for, and nothing of it stays.

    Parameters
    ----------
    half_life
        In votes of the same worker; infinite if nothing fades.
    """

    def __init__(self, half_life: float) -> None:
        if not half_life >= 10:
            raise ValueError(f"half_life is {half_life}, expected at least 10 votes of a worker")
        self.half_life, self.fades = half_life, half_life < np.inf
        self.turn = np.zeros(0, np.int64)  # how many votes each worker has given
        self.base = np.zeros(0, np.int64)  # the turn at which a vote counts for one

    def enlist(self, n: int) -> None:
        """More workers."""
        self.turn, self.base = grown(self.turn, np.zeros(n)), grown(self.base, np.zeros(n))

    def tick(self, worker: Rows) -> Rows:
        """New votes of workers: the turn of each."""
        if len(worker) == 1:
            self.turn[worker[0]] += 1
            return self.turn[worker]
        order = np.argsort(worker, kind="stable")
        begins = np.flatnonzero(np.diff(worker[order], prepend=-1))
        number = np.empty(len(worker), np.int64)
        number[order] = np.arange(1, len(worker) + 1) - np.repeat(begins, np.diff(begins, append=len(worker)))
        turn = self.turn[worker] + number
        np.add.at(self.turn, worker, 1)
        return turn

    def factor(self, worker: Rows, turn: Rows) -> Floats:
        """For how much a vote counts, in the units of its worker."""
        if not self.fades:
            return np.ones(len(worker))
        factor: Floats = np.exp2((turn - self.base[worker]) / self.half_life)
        return factor

    def scale(self, worker: Rows) -> Floats:
        """The unit of each worker: what a vote counts for that would count for one."""
        if not self.fades:
            return np.ones(len(worker))
        scale: Floats = np.exp2((self.base[worker] - self.turn[worker]) / self.half_life)
        return scale

    def change_units(self, worker: Rows) -> tuple[Rows, Floats]:
        """Before numbers become too large: workers with a new unit, and by what to multiply their counts."""
        late = worker[:0]
        if self.fades:
            late = np.unique(worker[self.turn[worker] - self.base[worker] > LONG * self.half_life])
        unit = self.scale(late)
        self.base[late] = self.turn[late]
        return late, unit
