"""What every policy is: who is wanted to vote on what, and whose word counts in the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.option_strings import spell

NEVER = -np.inf


@dataclass(frozen=True, eq=False)
class View:
    """What a policy may look at: some items, and one question about them.

    Parameters
    ----------
    probs
        What is believed of them, (items, classes).
    machine
        What the machine says, (items, classes), if there is one.
    tally
        Votes for each class, (items, classes).
    pending
        Votes that were asked for and have not come, (items,).
    errors
        Costs of decisions, (classes, decisions), or one such matrix for each item.
    said
        How the next worker of each kind confuses classes, (kinds, true, said).
    prices
        Of a vote of each kind, (kinds,).
    rest
        Probability that everything else that must hold for an item holds, (items,); ones if it is
        all about this question.
    training
        What a label brings through the machine that learns from it.
    reached
        Share of all items that have votes.
    """

    probs: Floats
    machine: Floats | None
    tally: Floats
    pending: Floats
    errors: Floats
    said: Floats
    prices: Floats
    rest: Floats
    training: float = 0.0
    reached: float = 0.0

    @property
    def votes(self) -> Floats:
        """Votes that came or will come, (items,)."""
        count: Floats = self.tally.sum(axis=1) + self.pending
        return count


@dataclass(frozen=True)
class Policy(ABC):
    """Settings, and two pure functions: how much a vote is wanted, and what is believed in the end."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    pilots: ClassVar[bool] = False  # whether it begins with a pilot
    machine: ClassVar[bool] = True  # whether it looks at what a machine says

    def __post_init__(self) -> None:
        for f in fields(self):
            value, text = getattr(self, f.name), isinstance(f.default, str)
            if text != isinstance(value, str) or not (
                text or (isinstance(value, int | float) and value >= 0)
            ):
                expected = "a text" if text else "a number of 0 or more"
                raise ValueError(f"{f.name} of {self.name} is {value!r}, expected {expected}")

    def __str__(self) -> str:
        return spell(self.name, self)

    @abstractmethod
    def want(self, view: View) -> Floats:
        """How much a vote of each kind of worker is wanted, (kinds, items): not at all unless above 0."""

    def judge(self, question: Question) -> Floats:
        """What decisions rest on, (items, classes)."""
        return question.probs


def of_crowd(wanted: Floats, view: View) -> Floats:
    """The same wish for the first kind of worker, and none for the others; (kinds, items)."""
    every = np.full((len(view.prices), len(wanted)), NEVER)
    every[0] = wanted
    return every
