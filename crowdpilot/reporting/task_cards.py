"""Tasks with what was said of them and what the workers saw, for a person to look at."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Names
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.content import Content, gather
from crowdpilot.reporting.truth import Known

SHOWN = 12  # tasks of each list
TALLIED = 5  # classes of a task
AMBIGUITY = {  # scores of tasks by a classifier, low where it cannot believe the votes
    "waum": "WAUM",
    "waum_perworker": "WAUM per worker",
    "aum": "AUM",
}


class Card(NamedTuple):
    """What is believed of a task, what was said, and what the workers saw."""

    task: Any
    label: Any
    confidence: float
    why: str
    truth: Any
    tally: list[tuple[str, int, float]]
    content: Content
    score: float | None = None


class Ambiguous(NamedTuple):
    """The tasks with the lowest values of a score."""

    name: str
    title: str
    cards: list[Card]


@dataclass(frozen=True, eq=False)
class Dealer:
    """Makes cards.

    Parameters
    ----------
    diagnosis
        What was found.
    known
        The tasks whose true class is known.
    texts, images
        What the workers saw: a text for some tasks, and a folder with a picture for some.
    """

    diagnosis: Diagnosis
    known: Known | None
    texts: Mapping[Any, Any] | None
    images: str | os.PathLike[str] | None

    def review(self) -> list[Card]:
        """The tasks at the top of the list for review, if there is any reason to look at them."""
        tasks, gold = self.diagnosis.tasks, self.diagnosis.votes.gold
        rows = np.flatnonzero((tasks["why"] != "") & ~np.asarray(False if gold is None else gold >= 0))
        return self._deal(rows[np.argsort(tasks["review"][rows])][:SHOWN])

    def ambiguous(self) -> list[Ambiguous]:
        """The tasks that a classifier finds hardest to believe, by each of its scores."""
        return [
            Ambiguous(name, AMBIGUITY[name], self._deal(lowest(column), column))
            for name, column in ambiguity_of(self.diagnosis).items()
        ]

    def _deal(self, rows: NDArray[np.intp], score: Any = None) -> list[Card]:
        diagnosis, votes = self.diagnosis, self.diagnosis.votes
        names = votes.tasks[rows].tolist()
        truth = np.full(len(votes.tasks), "", object)
        if self.known is not None:
            truth[self.known.task] = self.known.classes[self.known.truth]
        columns = [diagnosis.tasks[name][rows].tolist() for name in ("label", "confidence", "why")]
        tally = [_most_voted(votes.label[votes.task == row], votes.classes) for row in rows]
        scores: Sequence[float | None] = [None] * len(rows) if score is None else score[rows].tolist()
        content = gather(names, self.texts, self.images)
        return [
            Card(*card)
            for card in zip(names, *columns, truth[rows].tolist(), tally, content, scores, strict=True)
        ]


def ambiguity_of(diagnosis: Diagnosis) -> dict[str, Any]:
    """The scores of a classifier that a diagnosis was given, by their names; (tasks,) each."""
    found = {name: diagnosis.tasks[name] for name in AMBIGUITY if name in diagnosis.tasks}
    return {name: column for name, column in found.items() if np.isfinite(column).any()}


def lowest(column: Any) -> NDArray[np.intp]:
    """The tasks to show: those with the lowest scores, the lowest first."""
    order: NDArray[np.intp] = np.argsort(column, kind="stable")
    shown: NDArray[np.intp] = order[np.isfinite(column[order])][:SHOWN]
    return shown


def _most_voted(labels: Codes, classes: Names) -> list[tuple[str, int, float]]:
    """The classes with most votes: name, votes, share of the votes."""
    n = np.bincount(labels, minlength=len(classes))
    top = [k for k in np.argsort(-n, kind="stable")[:TALLIED] if n[k]]
    return [(str(classes[k]), int(n[k]), float(n[k] / n.sum())) for k in top]
