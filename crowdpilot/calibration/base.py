"""Map and FittedMap: the base of calibration maps, from probabilities to calibrated ones; saved maps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.calibration.sample import Sample, check_probs, labelled_sample
from crowdpilot.option_strings import spell

MIN_PROB = 1e-12  # no map returns a smaller probability
FORMAT, VERSION = "crowdpilot-calibration-map", 1

_KINDS: dict[str, type[FittedMap]] = {}


@dataclass(frozen=True, eq=False)
class FittedMap(ABC):
    """A fitted calibration map: a function from probabilities to calibrated ones.

    Parameters
    ----------
    name
        The map that was fitted.
    floor
        Smaller probabilities are raised to this before they are mapped.
    """

    name: str
    floor: float

    kind: ClassVar[str]  # of the function, in files
    file_names: ClassVar[Mapping[str, str]]  # of its arrays in files, by attribute

    def __init_subclass__(cls) -> None:
        _KINDS[cls.kind] = cls

    def __call__(self, probs: ArrayLike) -> Floats:
        """Map (tasks, classes) to (tasks, classes); rows sum to one, no number is exactly 0 or 1."""
        p = check_probs(probs)
        if p.shape[1] != self.classes:
            raise ValueError(
                f"the probabilities have {p.shape[1]} columns, "
                f"expected {self.classes} as those the map was fitted on"
            )
        return to_probs(np.maximum(self.apply(raise_to_floor(p, self.floor)), MIN_PROB))

    @property
    @abstractmethod
    def classes(self) -> int:
        """Number of classes."""

    @abstractmethod
    def apply(self, probs: Floats) -> Floats:
        """Map probabilities that are all above zero; rows of the result need not sum to one."""

    def to_dict(self) -> dict[str, Any]:
        """A versioned description in numbers, texts and lists, for JSON; `load_map` reads it.

        Its names are those of `file_names`, which do not depend on those of attributes.
        """
        arrays = {name: getattr(self, attribute).tolist() for attribute, name in self.file_names.items()}
        head = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "map": self.name,
            "floor": self.floor,
        }
        return head | arrays


def load_map(data: Mapping[str, Any]) -> FittedMap:
    """The fitted map that `FittedMap.to_dict` described.

    Raises
    ------
    ValueError
        If the data are something else, or of a newer version.
    """
    kind = _KINDS.get(str(data.get("kind")))
    if data.get("format") != FORMAT or kind is None:
        raise ValueError(f"the data with {', '.join(map(str, data)) or 'nothing'} are not a fitted map")
    if data["version"] > VERSION:
        raise ValueError(f"the map has version {data['version']} of the format, expected {VERSION} or less")
    if missing := [name for name in ("map", "floor", *kind.file_names.values()) if name not in data]:
        raise ValueError(f"the fitted map has no {missing[0]}")
    arrays = {attribute: np.asarray(data[name], np.float64) for attribute, name in kind.file_names.items()}
    return kind(name=data["map"], floor=data["floor"], **arrays)


@dataclass(frozen=True, kw_only=True)
class Map(ABC):
    """Settings of a calibration map; `fit` learns it from probabilities and classes.

    Parameters
    ----------
    floor
        Smaller probabilities are raised to this, so that all have a logarithm.
    """

    floor: float = 1e-12

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(f.default, int | float) and not (isinstance(value, int | float) and value >= 0):
                raise ValueError(f"{f.name} is {value!r}, expected a number of 0 or more")
        if not MIN_PROB <= self.floor < 0.5:
            raise ValueError(f"floor is {self.floor}, expected a number from {MIN_PROB} to 0.5")

    def __str__(self) -> str:
        return spell(self.name, self)

    def fit(self, probs: ArrayLike, target: ArrayLike, *, weight: ArrayLike | None = None) -> FittedMap:
        """Fit the map to tasks whose class is known, with certainty or as a distribution.

        Parameters
        ----------
        probs
            (tasks, classes), predictions of a classifier that was not trained on these tasks.
        target
            Codes of the classes (tasks,), -1 where unknown; or soft labels (tasks, classes), zeros
            where unknown. Unknown tasks are left out. A class that never occurs is allowed.
        weight
            Of each task, (tasks,); ones if not given.

        Raises
        ------
        ValueError
            If fewer than two tasks have a known class, or the arrays do not fit each other.
        """
        return self.fit_sample(labelled_sample(probs, target, weight))

    @abstractmethod
    def n_parameters(self, K: int) -> int:
        """Number of parameters for K classes."""

    @abstractmethod
    def fit_sample(self, sample: Sample) -> FittedMap:
        """Fit the map to a checked sample."""


def raise_to_floor(probs: Floats, floor: float) -> Floats:
    """The probabilities with none below the floor, (tasks, classes)."""
    return to_probs(np.maximum(probs, floor))
