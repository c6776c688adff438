"""Task cards of the report: label, votes, truth and content of the tasks that people should review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Names
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.task_content import Images, TaskContent, read_task_content
from crowdpilot.reporting.truth import KnownTasks

MAX_CARDS = 12  # in each list
MAX_CLASSES_PER_CARD = 5  # with their votes
AMBIGUITY = {  # scores of tasks by a classifier, low where it disagrees with the votes
    "waum": "WAUM",
    "waum_perworker": "WAUM per worker",
    "aum": "AUM",
}


class TaskCard(NamedTuple):
    """A task with its label, its votes, its content, and why it should be reviewed."""

    task: Any
    label: Any
    confidence: float
    why: str
    truth: Any
    tally: list[tuple[str, int, float]]  # class, votes, share of the votes
    content: TaskContent
    score: float | None = None


class AmbiguousTasks(NamedTuple):
    """The tasks with the lowest values of a score."""

    name: str
    title: str
    cards: list[TaskCard]


@dataclass(frozen=True, eq=False)
class CardBuilder:
    """Builds the cards of a diagnosis.

    Parameters
    ----------
    diagnosis
        The diagnosis.
    known
        The tasks whose true class is known.
    texts, images
        Content of tasks: a text for some, and a folder with images of some or a function that gives them.
    """

    diagnosis: Diagnosis
    known: KnownTasks | None
    texts: Mapping[Any, Any] | None
    images: Images | None

    def review_cards(self) -> list[TaskCard]:
        """The tasks that should be reviewed first."""
        tasks, gold = self.diagnosis.tasks, self.diagnosis.votes.gold
        rows = np.flatnonzero((tasks["why"] != "") & ~np.asarray(False if gold is None else gold >= 0))
        return self._cards(rows[np.argsort(tasks["review"][rows])][:MAX_CARDS])

    def ambiguous_tasks(self) -> list[AmbiguousTasks]:
        """The tasks with the lowest values of each score of a classifier."""
        return [
            AmbiguousTasks(name, AMBIGUITY[name], self._cards(lowest_rows(column), column))
            for name, column in ambiguity_scores(self.diagnosis).items()
        ]

    def _cards(self, rows: NDArray[np.intp], score: Any = None) -> list[TaskCard]:
        diagnosis, votes = self.diagnosis, self.diagnosis.votes
        names = votes.tasks[rows].tolist()
        truth = np.full(len(votes.tasks), "", object)
        if self.known is not None:
            truth[self.known.task] = self.known.classes[self.known.truth]
        columns = [diagnosis.tasks[name][rows].tolist() for name in ("label", "confidence", "why")]
        tally = [_top_classes(votes.label[votes.task == row], votes.classes) for row in rows]
        scores: Sequence[float | None] = [None] * len(rows) if score is None else score[rows].tolist()
        content = read_task_content(names, self.texts, self.images)
        return [
            TaskCard(*card)
            for card in zip(names, *columns, truth[rows].tolist(), tally, content, scores, strict=True)
        ]


def ambiguity_scores(diagnosis: Diagnosis) -> dict[str, Any]:
    """The scores of a classifier that a diagnosis has, by their names, (tasks,) each."""
    columns = {name: diagnosis.tasks[name] for name in AMBIGUITY if name in diagnosis.tasks}
    return {name: column for name, column in columns.items() if np.isfinite(column).any()}


def lowest_rows(column: Any) -> NDArray[np.intp]:
    """The rows of the tasks to show: those with the lowest scores, the lowest first."""
    order: NDArray[np.intp] = np.argsort(column, kind="stable")
    shown: NDArray[np.intp] = order[np.isfinite(column[order])][:MAX_CARDS]
    return shown


def _top_classes(labels: Codes, classes: Names) -> list[tuple[str, int, float]]:
    """The classes with most votes: name, votes, share of the votes."""
    n = np.bincount(labels, minlength=len(classes))
    top = [k for k in np.argsort(-n, kind="stable")[:MAX_CLASSES_PER_CARD] if n[k]]
    return [(str(classes[k]), int(n[k]), float(n[k] / n.sum())) for k in top]
