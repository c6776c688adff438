"""Isotonic regression (Zadrozny and Elkan 2002): a monotone curve for each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy  # whose `optimize` takes long to import: it is loaded when it is used

from crowdpilot.arrays import Floats, sum_by
from crowdpilot.calibration.base import FittedMap, Map
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, eq=False)
class FittedIsotonic(FittedMap):
    """Linear interpolation between knots for each class, constant before the first and after the last."""

    kind: ClassVar[str] = "isotonic"
    file_names: ClassVar[Mapping[str, str]] = {"x": "x", "y": "y", "ends": "ends"}

    x: Floats  # probabilities at the knots of all classes, one class after the other, (knots,)
    y: Floats  # calibrated probabilities at the knots, (knots,)
    ends: Floats  # index of the first knot of the next class, (classes,)

    @property
    def classes(self) -> int:
        return len(self.ends)

    def apply(self, probs: Floats) -> Floats:
        ends = self.ends[:-1].astype(np.intp)
        knots = zip(probs.T, np.split(self.x, ends), np.split(self.y, ends), strict=True)
        return np.column_stack([np.interp(p, x, y) for p, x, y in knots])


@dataclass(frozen=True, kw_only=True)
class Isotonic(Map):
    """One-vs-rest: the class share as a nondecreasing function of the probability, then normalized rows.

    Pool-adjacent-violators gives blocks of tasks that share a value. The curve interpolates linearly
    between the centres of the blocks (centred isotonic regression), which predicts other tasks better than
    a step function does.

    Parameters
    ----------
    floor
        Smaller probabilities are raised to this.
    smoothing
        Pseudo-count of tasks at the lowest and at the highest probability, with the overall class shares,
        so that no value is 0 or 1.

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

    def n_parameters(self, K: int) -> int:
        return 10 * K  # as histogram binning; the true number grows with the tasks

    def fit_sample(self, sample: Sample) -> FittedMap:
        parts = zip(sample.probs.T, sample.target.T, sample.class_shares(self.smoothing), strict=True)
        curves = [self._curve(p, t, sample.weight, share) for p, t, share in parts]
        x, y = (np.concatenate(part) for part in zip(*curves, strict=True))
        ends = np.cumsum([len(knots) for knots, _ in curves])
        return FittedIsotonic(self.name, self.floor, x, y, ends.astype(np.float64))

    def _curve(self, p: Floats, target: Floats, weight: Floats, share: float) -> tuple[Floats, Floats]:
        """Centres of the blocks of one class, and their values."""
        x, which = np.unique(p, return_inverse=True)
        pseudo_counts = np.zeros(len(x))
        pseudo_counts[0] += self.smoothing
        pseudo_counts[-1] += self.smoothing
        mass = sum_by(which, weight, len(x)) + pseudo_counts
        shares = (sum_by(which, weight * target, len(x)) + pseudo_counts * share) / mass
        pooled = scipy.optimize.isotonic_regression(shares, weights=mass)
        first = pooled.blocks[:-1]
        return np.add.reduceat(x * mass, first) / np.add.reduceat(mass, first), pooled.x[first]
