"""Staff: the workers of a campaign, and what each was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdpilot.hybrid.campaign.question import Question

Place = tuple[int, int]  # question, item


class Staff:
    """Workers by name and by number, each of one kind.

    Parameters
    ----------
    kinds
        Names of the kinds.
    questions
        To which each new worker is made known.
    """

    def __init__(self, kinds: list[str], questions: Sequence[Question]) -> None:
        self.kinds, self.questions = kinds, questions
        self.names: list[Any] = []
        self.kind: list[int] = []
        self.place: dict[Any, int] = {}
        self.seen: list[set[Place]] = []  # what each was asked or has answered, and may not be asked again
        self.given: list[int] = []  # how many that were, forgotten ones included
        self.votes = [0] * len(kinds)  # that came from each kind

    def find(self, name: Any, kind: str | None = None) -> int:
        """The number of a worker, who is enlisted if new: of the kind given, or of the first one.

        A worker keeps the kind they came with.
        """
        check_name(name)
        code = self.code_of(self.kinds[0] if kind is None else kind)
        if name in self.place:
            worker = self.place[name]
            if kind is not None and self.kind[worker] != code:
                known = self.kinds[self.kind[worker]]
                raise ValueError(f"worker {name!r} is of the kind '{known}', not '{kind}'")
            return worker
        self.place[name] = len(self.names)
        self.names.append(name)
        self.kind.append(code)
        self.seen.append(set())
        self.given.append(0)
        for question in self.questions:
            question.enlist(code)
        return self.place[name]

    def code_of(self, kind: str) -> int:
        """The number of a kind."""
        if kind not in self.kinds:
            known = ", ".join(f"'{k}'" for k in self.kinds)
            raise ValueError(f"there is no price for the kind of worker '{kind}'; there are {known}")
        return self.kinds.index(kind)

    def give(self, worker: int, place: Place) -> None:
        """A worker is asked something, or has answered it."""
        if place not in self.seen[worker]:
            self.seen[worker].add(place)
            self.given[worker] += 1

    def take_back(self, worker: int, places: set[Place]) -> None:
        """A worker will not answer these, and may be asked again."""
        self.given[worker] -= len(places & self.seen[worker])
        self.seen[worker] -= places

    def move(self, new: list[int]) -> None:
        """Items have new numbers, below 0 if they are forgotten."""
        self.seen = [{(q, new[row]) for q, row in places if new[row] >= 0} for places in self.seen]


def check_name(worker: Any) -> None:
    """Refuse what cannot be looked up."""
    try:
        hash(worker)
    except TypeError:
        raise ValueError(f"{worker!r} cannot be the name of a worker; texts and numbers can") from None
