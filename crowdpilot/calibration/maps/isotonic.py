"""Isotonic regression: the best curve of each class that never falls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from crowdpilot.arrays import Floats, sum_by
from crowdpilot.calibration.base import Fitted, Map
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, eq=False)
class Bent(Fitted):
    """A line from knot to knot for each class, level before the first and after the last."""

    said: Floats  # (knots,) of all classes, one after the other
    meant: Floats  # (knots,)
    ends: Floats  # (classes,), where the knots of the next class begin

    @property
    def classes(self) -> int:
        return len(self.ends)

    def apply(self, probs: Floats) -> Floats:
        ends = self.ends[:-1].astype(np.intp)
        knots = zip(probs.T, np.split(self.said, ends), np.split(self.meant, ends), strict=True)
        return np.column_stack([np.interp(p, x, y) for p, x, y in knots])


@dataclass(frozen=True, kw_only=True)
class Isotonic(Map):
    """Each class against the rest: the share of the class never falls as its probability rises.

    Pool adjacent violators gives blocks of tasks that share a value. The curve joins the middles of
    the blocks by lines, which predicts other tasks better than steps do, and then rows are divided
    by their sums.

    Parameters
    ----------
    floor
        Probabilities below count as this.
    smoothing
        Imaginary tasks at the lowest and at the highest probability, whose class is as open as that
        of the average task, so that no class is ever impossible or certain.

    References
    ----------
    Zadrozny and Elkan, Transforming classifier scores into accurate multiclass probability
    estimates, KDD 2002. Oron and Flournoy, Centered isotonic regression: point and interval
    estimation for dose-response studies, Statistics in Biopharmaceutical Research 9(3), 2017.

    Examples
    --------
    >>> p = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> map = Isotonic(smoothing=0).fit(np.column_stack([1 - p, p]), [0, 0, 1, 0, 1, 1])
    >>> map([[0.65, 0.35], [0.55, 0.45]])[:, 1].round(2).tolist()
    [0.5, 0.75]
    """

    smoothing: float = 2.0

    name: ClassVar[str] = "isotonic"

    def size(self, K: int) -> int:
        return 10 * K  # as many as histogram binning: it learns more the more tasks there are

    def learn(self, sample: Sample) -> Fitted:
        parts = zip(sample.probs.T, sample.target.T, sample.shares(self.smoothing), strict=True)
        curves = [self._curve(p, t, sample.weight, usual) for p, t, usual in parts]
        said, meant = (np.concatenate(part) for part in zip(*curves, strict=True))
        ends = np.cumsum([len(x) for x, _ in curves])
        return Bent(self.name, self.floor, said, meant, ends.astype(np.float64))

    def _curve(self, p: Floats, target: Floats, weight: Floats, usual: float) -> tuple[Floats, Floats]:
        """Middles of the blocks of one class, and their values."""
        x, which = np.unique(p, return_inverse=True)
        imagined = np.zeros(len(x))
        imagined[0] += self.smoothing
        imagined[-1] += self.smoothing
        mass = sum_by(which, weight, len(x)) + imagined
        share = (sum_by(which, weight * target, len(x)) + imagined * usual) / mass
        pooled = isotonic_regression(share, weights=mass)
        first = pooled.blocks[:-1]
        return np.add.reduceat(x * mass, first) / np.add.reduceat(mass, first), pooled.x[first]
