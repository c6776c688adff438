"""The map that does best on tasks it was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import Fitted, Map
from crowdpilot.calibration.maps.beta import Beta
from crowdpilot.calibration.maps.dirichlet import Dirichlet
from crowdpilot.calibration.maps.histogram import Histogram
from crowdpilot.calibration.maps.isotonic import Isotonic
from crowdpilot.calibration.maps.matrix import Matrix
from crowdpilot.calibration.maps.none import NoMap
from crowdpilot.calibration.maps.platt import Platt
from crowdpilot.calibration.maps.temperature import Temperature
from crowdpilot.calibration.maps.vector import Vector
from crowdpilot.calibration.sample import Sample, learnable, nll

TASKS_EACH = 5  # a map is tried if there are as many tasks for each number it learns

SINGLE: dict[str, type[Map]] = {
    map.name: map for map in (NoMap, Temperature, Platt, Vector, Beta, Matrix, Dirichlet, Histogram, Isotonic)
}


class Trial(NamedTuple):
    """How well a map foretells tasks it was not fitted on."""

    map: Map
    loss: float  # mean cross-entropy
    behind: float  # how much more that is than of the map with the least
    error: float  # the standard error of `behind`, from the tasks one by one


def try_maps(
    probs: ArrayLike,
    target: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    maps: Sequence[Map] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> list[Trial]:
    """Cross-validated cross-entropy of each map, those that learn fewer numbers first.

    A map that learns more than one number for five tasks is not tried, unless all do.

    Parameters
    ----------
    probs, target, weight
        As in `Map.fit`.
    maps
        The candidates; all of `MAPS` but `best` unless given.
    folds
        Parts into which the tasks are drawn; each is foretold by maps fitted on the others. No more
        than there are tasks.
    seed
        Draws the parts.
    """
    return _try(learnable(probs, target, weight), maps, folds, seed)


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

    Parameters are those of `try_maps`. The error is that of the difference between the two maps on
    the same tasks; the simplest map learns the fewest numbers, and is the first of equals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([1, 1, 1], 1000)
    >>> truth = (p.cumsum(axis=1) > rng.random((1000, 1))).argmax(axis=1)
    >>> too_sure = p**3 / (p**3).sum(axis=1, keepdims=True)
    >>> print(best_map(too_sure, truth), best_map(p, truth))
    temperature none
    """
    return _best(_try(learnable(probs, target, weight), maps, folds, seed))


@dataclass(frozen=True, kw_only=True)
class Best(Map):
    """Whichever map foretells held-out tasks best; see `best_map`.

    Parameters
    ----------
    floor
        Probabilities below count as this, in every map.
    maps
        Names of the maps to choose from; `best_map` chooses among maps with any settings.
    folds, seed
        As in `best_map`.

    Examples
    --------
    >>> said = np.array([[0.99, 0.01]] * 100)  # right 80 times of 100
    >>> Best().fit(said, [0] * 80 + [1] * 20).name
    'temperature'
    """

    maps: tuple[str, ...] = tuple(SINGLE)
    folds: int = 5
    seed: int = 0

    name: ClassVar[str] = "best"
    aliases: ClassVar[tuple[str, ...]] = ("auto",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.maps or not set(self.maps) <= set(SINGLE):
            raise ValueError(f"maps are {self.maps}, expected some of {', '.join(SINGLE)}")
        _check(self.folds)

    def size(self, K: int) -> int:
        return max(SINGLE[name]().size(K) for name in self.maps)

    def learn(self, sample: Sample) -> Fitted:
        maps = [SINGLE[name](floor=self.floor) for name in self.maps]
        return _best(_try(sample, maps, self.folds, self.seed)).learn(sample)


def _try(sample: Sample, maps: Sequence[Map] | None, folds: int, seed: int) -> list[Trial]:
    _check(folds)
    candidates = [map() for map in SINGLE.values()] if maps is None else list(maps)
    if not candidates:
        raise ValueError("there are no maps to choose from, expected one or more")
    n, K = sample.probs.shape
    candidates.sort(key=lambda map: map.size(K))
    candidates = [map for map in candidates if map.size(K) * TASKS_EACH <= n] or candidates[:1]
    part = np.random.default_rng(seed).permutation(n) % min(folds, n)
    losses = np.array([_held_out(map, sample, part) for map in candidates])
    share = sample.weight / sample.weight.sum()
    mean = losses @ share
    behind = losses - losses[mean.argmin()]
    spread = ((behind - (behind @ share)[:, None]) ** 2) @ share
    errors = np.sqrt(spread * (share @ share))  # share @ share is 1 / tasks if all weigh the same
    return [
        Trial(*row)
        for row in zip(candidates, mean.tolist(), (behind @ share).tolist(), errors.tolist(), strict=True)
    ]


def _held_out(map: Map, sample: Sample, part: NDArray[np.int64]) -> Floats:
    """Cross-entropy of each task by the map fitted on the other parts."""
    loss = np.empty(len(part))
    for fold in range(part.max() + 1):
        out = part == fold
        rest = sample.take(out)
        loss[out] = nll(rest, map.learn(sample.take(~out))(rest.probs))
    return loss


def _best(trials: list[Trial]) -> Map:
    return next(trial.map for trial in trials if trial.behind <= trial.error)


def _check(folds: int) -> None:
    if not folds >= 2:
        raise ValueError(f"folds is {folds}, expected 2 or more")
