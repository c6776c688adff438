"""Staff: the workers of a campaign, and what each was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Staff:
    """Workers by name and by number, each of one kind.

    Parameters
    ----------
    kinds
        Names of the kinds.
    arrived
        Called with the kind of each new worker.
    """

    def __init__(self, kinds: list[str], arrived: Callable[[int], None]) -> None:
        self.kinds, self.arrived = kinds, arrived
        self.names: list[Any] = []
        self.kind: list[int] = []
        self.place: dict[Any, int] = {}
        self.seen: list[set[tuple[int, int]]] = []  # questions about items that each was asked or answered

    def find(self, name: Any, kind: str | None) -> int:
        """The number of a worker, who is enlisted if new.

        A worker keeps the kind they came with.
        """
        code = self.code_of(kind if kind is not None else self.kinds[0])
        if name in self.place:
            worker = self.place[name]
            if kind is not None and self.kind[worker] != code:
                raise ValueError(
                    f"worker {name!r} is of the kind '{self.kinds[self.kind[worker]]}', not '{kind}'"
                )
            return worker
        self.place[name] = len(self.names)
        self.names.append(name)
        self.kind.append(code)
        self.seen.append(set())
        self.arrived(code)
        return self.place[name]

    def code_of(self, kind: str) -> int:
        """The number of a kind."""
        if kind not in self.kinds:
            known = ", ".join(f"'{k}'" for k in self.kinds)
            raise ValueError(f"there is no price for the kind of worker '{kind}'; there are {known}")
        return self.kinds.index(kind)
