"""Leaps between the rounds of EM: squared extrapolation of the counts."""

from __future__ import annotations

import math

from crowdpilot.aggregation.em.backend import Stats
from crowdpilot.arrays import library

LEAST = 0.1  # of what a count was without the leap: none becomes zero or negative


class Stride:
    """Where EM steps from next.

    EM maps counts to counts. After two rounds s0, s1, s2 with steps r = s1 - s0 and v = (s2 - s1) - r
    the next round begins at s0 - 2 a r + a^2 v with a = -|r| / |v|, which is s2 if a is -1. Sums that
    all counts share (the votes of each worker) are those of s0, s1 and s2. Whoever leaps must look
    where it led, and turn back if that is down.

    Parameters
    ----------
    here
        Counts at the beginning.
    leaping
        Whether to leap at all.

    References
    ----------
    Varadhan and Roland, Simple and globally convergent methods for accelerating the convergence of
    any EM algorithm, Scandinavian Journal of Statistics 35, 2008 (scheme S3).
    """

    def __init__(self, here: Stats, leaping: bool) -> None:
        self.here, self.leaping = here, leaping
        self.leapt = False
        self.farthest = 4.0  # leaps are not longer than this; it grows while they lead up
        self._path = [here]
        self._safe = here

    def go_on(self, counts: Stats) -> None:
        """The round from here led up, to these counts."""
        if self.leapt:
            self.farthest *= 2
        self._path.append(counts)
        self.here, self.leapt = counts, False
        if self.leaping and len(self._path) == 3:
            self._safe = counts
            self.here, self.leapt = self._leap()
            self._path = [self.here]
        elif not self.leaping:
            self._path = [counts]

    def turn_back(self) -> None:
        """The leap led down: step from where it began."""
        self.farthest = max(self.farthest / 4, 2.0)
        self.here, self.leapt = self._safe, False
        self._path = [self.here]

    def _leap(self) -> tuple[Stats, bool]:
        s0, s1, s2 = self._path
        steps = [(b - a, c - b) for a, b, c in zip(s0, s1, s2, strict=True)]
        length = sum(float((r * r).sum()) for r, _ in steps)
        bend = sum(float(((r2 - r) ** 2).sum()) for r, r2 in steps)
        far = math.sqrt(length / bend) if bend > 0 else 1.0
        far = min(far, self.farthest)
        if far <= 1:
            return s2, False
        leapt = (
            library(c).maximum(a + 2 * far * r + far**2 * (r2 - r), LEAST * c)
            for a, c, (r, r2) in zip(s0, s2, steps, strict=True)
        )
        return tuple(leapt), True
