"""Policy and View: what every policy computes (acquisition values, final posterior) and what it may see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.option_strings import spell
from crowdpilot.votes import Votes

NEVER = -np.inf  # acquisition value of a vote that must not be asked for


@dataclass(frozen=True, eq=False)
class View:
    """What a policy may see of some items and one question about them.

    Parameters
    ----------
    posterior
        Of the true class, (items, classes).
    classifier
        Probabilities of the classifier, (items, classes), if there is one.
    tally
        Votes for each class, (items, classes).
    pending
        Votes that were asked for and have not arrived, (items,).
    errors
        Error costs, (classes, decisions), or one such matrix for each item.
    confusion
        Confusion matrix of the next worker of each kind, (kinds, true, said).
    prices
        Of a vote of each kind, (kinds,).
    consensus
        Posterior of the class that the crowd sees in each item, (items, classes): what its votes can tell.
    consensus_errors
        Expected error costs by that class, (classes, decisions), or one such matrix for each item.
    experts
        Which kinds of worker are not misled as the crowd is, (kinds,).
    others_hold
        Probability that all other criteria of an item hold, (items,); ones if there is one question only.
    training_value
        Fall of the classifier's total loss through one more label.
    share_with_votes
        Share of all items that have votes.
    """

    posterior: Floats
    classifier: Floats | None
    tally: Floats
    pending: Floats
    errors: Floats
    confusion: Floats
    prices: Floats
    consensus: Floats
    consensus_errors: Floats
    experts: NDArray[np.bool_]
    others_hold: Floats
    training_value: float = 0.0
    share_with_votes: float = 0.0

    @property
    def votes(self) -> Floats:
        """Votes that have arrived or are pending, (items,)."""
        count: Floats = self.tally.sum(axis=1) + self.pending
        return count


@dataclass(frozen=True, eq=False)
class Evidence:
    """What decisions about all items may use, for one question.

    Parameters
    ----------
    posterior, classifier, tally
        As for `View`, of all items.
    votes
        Returns all votes, whose tasks are the items; called only by policies with an aggregator of their own.
    """

    posterior: Floats
    classifier: Floats | None
    tally: Floats
    votes: Callable[[], Votes]


@dataclass(frozen=True)
class Policy(ABC):
    """Settings, and two pure functions: the value of a vote, and the posterior that decisions use."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    starts_with_pilot: ClassVar[bool] = False
    uses_classifier: ClassVar[bool] = True

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
    def acquisition_values(self, view: View) -> Floats:
        """Value of a vote of each kind of worker, (kinds, items): only those above 0 are asked for."""

    def final_posterior(self, evidence: Evidence) -> Floats:
        """The posterior from which decisions are made, (items, classes)."""
        return evidence.posterior


def crowd_values(values: Floats, view: View) -> Floats:
    """These values, (items,), for the first kind of worker, and `NEVER` for the others; (kinds, items)."""
    by_kind = np.full((len(view.prices), len(values)), NEVER)
    by_kind[0] = values
    return by_kind
