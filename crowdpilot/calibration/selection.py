"""Selection of a calibration map by cross-validation, with the one-standard-error rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import FittedMap, Map
from crowdpilot.calibration.maps.beta import Beta
from crowdpilot.calibration.maps.dirichlet import Dirichlet
from crowdpilot.calibration.maps.histogram import Histogram
from crowdpilot.calibration.maps.isotonic import Isotonic
from crowdpilot.calibration.maps.matrix import Matrix
from crowdpilot.calibration.maps.none import NoMap
from crowdpilot.calibration.maps.platt import Platt
from crowdpilot.calibration.maps.temperature import Temperature
from crowdpilot.calibration.maps.vector import Vector
from crowdpilot.calibration.sample import Sample, labelled_sample, log_loss

MIN_TASKS_PER_PARAMETER = 5  # of the maps that are compared

SINGLE_MAPS: dict[str, type[Map]] = {
    map.name: map for map in (NoMap, Temperature, Platt, Vector, Beta, Matrix, Dirichlet, Histogram, Isotonic)
}


class Trial(NamedTuple):
    """The cross-validated loss of a map."""

    map: Map
    loss: float  # mean cross-entropy
    excess: float  # its difference to the smallest loss of all maps
    error: float  # the standard error of `excess` over tasks


def compare_maps(
    probs: ArrayLike,
    target: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    maps: Sequence[Map] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> list[Trial]:
    """Cross-validated cross-entropy of each map, in order of their number of parameters.

    Maps with more than one parameter per five tasks are left out, unless all have.

    Parameters
    ----------
    probs, target, weight
        As in `Map.fit`.
    maps
        The candidates; all of `MAPS` but `best` unless given.
    folds
        Number of cross-validation folds; no more than there are tasks.
    seed
        Of the assignment of tasks to folds.
    """
    return _cross_validate(labelled_sample(probs, target, weight), maps, folds, seed)


def best_map(
    probs: ArrayLike,
    target: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    maps: Sequence[Map] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Map:
    """The simplest map whose held-out cross-entropy is within one standard error of the least.

    Parameters are those of `compare_maps`. The standard error is that of the paired difference between two
    maps; the simplest map has the fewest parameters, and is the first of equals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], 1000)
    >>> truth = (p.cumsum(axis=1) > rng.random((1000, 1))).argmax(axis=1)
    >>> too_sure = p**3 / (p**3).sum(axis=1, keepdims=True)
    >>> print(best_map(too_sure, truth), best_map(p, truth))
    temperature none
    """
    return _simplest(_cross_validate(labelled_sample(probs, target, weight), maps, folds, seed))


@dataclass(frozen=True, kw_only=True)
class Best(Map):
    """The map that is selected by cross-validation; see `best_map`.

    Parameters
    ----------
    floor
        Smaller probabilities are raised to this, in every map.
    maps
        Names of the maps to select from; `best_map` selects among maps with any settings.
    folds, seed
        As in `best_map`.

    Examples
    --------
    >>> said = np.array([[0.99, 0.01]] * 100)  # right 80 times of 100
    >>> Best().fit(said, [0] * 80 + [1] * 20).name
    'temperature'
    """

    maps: tuple[str, ...] = tuple(SINGLE_MAPS)
    folds: int = 5
    seed: int = 0

    name: ClassVar[str] = "best"
    aliases: ClassVar[tuple[str, ...]] = ("auto",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.maps or not set(self.maps) <= set(SINGLE_MAPS):
            raise ValueError(f"maps are {self.maps}, expected some of {', '.join(SINGLE_MAPS)}")
        _check(self.folds)

    def n_parameters(self, K: int) -> int:
        return max(SINGLE_MAPS[name]().n_parameters(K) for name in self.maps)

    def fit_sample(self, sample: Sample) -> FittedMap:
        maps = [SINGLE_MAPS[name](floor=self.floor) for name in self.maps]
        return _simplest(_cross_validate(sample, maps, self.folds, self.seed)).fit_sample(sample)


def _cross_validate(sample: Sample, maps: Sequence[Map] | None, folds: int, seed: int) -> list[Trial]:
    _check(folds)
    candidates = [map() for map in SINGLE_MAPS.values()] if maps is None else list(maps)
    if not candidates:
        raise ValueError("there are no maps to choose from, expected one or more")
    n, K = sample.probs.shape
    candidates.sort(key=lambda map: map.n_parameters(K))
    candidates = [
        map for map in candidates if map.n_parameters(K) * MIN_TASKS_PER_PARAMETER <= n
    ] or candidates[:1]
    fold = np.random.default_rng(seed).permutation(n) % min(folds, n)
    losses = np.array([_held_out_loss(map, sample, fold) for map in candidates])
    share = sample.weight / sample.weight.sum()
    mean = losses @ share
    excess = losses - losses[mean.argmin()]
    variance = ((excess - (excess @ share)[:, None]) ** 2) @ share
    errors = np.sqrt(variance * (share @ share))  # share @ share is 1 / tasks if weights are equal
    return [
        Trial(*row)
        for row in zip(candidates, mean.tolist(), (excess @ share).tolist(), errors.tolist(), strict=True)
    ]


def _held_out_loss(map: Map, sample: Sample, fold: NDArray[np.int64]) -> Floats:
    """Cross-entropy of each task by the map fitted on the other folds, (tasks,)."""
    loss = np.empty(len(fold))
    for n in range(fold.max() + 1):
        held_out = fold == n
        rest = sample.take(held_out)
        loss[held_out] = log_loss(rest, map.fit_sample(sample.take(~held_out))(rest.probs))
    return loss


def _simplest(trials: list[Trial]) -> Map:
    return next(trial.map for trial in trials if trial.excess <= trial.error)


def _check(folds: int) -> None:
    if not folds >= 2:
        raise ValueError(f"folds is {folds}, expected 2 or more")
