"""NameIndex: names numbered in the order in which they first appear."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes
from crowdpilot.names import is_missing


class NameIndex:
    """Names of tasks, workers or classes, each with its code.

    Parameters
    ----------
    what
        What the names stand for, in the words of an error message.
    names
        The first names.
    """

    def __init__(self, what: str, names: Iterable[Any] = ()) -> None:
        self.what = what
        self.names: list[Any] = []
        self.code: dict[Any, int] = {}
        self.add(self.new(names))

    def __len__(self) -> int:
        return len(self.names)

    def new(self, names: Iterable[Any]) -> list[Any]:
        """Those names that have no code yet, each once."""
        try:
            new = [name for name in dict.fromkeys(names) if name not in self.code]
        except TypeError:
            raise ValueError(f"the name of a {self.what} is a text or a number, not a collection") from None
        if new and any(is_missing(name) for name in new):
            raise ValueError(f"a vote has no {self.what}")
        return new

    def add(self, new: list[Any]) -> None:
        """Give codes to names that are new."""
        self.code.update((name, len(self.names) + n) for n, name in enumerate(new))
        self.names += new

    def codes(self, names: Iterable[Any]) -> Codes:
        """The codes of names that are known; an error for an unknown one."""
        try:
            return np.array([self.code[name] for name in names], np.int32)
        except (KeyError, TypeError):
            unknown = next(name for name in names if name not in self.code)
            some = ", ".join(map(str, self.names[:10]))
            raise ValueError(f"there is no {self.what} {unknown!r}; there are {some or 'none'}") from None
