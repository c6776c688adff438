"""Histogram binning (Zadrozny and Elkan 2001): the share of a class in bins of its probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats, sum_by
from crowdpilot.calibration.base import FittedMap, Map
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, eq=False)
class FittedHistogram(FittedMap):
    """A step function for each class; a bin includes its upper edge."""

    kind: ClassVar[str] = "histogram"
    file_names: ClassVar[Mapping[str, str]] = {"edges": "edges", "levels": "levels"}

    edges: Floats  # (classes, bins - 1), the last one repeated if a class has fewer
    levels: Floats  # (classes, bins)

    @property
    def classes(self) -> int:
        return len(self.levels)

    def apply(self, probs: Floats) -> Floats:
        bins = zip(probs.T, self.edges, self.levels, strict=True)
        return np.column_stack([levels[np.searchsorted(edges, p)] for p, edges, levels in bins])


@dataclass(frozen=True, kw_only=True)
class Histogram(Map):
    """One-vs-rest: the share of the class in bins of equally many tasks, then normalized rows.

    Equal probabilities are in one bin, so that there may be fewer bins.

    Parameters
    ----------
    floor
        Smaller probabilities are raised to this.
    bins
        Maximum number of bins.
    smoothing
        Pseudo-count of tasks in each bin, with the overall class shares, so that no level is 0 or 1.

    References
    ----------
    Zadrozny and Elkan, Obtaining calibrated probability estimates from decision trees and naive
    Bayesian classifiers, ICML 2001.

    Examples
    --------
    >>> p = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> map = Histogram(bins=2, smoothing=0).fit(np.column_stack([1 - p, p]), [0, 0, 1, 0, 1, 1])
    >>> map([[0.7, 0.3], [0.6, 0.4]])[:, 1].round(2).tolist()
    [0.33, 0.67]
    """

    bins: int = 10
    smoothing: float = 1.0

    name: ClassVar[str] = "histogram"
    aliases: ClassVar[tuple[str, ...]] = ("binning", "histogram_binning")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.bins, int) and self.bins >= 1):
            raise ValueError(f"bins is {self.bins}, expected 1 or more")

    def n_parameters(self, K: int) -> int:
        return self.bins * K

    def fit_sample(self, sample: Sample) -> FittedMap:
        parts = zip(sample.probs.T, sample.target.T, sample.class_shares(self.smoothing), strict=True)
        curves = [self._steps(p, t, sample.weight, share) for p, t, share in parts]
        edges, levels = zip(*curves, strict=True)
        return FittedHistogram(self.name, self.floor, np.array(edges), np.array(levels))

    def _steps(self, p: Floats, target: Floats, weight: Floats, share: float) -> tuple[Floats, Floats]:
        """Edges (bins - 1,) and levels (bins,) of one class."""
        x, which = np.unique(p, return_inverse=True)
        mass = sum_by(which, weight, len(x))
        middle = (np.cumsum(mass) - mass / 2) / mass.sum()  # relative rank of each probability
        _, bin = np.unique((middle * self.bins).astype(np.intp), return_inverse=True)
        last = np.flatnonzero(np.diff(bin))
        inside = sum_by(bin, mass, bin[-1] + 1)
        true = sum_by(bin[which], weight * target, bin[-1] + 1)
        levels = (true + self.smoothing * share) / (inside + self.smoothing)
        missing = self.bins - len(levels)
        return np.append((x[last] + x[last + 1]) / 2, np.ones(missing)), np.append(levels, np.zeros(missing))
