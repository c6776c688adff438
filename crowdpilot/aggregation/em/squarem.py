"""SQUAREM: squared extrapolation of the expected counts, which accelerates EM."""

from __future__ import annotations

import math

from crowdpilot.aggregation.em.backend import Stats
from crowdpilot.arrays import library

MIN_SHARE_OF_COUNT = 0.1  # extrapolation leaves at least this share of a count, so none becomes negative


class Squarem:
    """The expected counts at which the next iteration starts.

    EM maps counts to counts. After two iterations s0, s1, s2 with steps r = s1 - s0 and
    v = (s2 - s1) - r the next iteration starts at s0 - 2 a r + a^2 v with a = -|r| / |v|, which is s2 if
    a is -1. Linear constraints on the counts (the number of votes of each worker) are kept. The caller
    compares the objective after an extrapolation with the one before, and calls `reject` if it fell.

    Parameters
    ----------
    counts
        Expected counts at the start.
    accelerate
        Whether to extrapolate at all.

    References
    ----------
    Varadhan and Roland, Simple and globally convergent methods for accelerating the convergence of
    any EM algorithm, Scandinavian Journal of Statistics 35, 2008 (scheme S3).
    """

    def __init__(self, counts: Stats, accelerate: bool) -> None:
        self.counts, self.accelerate = counts, accelerate
        self.extrapolated = False
        self.max_step = 4.0  # bound on -a; it grows while extrapolations raise the objective
        self._path = [counts]
        self._before = counts

    def accept(self, counts: Stats) -> None:
        """The iteration raised the objective and led to these counts."""
        if self.extrapolated:
            self.max_step *= 2
        self._path.append(counts)
        self.counts, self.extrapolated = counts, False
        if self.accelerate and len(self._path) == 3:
            self._before = counts
            self.counts, self.extrapolated = self._extrapolate()
            self._path = [self.counts]
        elif not self.accelerate:
            self._path = [counts]

    def reject(self) -> None:
        """The extrapolation lowered the objective: go on from the counts before it."""
        self.max_step = max(self.max_step / 4, 2.0)
        self.counts, self.extrapolated = self._before, False
        self._path = [self.counts]

    def _extrapolate(self) -> tuple[Stats, bool]:
        s0, s1, s2 = self._path
        steps = [(b - a, c - b) for a, b, c in zip(s0, s1, s2, strict=True)]
        r_squared = sum(float((r * r).sum()) for r, _ in steps)
        v_squared = sum(float(((r2 - r) ** 2).sum()) for r, r2 in steps)
        step = math.sqrt(r_squared / v_squared) if v_squared > 0 else 1.0
        step = min(step, self.max_step)
        if step <= 1:
            return s2, False
        extrapolated = (
            library(c).maximum(a + 2 * step * r + step**2 * (r2 - r), MIN_SHARE_OF_COUNT * c)
            for a, c, (r, r2) in zip(s0, s2, steps, strict=True)
        )
        return tuple(extrapolated), True
