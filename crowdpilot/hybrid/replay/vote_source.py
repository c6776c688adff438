"""Scenario and vote sources: recorded votes without replacement, or simulated workers, answer a campaign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.hybrid.campaign.decisions import Ask
from crowdpilot.votes import Votes

VoteTuple = tuple[Any, Any, Any, str]  # item, worker, label, criterion


@dataclass(frozen=True, eq=False)
class Scenario:
    """Items with known truth on which policies are tried; the truth is not shown to the policy.

    Parameters
    ----------
    items, classes
        Their names.
    truth
        The right decision about each item, (items,); -1 where it is not known, which is left out of the loss.
    votes
        The votes on each criterion, by its name (one named "" if there is but one question). Tasks are
        items. A worker named None is anonymous.
    classifier_probs
        Fixed probabilities of a classifier, as for `Campaign`; with criteria a mapping from names to these.
    features, classifier
        Rows for each item, and a classifier that learns from them: as for `Campaign`.
    """

    items: Names
    classes: Names
    truth: Codes
    votes: Mapping[str, Votes]
    classifier_probs: Any = None
    features: Any = None
    classifier: Any = None

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria; none if there is one question only."""
        return () if set(self.votes) == {""} else tuple(self.votes)


class VoteSource(Protocol):
    """Answers the requests of a campaign with votes."""

    def answer(self, asks: Sequence[Ask]) -> list[VoteTuple]:
        """One vote for each request."""

    def exhausted(self) -> list[Ask]:
        """Questions on which no further vote can be had."""


@dataclass(eq=False)
class RecordedVotes:
    """The recorded votes of a scenario in a random order, without replacement.

    Parameters
    ----------
    scenario
        Whose votes they are.
    seed
        Of the order.
    """

    scenario: Scenario
    seed: int = 0
    _queue: dict[Ask, list[tuple[Any, Any]]] = field(init=False)  # workers and labels
    _exhausted: list[Ask] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        items = self.scenario.items.tolist()
        self._queue = {Ask(item, criterion): [] for criterion in self.scenario.votes for item in items}
        for criterion, votes in self.scenario.votes.items():
            tasks, workers, classes = votes.tasks.tolist(), votes.workers.tolist(), votes.classes.tolist()
            for v in rng.permutation(len(votes)).tolist():
                ask = Ask(tasks[votes.task[v]], criterion)
                if ask in self._queue:
                    self._queue[ask].append((workers[votes.worker[v]], classes[votes.label[v]]))
        self._exhausted = [ask for ask, votes in self._queue.items() if not votes]

    def answer(self, asks: Sequence[Ask]) -> list[VoteTuple]:
        votes = [(ask.item, *self._queue[ask].pop(), ask.criterion) for ask in asks]
        self._exhausted += [ask for ask in asks if not self._queue[ask]]
        return votes

    def exhausted(self) -> list[Ask]:
        """Questions on which no further vote can be had; each is returned once."""
        asks, self._exhausted = self._exhausted, []
        return asks


@dataclass(eq=False)
class SimulatedVotes:
    """Random workers who answer by their confusion matrices, each once on an item.

    Parameters
    ----------
    items, classes
        Their names.
    truth
        The class of each item, (items,).
    confusion
        (workers, true, said).
    seed
        Of workers and answers.
    """

    items: Names
    classes: Names
    truth: Codes
    confusion: Floats
    seed: int = 0
    _rng: np.random.Generator = field(init=False)
    _row: dict[Any, int] = field(init=False)
    _answered_by: dict[Any, set[int]] = field(init=False)  # workers, by item

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._row = {item: n for n, item in enumerate(self.items.tolist())}
        self._answered_by = {}

    def answer(self, asks: Sequence[Ask]) -> list[VoteTuple]:
        votes: list[VoteTuple] = []
        for ask in asks:
            previous = self._answered_by.setdefault(ask.item, set())
            free = [w for w in range(len(self.confusion)) if w not in previous]
            worker = int(self._rng.choice(free))
            previous.add(worker)
            probs = self.confusion[worker, self.truth[self._row[ask.item]]]
            label = self.classes[self._rng.choice(len(probs), p=probs)]
            votes.append((ask.item, f"worker {worker}", label, ask.criterion))
        return votes

    def exhausted(self) -> list[Ask]:
        return [
            Ask(item) for item, workers in self._answered_by.items() if len(workers) == len(self.confusion)
        ]
