"""Worlds that answer: recorded votes, drawn without replacement, or a simulated crowd without end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.hybrid.campaign.decisions import Ask
from crowdpilot.votes import Votes

Told = tuple[Any, Any, Any, str]  # item, worker, label, criterion


@dataclass(frozen=True, eq=False)
class Case:
    """What a policy is tried on: items whose classes are known to us, and not to it.

    Parameters
    ----------
    items, classes
        Their names.
    truth
        The right decision about each item, -1 where it is not known; such items count for nothing.
    votes
        What workers said, for each criterion (one called "" if there is but one question). Tasks are
        items. A worker called None is not known by name.
    machine
        As for `Campaign`.
    features, classifier
        As for `Campaign`.
    """

    items: Names
    classes: Names
    truth: Codes
    votes: Mapping[str, Votes]
    machine: Any = None
    features: Any = None
    classifier: Any = None

    @property
    def criteria(self) -> tuple[str, ...]:
        """Their names, if there are any."""
        return () if set(self.votes) == {""} else tuple(self.votes)


class World(Protocol):
    """Whoever answers."""

    def answer(self, asks: Sequence[Ask]) -> list[Told]:
        """One vote for each."""

    def spent(self) -> list[Ask]:
        """Questions to which there will be no more answers, told once."""


@dataclass(eq=False)
class Recorded:
    """The votes of a case in a random order; each is given once.

    Parameters
    ----------
    case
        Whose votes they are.
    seed
        Draws the order.
    """

    case: Case
    seed: int
    queue: dict[Ask, list[tuple[Any, Any]]] = field(init=False)
    over: list[Ask] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.queue = {Ask(item, c): [] for c in self.case.votes for item in self.case.items.tolist()}
        for criterion, votes in self.case.votes.items():
            names = (votes.tasks.tolist(), votes.workers.tolist(), votes.classes.tolist())
            for v in rng.permutation(len(votes)).tolist():
                place = Ask(names[0][votes.task[v]], criterion)
                if place in self.queue:
                    self.queue[place].append((names[1][votes.worker[v]], names[2][votes.label[v]]))
        self.over = [ask for ask, votes in self.queue.items() if not votes]

    def answer(self, asks: Sequence[Ask]) -> list[Told]:
        told = [(ask.item, *self.queue[ask].pop(), ask.criterion) for ask in asks]
        self.over += [ask for ask in asks if not self.queue[ask]]
        return told

    def spent(self) -> list[Ask]:
        over, self.over = self.over, []
        return over


@dataclass(eq=False)
class Simulated:
    """Workers who come at random and confuse classes as their matrices say.

    Parameters
    ----------
    items, classes
        Their names.
    truth
        The class of each item.
    confusion
        (workers, true, said).
    seed
        Draws workers and answers.
    """

    items: Names
    classes: Names
    truth: Codes
    confusion: Floats
    seed: int
    rng: np.random.Generator = field(init=False)
    place: dict[Any, int] = field(init=False)
    asked: dict[Any, set[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.place = {item: n for n, item in enumerate(self.items.tolist())}
        self.asked = {}

    def answer(self, asks: Sequence[Ask]) -> list[Told]:
        told: list[Told] = []
        for ask in asks:
            before = self.asked.setdefault(ask.item, set())
            free = [w for w in range(len(self.confusion)) if w not in before]
            worker = int(self.rng.choice(free))
            before.add(worker)
            chances = self.confusion[worker, self.truth[self.place[ask.item]]]
            label = self.classes[self.rng.choice(len(chances), p=chances)]
            told.append((ask.item, f"worker {worker}", label, ask.criterion))
        return told

    def spent(self) -> list[Ask]:
        return [Ask(item) for item, who in self.asked.items() if len(who) == len(self.confusion)]
