"""What every map is, and what fitting one gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.calibration.sample import Sample, check_probs, learnable
from crowdpilot.option_strings import spell

LEAST = 1e-12  # no map ever gives a class less than this, nor all the rest to another

_KINDS: dict[str, type[Fitted]] = {}


@dataclass(frozen=True, eq=False)
class Fitted(ABC):
    """What a map has learned: a function from probabilities to more honest ones.

    Parameters
    ----------
    name
        The map that was fitted.
    floor
        Probabilities below count as this.
    """

    name: str
    floor: float

    def __init_subclass__(cls) -> None:
        _KINDS[cls.__name__] = cls

    def __call__(self, probs: ArrayLike) -> Floats:
        """Map (tasks, classes) to (tasks, classes); rows sum to one, no number is exactly 0 or 1."""
        p = check_probs(probs)
        if p.shape[1] != self.classes:
            raise ValueError(
                f"the probabilities have {p.shape[1]} columns, "
                f"expected {self.classes} as those the map was fitted on"
            )
        return to_probs(np.maximum(self.apply(raised(p, self.floor)), LEAST))

    @property
    @abstractmethod
    def classes(self) -> int:
        """How many classes there are."""

    @abstractmethod
    def apply(self, probs: Floats) -> Floats:
        """Map probabilities that are all above zero; rows of the result need not sum to one."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists, that JSON can hold; `load_map` reads them again."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}
        return {"kind": type(self).__name__, **plain}


def load_map(data: dict[str, Any]) -> Fitted:
    """The fitted map that `Fitted.to_dict` has written down.

    Raises
    ------
    ValueError
        If the data are something else.
    """
    kind = _KINDS.get(str(data.get("kind")))
    values: dict[str, Any] = {
        k: np.asarray(v, np.float64) if isinstance(v, list) else v for k, v in data.items() if k != "kind"
    }
    if kind is None or values.keys() != {f.name for f in fields(kind)}:
        raise ValueError(f"the data with {', '.join(map(str, data)) or 'nothing'} are not a fitted map")
    return kind(**values)


@dataclass(frozen=True, kw_only=True)
class Map(ABC):
    """A frozen set of settings whose `fit` learns how to make probabilities honest.

    Parameters
    ----------
    floor
        Probabilities below count as this, so that all have a logarithm.
    """

    floor: float = 1e-12

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(f.default, int | float) and not (isinstance(value, int | float) and value >= 0):
                raise ValueError(f"{f.name} is {value!r}, expected a number of 0 or more")
        if not LEAST <= self.floor < 0.5:
            raise ValueError(f"floor is {self.floor}, expected a number from {LEAST} to 0.5")

    def __str__(self) -> str:
        return spell(self.name, self)

    def fit(self, probs: ArrayLike, target: ArrayLike, *, weight: ArrayLike | None = None) -> Fitted:
        """Learn from tasks whose class is known, surely or not.

        Parameters
        ----------
        probs
            (tasks, classes), what a classifier says of tasks it was not trained on.
        target
            Codes of the classes (tasks,), -1 where unknown; or soft labels (tasks, classes), zeros
            where unknown. Unknown tasks are left out. A class that never occurs is allowed.
        weight
            How many times each task counts.

        Raises
        ------
        ValueError
            If fewer than two tasks have a known class, or the arrays do not fit each other.
        """
        return self.learn(learnable(probs, target, weight))

    @abstractmethod
    def size(self, K: int) -> int:
        """How many numbers it learns about K classes."""

    @abstractmethod
    def learn(self, sample: Sample) -> Fitted:
        """Learn from a checked sample."""


def raised(probs: Floats, floor: float) -> Floats:
    """The probabilities with none below the floor."""
    return to_probs(np.maximum(probs, floor))
