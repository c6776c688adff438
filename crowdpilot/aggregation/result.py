"""Aggregate, the result of every model: posteriors, labels, skills, tables and confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.aggregation.caveats import find_caveats
from crowdpilot.aggregation.sparse.honest_posterior import calibrate
from crowdpilot.aggregation.sparse.posterior import (
    Posterior,
    most_probable,
    most_probable_sparse,
    probability_of,
    to_dense,
)
from crowdpilot.aggregation.workers.confusion import estimate_confusion
from crowdpilot.arrays import Codes, Floats, Names, need_arrow
from crowdpilot.calibration.experience import AccuracyEstimate, CrowdEstimate
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.data_frames import Axis, FrameLibrary, data_frame, installed, matrix_by_name
from crowdpilot.names import hash_names
from crowdpilot.notebook_html import bars, histogram, panel, table
from crowdpilot.option_strings import did_you_mean, unknown_attribute
from crowdpilot.votes import Votes

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


MAX_MATRIX_CELLS = 2**27  # of the confusion matrices of all workers: 1 GiB
SHOWN_WORKERS = 5  # in an error
OTHER_NAMES = {
    **dict.fromkeys(("labels_", "get_answers", "predict", "predictions"), "result.labels"),
    **dict.fromkeys(("probas_", "get_probas", "predict_proba", "proba", "probabilities"), "result.probs"),
    "skills_": "result.skill", "errors_": "result.confusion(worker)", "priors_": "result.params['prior']",
    "loss_history_": "result.trace", "to_dict": "result.columns()",
    **{f"to_{kind}": f"result.tasks.to_{kind}(path)" for kind in ("csv", "json", "parquet")},
    "save": "crowdpilot.write(result, path)", "plot": "crowdpilot.report(result, 'report.html')",
    "score": "crowdpilot.compare(votes, truth)",
}  # fmt: skip  # what results of crowd-kit, peerannot and data frames call it


class Model(Protocol):
    """What a result knows of the model that was fitted."""

    name: ClassVar[str]
    per_worker: ClassVar[tuple[str, ...]]
    per_task: ClassVar[tuple[str, ...]]

    @property
    def seed(self) -> int:
        """Of the hash that breaks ties."""

    def fit(self, votes: Any) -> Aggregate:
        """Fit it to other votes."""


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The result of an aggregator: the posterior of each task and the skill of each worker.

    Parameters
    ----------
    votes
        The votes it was fitted to.
    posterior
        P(class | votes) of each task, (tasks, classes); each row sums to one. Where a dense array would be
        too large, a sparse matrix with the classes that somebody gave to each task; the rest of a row is
        spread over the other classes in proportion to `unlisted_prior`. `probs` is the dense array.
    skill
        Accuracy of each worker, (workers,); NaN for a worker without votes.
    params
        Estimated parameters by name; arrays over workers have them on their first axis.
    trace
        The objective after each iteration, for models that have one; it never falls.
    converged
        False if the largest number of iterations was reached first.
    model
        The settings that were fitted.
    frames
        The library of `tasks`, `workers` and `confusion`: that of the frame in which the votes came, else
        pandas, or polars where pandas is not installed.
    """

    votes: Votes
    posterior: Posterior
    skill: Floats
    params: Mapping[str, Any] = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    converged: bool = True
    model: Model | None = None
    frames: FrameLibrary = "pandas"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name, OTHER_NAMES)

    def __repr__(self) -> str:
        return f"Aggregate({self.votes!r} by {self.model})"

    def _repr_html_(self) -> str:
        right = f"; expected accuracy {self.expected_accuracy}" if self.has_accuracy_estimate else ""
        sparks = [
            histogram(self.confidence, "confidence"),
            bars(np.bincount(self.codes, minlength=len(self.votes.classes)), self.votes.classes, "labels"),
            histogram(self.skill, "skill of workers"),
        ]
        summary = f"{repr(self.votes)[6:-1]} by {self.model}{right}"
        return panel("Aggregate", summary, table(self.columns()), sparks=sparks)

    @property
    def probs(self) -> Floats:
        """The posterior as a dense array (tasks, classes). An error if it is sparse."""
        if isinstance(self.posterior, np.ndarray):
            return self.posterior
        T, K = self.posterior.shape
        raise ValueError(
            f"the probabilities of {T} tasks and {K} classes are too large for one array; use labels and "
            "confidence, the sparse `posterior`, or `rows` for some of the tasks"
        )

    def rows(self, tasks: ArrayLike) -> Floats:
        """Posterior of some tasks, given as codes or a mask, as a dense array."""
        rows = self.posterior[np.asarray(tasks)]
        return rows if isinstance(rows, np.ndarray) else to_dense(rows, self.unlisted_prior)

    @cached_property
    def codes(self) -> Codes:
        """The most probable class of each task, as a code.

        A tie is broken by a seeded hash of the name of the task: it depends on the name and the `seed` of
        the model alone, so neither the order of the votes nor that of the classes matters.
        """
        if isinstance(self.posterior, np.ndarray):
            return most_probable(self.posterior, self._tie_hash)
        return most_probable_sparse(self.posterior, self.unlisted_prior, self._tie_hash)

    def _tie_hash(self, tasks: Codes) -> NDArray[np.uint64]:
        return hash_names(self.votes.tasks[tasks], 0 if self.model is None else self.model.seed)

    @property
    def unlisted_prior(self) -> Floats:
        """How the rest of a row of a sparse posterior is spread over the classes, (classes,)."""
        K = len(self.votes.classes)
        return np.asarray(self.params.get("prior", np.full(K, 1 / K)))

    @property
    def labels(self) -> Names:
        """The most probable class of each task, as a name; see `codes` for ties."""
        return self.votes.classes[self.codes]

    @property
    def confidence(self) -> Floats:
        """The posterior probability of the label of each task, (tasks,)."""
        if isinstance(self.posterior, np.ndarray):
            return np.asarray(self.posterior.max(axis=1))
        return probability_of(self.posterior, np.arange(len(self.codes)), self.codes, self.unlisted_prior)

    @property
    def has_accuracy_estimate(self) -> bool:
        """Whether `expected_accuracy`, experience with votes, fits: not for shares, nor with a classifier."""
        by_classifier = getattr(self.model, "uses_classifier", False)
        is_known = "expected_accuracy" in self.params or not by_classifier
        return len(self.votes) > 0 and not self.votes.are_shares and is_known

    @cached_property
    def expected_accuracy(self) -> AccuracyEstimate:
        """The expected share of right labels, with a 90 % interval, by experience with many crowds.

        It is about the labels, and the same whether the probabilities are honest or those of a model.
        """
        known: AccuracyEstimate | None = self.params.get("expected_accuracy")
        return self.crowd.accuracy if known is None else known

    @cached_property
    def crowd(self) -> CrowdEstimate:
        """The map from evidence to the probability that a label is right, and the evidence of each task."""
        if "evidence" in self.params:
            return CrowdEstimate(self.params["crowd_map"], self.params["evidence"], self.expected_accuracy)
        return calibrate(self.votes, self.posterior, self.codes, self.confidence)[0].crowd

    @cached_property
    def caveats(self) -> list[str]:
        """Sentences on what the votes cannot tell: no overlap, one worker, one class, gold contradicted."""
        return find_caveats(self.votes, self.params.get("gold_check"), self.codes)

    def columns(self, *, probs: bool = False) -> dict[str, Names]:
        """Columns of the table of tasks: label, confidence, number of votes, the model's own numbers."""
        columns: dict[str, Names] = {
            "task": self.votes.tasks,
            "label": self.labels,
            "confidence": self.confidence,
            "votes": np.bincount(self.votes.task, minlength=len(self.votes.tasks)),
        }
        columns |= {name: self.params[name] for name in getattr(self.model, "per_task", ())}
        if probs:
            columns |= {f"p_{c}": p for c, p in zip(self.votes.classes, self.probs.T, strict=True)}
        return columns

    def worker_columns(self) -> dict[str, Names]:
        """Columns of the table of workers: skill, number of votes, the model's own numbers."""
        count = np.bincount(self.votes.worker, minlength=len(self.votes.workers))
        own = {name: self.params[name] for name in getattr(self.model, "per_worker", ())}
        return {"worker": self.votes.workers, "skill": self.skill, "votes": count} | own

    def to_table(self, *, probs: bool = False) -> pa.Table:
        """The columns of tasks as an Arrow table."""
        return need_arrow("to_table()").table(self.columns(probs=probs))

    def to_workers_table(self) -> pa.Table:
        """The columns of workers as an Arrow table."""
        return need_arrow("to_workers_table()").table(self.worker_columns())

    def to_pandas(self, *, probs: bool = False) -> pd.DataFrame:
        """The columns of tasks as a pandas data frame, with the probabilities of all classes if asked for."""
        frame: pd.DataFrame = data_frame(self.columns(probs=probs), "pandas", "to_pandas()")
        return frame

    def to_polars(self, *, probs: bool = False) -> pl.DataFrame:
        """The same as a polars data frame."""
        frame: pl.DataFrame = data_frame(self.columns(probs=probs), "polars", "to_polars()")
        return frame

    @property
    def tasks(self) -> Any:
        """The columns of tasks as a data frame; the names alone are `votes.tasks`."""
        return data_frame(self.columns(), installed(self.frames), "a table of tasks")

    @property
    def workers(self) -> Any:
        """The columns of workers as a data frame; the names alone are `votes.workers`."""
        return data_frame(self.worker_columns(), installed(self.frames), "a table of workers")

    def confusion(self, worker: Any) -> Any:
        """How a worker answers: a data frame of P(label given the class of the task), [true, said].

        Of a model with confusion matrices it is the model's own, as in `params["confusion"]`. For any other
        it is estimated from the posterior: the expected number of times that the worker gave each label to
        tasks of each class, shrunk towards the matrix of the crowd where votes are few.
        """
        code = self.votes.index("workers", [worker])[0]
        if code < 0:
            names = map(str, self.votes.workers.tolist())
            some = ", ".join(map(str, self.votes.workers[:SHOWN_WORKERS].tolist()))
            hint = did_you_mean(str(worker), names, otherwise=f"workers are {some}, …")
            raise ValueError(f"there is no worker {worker!r}{hint}")
        true, said = (Axis(name, self.votes.classes) for name in ("true", "said"))
        return matrix_by_name(self._confusion[code], true, said, installed(self.frames), "a confusion matrix")

    @cached_property
    def _confusion(self) -> Floats:
        """(workers, true, said)."""
        own: Floats | None = self.params.get("confusion")
        if own is not None:
            return own
        W, K = len(self.votes.workers), len(self.votes.classes)
        if W * K**2 > MAX_MATRIX_CELLS:
            raise ValueError(f"the confusion matrices of {W} workers and {K} classes need too much memory")
        return estimate_confusion(count_labels(self.votes, self.probs))[1]
