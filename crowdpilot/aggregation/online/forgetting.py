"""Exponential forgetting: the weight of a vote halves after `half_life` further votes of its worker."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.online.vote_log import Integers
from crowdpilot.arrays import Floats
from crowdpilot.growing_arrays import append_rows

MAX_HALF_LIVES_PER_UNIT = 50  # after so many, counts are rescaled before they become too large


class Forgetting:
    """A clock for each worker that advances with each of their votes.

    A vote counts half when the worker has given `half_life` more. Instead of shrinking all counts with
    each vote, a new vote counts for more: for `factor`, and counts are multiplied by `scale` where they
    are used. So deleting a vote subtracts exactly what was added for it.

    Parameters
    ----------
    half_life
        In votes of the same worker; infinite for no forgetting.
    """

    def __init__(self, half_life: float) -> None:
        if not half_life >= 10:
            raise ValueError(f"half_life is {half_life}, expected at least 10 votes of a worker")
        self.half_life, self.active = half_life, half_life < np.inf
        self.clock = np.zeros(0, np.int64)  # number of votes that each worker has given
        self.unit = np.zeros(0, np.int64)  # the clock at which a vote counts for one

    def add_workers(self, n: int) -> None:
        """Start the clocks of `n` more workers."""
        self.clock, self.unit = append_rows(self.clock, np.zeros(n)), append_rows(self.unit, np.zeros(n))

    def advance(self, worker: Integers) -> Integers:
        """Advance the clocks for new votes; the clock of the worker at each vote, (votes,)."""
        if len(worker) == 1:
            self.clock[worker[0]] += 1
            return self.clock[worker]
        order = np.argsort(worker, kind="stable")
        begins = np.flatnonzero(np.diff(worker[order], prepend=-1))
        number = np.empty(len(worker), np.int64)
        number[order] = np.arange(1, len(worker) + 1) - np.repeat(begins, np.diff(begins, append=len(worker)))
        clock = self.clock[worker] + number
        np.add.at(self.clock, worker, 1)
        return clock

    def factor(self, worker: Integers, clock: Integers) -> Floats:
        """For how much a vote counts, in the unit of its worker, (votes,)."""
        if not self.active:
            return np.ones(len(worker))
        factor: Floats = np.exp2((clock - self.unit[worker]) / self.half_life)
        return factor

    def scale(self, worker: Integers) -> Floats:
        """What the counts of each worker are to be multiplied by, so that a vote given now counts for one."""
        if not self.active:
            return np.ones(len(worker))
        scale: Floats = np.exp2((self.unit[worker] - self.clock[worker]) / self.half_life)
        return scale

    def change_units(self, worker: Integers) -> tuple[Integers, Floats]:
        """Workers whose unit changes now, and what their counts are to be multiplied by."""
        late = worker[:0]
        if self.active:
            age = self.clock[worker] - self.unit[worker]
            late = np.unique(worker[age > MAX_HALF_LIVES_PER_UNIT * self.half_life])
        scale = self.scale(late)
        self.unit[late] = self.clock[late]
        return late, scale
