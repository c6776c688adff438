"""`Consensus`: labels and their quality, annotators, and what to label next, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.arrays import Codes, Floats, Names, divide, sum_by
from crowdpilot.data_frames import data_frame, installed
from crowdpilot.notebook_html import histogram, panel, table
from crowdpilot.optional_packages import load
from crowdpilot.votes import Votes

TABLES = (
    "label_quality", "annotator_stats", "detailed_label_quality", "model_weight", "annotator_weight",
    "active_learning_scores", "active_learning_scores_unlabeled",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Consensus:
    """What `consensus` finds; tables have the columns of cleanlab's, and their rows those of the labels.

    Parameters
    ----------
    result
        The result of the model: posteriors, skills, parameters.
    codes
        The consensus label of each example, as a code of `result.votes.classes`.
    quality
        The probability that it is right, (examples,).
    annotator_quality
        The share of labels of each annotator that are expected to be right, (annotators,).
    active_learning_scores
        Which examples to label next: those with the lowest scores, (examples,).
    active_learning_scores_unlabeled
        The same for examples that nobody has labelled; none if there are no such examples.
    index
        What the rows of the labels are called.
    """

    result: Aggregate
    codes: Codes
    quality: Floats
    annotator_quality: Floats
    active_learning_scores: Floats
    active_learning_scores_unlabeled: Floats
    index: Any

    def __repr__(self) -> str:
        votes, model = self.result.votes, self.result.model
        sizes = f"{len(votes.tasks)} examples, {len(votes.workers)} annotators, {len(votes.classes)} classes"
        return f"Consensus({sizes} by {model}, mean quality {self.quality.mean():.2f})"

    def _repr_html_(self) -> str:
        sparks = [
            histogram(self.quality, "quality of labels"),
            histogram(self.annotator_quality, "quality of annotators"),
            histogram(self.active_learning_scores, "scores of active learning"),
        ]
        columns = {
            "example": np.asarray(self.index),
            "consensus_label": self.labels,
            "quality": self.quality,
            "active_learning_score": self.active_learning_scores,
        }
        return panel("Consensus", repr(self)[10:-1], table(columns), sparks=sparks)

    def __getitem__(self, table: str) -> Any:
        """A table by its name in the dict that cleanlab returns."""
        if table not in TABLES:
            raise KeyError(f"there is no {table!r}, only {', '.join(TABLES)}")
        return getattr(self, table)

    @property
    def labels(self) -> Names:
        """The consensus label of each example."""
        return self.result.votes.classes[self.codes]

    @cached_property
    def label_quality(self) -> Any:
        """A data frame of the examples: consensus label, quality, agreement of annotators, their number."""
        votes = self.result.votes
        count = np.bincount(votes.task, minlength=len(votes.tasks))
        same = np.bincount(votes.task, votes.label == self.codes[votes.task], len(votes.tasks))
        columns = {
            "consensus_label": self.labels,
            "consensus_quality_score": self.quality,
            "annotator_agreement": divide(same, count),
            "num_annotations": count,
        }
        return self._frame(columns, "task", self.index)

    @cached_property
    def annotator_stats(self) -> Any:
        """A data frame of the annotators, the worst first: quality, agreement with the labels, worst class.

        The worst class is the label of the annotator that least often is the consensus; of several, the one
        given most often, then the one whose examples have the best quality.
        """
        votes = self.result.votes
        agreement = divide(
            np.bincount(votes.worker, votes.label == self.codes[votes.task], len(votes.workers)),
            (count := np.bincount(votes.worker, minlength=len(votes.workers))),
        )
        order = np.lexsort((agreement, self.annotator_quality))
        worst = find_worst_class(votes, self.codes, self.quality)
        columns = {
            "annotator_quality": self.annotator_quality,
            "agreement_with_consensus": agreement,
            "worst_class": votes.classes[worst],
            "num_examples_labeled": count,
        }
        sorted_columns = {name: values[order] for name, values in columns.items()}
        return self._frame(sorted_columns, "annotator", votes.workers[order])

    @cached_property
    def detailed_label_quality(self) -> Any:
        """A data frame (examples, annotators): the probability that each label is right, NaN without one."""
        votes = self.result.votes
        table = np.full((len(votes.tasks), len(votes.workers)), np.nan)
        table[votes.task, votes.worker] = self.result.probs[votes.task, votes.label]
        names = [f"quality_annotator_{name}" for name in votes.workers.tolist()]
        return self._frame(dict(zip(names, table.T, strict=True)), "task", self.index)

    @property
    def model_weight(self) -> Any:
        """The weight of the classifier, where the model has one."""
        return self.result.params.get("classifier_weight")

    @property
    def annotator_weight(self) -> Any:
        """The weight of each annotator, where the model has them."""
        return self.result.params.get("weight")

    def _frame(self, columns: dict[str, Names], name: str, names: Any) -> Any:
        """A frame whose rows are named by the index of pandas, or by the first column of polars."""
        library = installed(self.result.frames)
        if library == "polars":
            return data_frame({name: np.asarray(names)} | columns, library, "a table of labels")
        return load("pandas", "a table of labels").DataFrame(columns, index=names)


def find_worst_class(votes: Votes, codes: Codes, quality: Floats) -> Codes:
    """The label of each worker that least often is the consensus, (workers,); 0 for one without labels."""
    shape = len(votes.workers), len(votes.classes)
    cell = votes.worker.astype(np.int64) * shape[1] + votes.label

    def by_label(values: Any) -> Floats:
        return sum_by(cell, values, shape[0] * shape[1]).reshape(shape)

    count = by_label(None)
    right = divide(by_label(votes.label == codes[votes.task]), count, np.inf)
    mean_quality = divide(by_label(quality[votes.task]), count, -np.inf)
    best = right == right.min(axis=1, keepdims=True)
    for value in (count, mean_quality):
        kept = np.where(best, value, -np.inf)
        best = kept == kept.max(axis=1, keepdims=True)
    worst: Codes = best.argmax(axis=1).astype(np.int32)
    return worst
