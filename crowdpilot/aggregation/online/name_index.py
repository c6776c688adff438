"""Register: names that are numbered as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, is_missing


class Register:
    """Names of one thing, each with its number.

    Parameters
    ----------
    what
        What they name, in the words of an error.
    names
        Those that are there from the beginning.
    """

    def __init__(self, what: str, names: Iterable[Any] = ()) -> None:
        self.what = what
        self.names: list[Any] = []
        self.place: dict[Any, int] = {}
        self.enlist(self.new(names))

    def __len__(self) -> int:
        return len(self.names)

    def new(self, names: Iterable[Any]) -> list[Any]:
        """Those names that are not known yet, each once."""
        try:
            new = [name for name in dict.fromkeys(names) if name not in self.place]
        except TypeError:
            raise ValueError(f"the name of a {self.what} is a text or a number, not a collection") from None
        if new and any(is_missing(name) for name in new):
            raise ValueError(f"a vote has no {self.what}")
        return new

    def enlist(self, new: list[Any]) -> None:
        """Number names that are new."""
        self.place.update((name, len(self.names) + n) for n, name in enumerate(new))
        self.names += new

    def find(self, names: Iterable[Any]) -> Codes:
        """The numbers of names that are known."""
        try:
            return np.array([self.place[name] for name in names], np.int32)
        except (KeyError, TypeError):
            unknown = next(name for name in names if name not in self.place)
            some = ", ".join(map(str, self.names[:10]))
            raise ValueError(f"there is no {self.what} {unknown!r}; there are {some or 'none'}") from None
