"""Policy and View: what every policy computes (acquisition values, final posterior) and what it may see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.option_strings import spell
from crowdpilot.votes import Votes

NEVER = -np.inf  # acquisition value of a vote that must not be asked for
SOURCES = ("prior", "classifier", "votes")  # what a decision may rest on, in the order of their weight
PRIOR, CLASSIFIER, VOTES = range(3)


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
    posterior, tally
        As for `View`, of all items.
    is_classified
        Whether a classifier has a part in the posterior.
    classifier, votes
        Return the probabilities of the classifier, as for `View`, and all votes, whose tasks are the items;
        called only by policies with a rule of their own.
    """

    posterior: Floats
    tally: Floats
    is_classified: bool
    classifier: Callable[[], Floats | None]
    votes: Callable[[], Votes]


@dataclass(frozen=True)
class Policy(ABC):
    """Settings, and pure functions: the value of a vote, and the posterior that decisions use.

    A policy with a `final_posterior` of its own also says by which `decision_rule`, and what its decisions
    rest on where that is not as usual (`sources`).
    """

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

    @property
    def decision_rule(self) -> str:
        """How decisions are made where that is not by the posterior of the campaign, in words; else empty."""
        return ""

    def sources(self, evidence: Evidence) -> Codes:
        """What the decision about each item rests on, by number in `SOURCES`, (items,)."""
        alone = CLASSIFIER if self.uses_classifier and evidence.is_classified else PRIOR
        return np.where(evidence.tally.any(axis=1), VOTES, alone).astype(np.int32)


def crowd_values(values: Floats, view: View) -> Floats:
    """These values, (items,), for the first kind of worker, and `NEVER` for the others; (kinds, items)."""
    by_kind = np.full((len(view.prices), len(values)), NEVER)
    by_kind[0] = values
    return by_kind
