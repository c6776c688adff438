"""What a campaign says: votes that are wanted, and decisions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, Names


class Ask(NamedTuple):
    """A vote that is wanted: on an item and, where there are several, on one criterion."""

    item: Any
    criterion: str = ""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What is decided about each item that was not withdrawn, and how sure that is."""

    items: Names
    codes: Codes
    labels: Names
    probs: Floats  # (items, classes)
    expected: Floats  # expected cost of the decision
    votes: Codes
    done: NDArray[np.bool_]  # whether no further vote is wanted

    def __len__(self) -> int:
        return len(self.items)

    def only(self, which: NDArray[np.bool_]) -> Decisions:
        """Those about some items."""
        return Decisions(**{f.name: getattr(self, f.name)[which] for f in fields(self)})
