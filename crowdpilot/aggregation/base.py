"""Aggregator, the settings of a model, whose `fit` turns votes into an `Aggregate`."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from crowdpilot.aggregation.em.backend import Backend
from crowdpilot.aggregation.result import Aggregate as Aggregate
from crowdpilot.aggregation.sparse.candidates import DENSE_CELLS_PER_VOTE
from crowdpilot.aggregation.sparse.posterior import Posterior, probability_of
from crowdpilot.arrays import Floats
from crowdpilot.callers import caller_level
from crowdpilot.data_frames import Axis, installed, library_of, matrix_by_name, values_by_name
from crowdpilot.io import ReadingWarning, as_labels, as_votes
from crowdpilot.option_strings import did_you_mean, spell, unknown_attribute
from crowdpilot.votes import Votes

MAX_CELLS = 2**28  # numbers in the largest array of a model: 2 GiB, and a model makes a few of them
OTHER_NAMES = {
    **dict.fromkeys(("predict", "labels_", "get_answers"), "model.fit_predict(votes)"),
    **dict.fromkeys(("predict_proba", "probas_", "get_probas"), "model.fit_predict_proba(votes)"),
    **dict.fromkeys(("skills_", "errors_", "priors_"), "the result of model.fit(votes)"),
}  # what models of crowd-kit and peerannot call it


class NotConverged(UserWarning):
    """The largest number of iterations was reached before the objective converged."""


class TooManyClasses(UserWarning):
    """The model needs too much memory for so many classes, and another one was used."""


@dataclass(frozen=True)
class Aggregator(ABC):
    """A frozen set of settings whose `fit` turns votes into an `Aggregate`.

    Parameters
    ----------
    seed
        Of the hash that breaks ties between classes, and of all random numbers of the model, such as those
        of restarts.
    """

    seed: int = field(default=0, kw_only=True)

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    warm_start: ClassVar[bool] = False  # can start at an earlier result
    uses_history: ClassVar[bool] = False  # can use what an earlier result learned about the workers
    supports_sparse: ClassVar[bool] = False  # needs no array as large as (tasks, classes)
    per_worker: ClassVar[tuple[str, ...]] = ()  # params that are a column of the table of workers
    per_task: ClassVar[tuple[str, ...]] = ()  # params that are a column of the table of tasks
    many_classes_fallback: ClassVar[type[Aggregator] | None] = None  # set once, by the registry

    def __new__(cls, *settings: Any, **named: Any) -> Self:
        known = {f.name for f in fields(cls) if f.init}
        if "probs" not in known and any(map(_are_votes, settings)):
            raise TypeError(f"{cls.__name__} takes settings; give the votes to {cls.__name__}().fit(votes)")
        if unknown := [name for name in named if name not in known]:
            hint = did_you_mean(unknown[0], sorted(known))
            raise TypeError(f"{cls.__name__} has no setting {unknown[0]!r}{hint}")
        return super().__new__(cls)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name, OTHER_NAMES)

    def fit(
        self,
        votes: Any,
        gold: Any = None,
        *,
        start: Aggregate | None = None,
        history: Aggregate | None = None,
        backend: Backend | None = None,
    ) -> Aggregate:
        """Estimate the class of every task and the skill of every worker.

        Parameters
        ----------
        votes
            The votes of the workers: `Votes`, or a data frame, records, an array, a file and whatever else
            `crowdpilot.read` takes.
        gold
            True labels of some tasks, in place of those that the votes have: a mapping or a Series from
            tasks to labels, a table or a file.
        start
            An earlier result to start at: the same answer in fewer iterations.
        history
            An earlier result of the same model on other tasks: what it learned about the workers
            counts as if its votes were given here too. Do not give the result of the same votes,
            or they count twice.
        backend
            Where to run the iterations, such as `crowdpilot.scale.Torch("cuda")`; by default in the
            memory of this process, on all its cores.
        """
        result = self._fit(_with_gold(as_votes(votes), gold), start, history, backend)
        return replace(result, frames=library_of(votes))

    def _fit(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, backend: Backend | None
    ) -> Aggregate:
        if not self.fits_in_memory(votes):
            return self._fallback(votes, backend)._fit(votes, start, history, None)
        if start is not None and not self.warm_start:
            raise ValueError(f"{self.name} is not iterative: it cannot start at an earlier result")
        if history is not None:
            self._check_history(votes, history)
        if len(votes.classes) < 2:
            return self._single_class_result(votes)
        return replace(self.run_on(backend, votes.merged, start, history), votes=votes, model=self)

    def fit_predict(self, votes: Any, gold: Any = None) -> Any:
        """The label of each task, in the form in which the votes come.

        An array in the order of tasks for `Votes` and arrays; for a polars frame one with the columns task
        and label; for everything else a Series of pandas by task, called `agg_label`. A task that is listed
        without a vote has the class that is most probable by the prior. Parameters are those of `fit`.
        """
        result = self.fit(votes, gold=gold)
        if isinstance(votes, Votes | np.ndarray):
            return result.labels
        library = installed(result.frames)
        name = "label" if library == "polars" else "agg_label"
        return values_by_name(result.labels, Axis("task", result.votes.tasks), name, library, "fit_predict")

    def fit_predict_proba(self, votes: Any, gold: Any = None) -> Any:
        """The probability of each class of each task, in the form in which the votes come.

        An array (tasks, classes) for `Votes` and arrays; otherwise a data frame by task with a column for
        each class. Parameters are those of `fit`.
        """
        result = self.fit(votes, gold=gold)
        if isinstance(votes, Votes | np.ndarray):
            return result.probs
        tasks, classes = Axis("task", result.votes.tasks), Axis("label", result.votes.classes)
        return matrix_by_name(result.probs, tasks, classes, installed(result.frames), "fit_predict_proba")

    def cells(self, votes: Votes) -> int:
        """How many numbers the largest arrays of this model have."""
        return len(votes.tasks) * len(votes.classes)

    def fits_in_memory(self, votes: Votes) -> bool:
        """Whether there is memory enough to fit this model to these votes."""
        limit = max(MAX_CELLS, DENSE_CELLS_PER_VOTE * len(votes))
        return self.supports_sparse or self.cells(votes) <= limit

    def _fallback(self, votes: Votes, backend: Backend | None) -> Aggregator:
        """The model for very many classes, with the settings that both models have."""
        need = f"{8 * self.cells(votes) / 2**30:,.0f} GiB and more for {len(votes.classes):,} classes"
        if backend is not None or self.many_classes_fallback is None:
            raise ValueError(f"{self.name} would need {need}; choose one_coin, or leave out `backend`")
        common = [f for f in fields(self) if f.name in {"prior", "max_iter", "tol"}]
        changed = {f.name: value for f in common if (value := getattr(self, f.name)) != f.default}
        other = self.many_classes_fallback(**changed)
        message = f"{self.name} would need {need}; {other} is used instead"
        warnings.warn(message, TooManyClasses, stacklevel=caller_level())
        return other

    def _check_history(self, votes: Votes, history: Aggregate) -> None:
        if not self.uses_history:
            raise ValueError(f"{self.name} cannot use the history of workers")
        if type(history.model) is not type(self):
            name = "another model" if history.model is None else history.model.name
            raise ValueError(f"{self.name} cannot use a history that was made by {name}")
        if list(map(str, history.votes.classes)) != list(map(str, votes.classes)):
            raise ValueError("the history has other classes than the votes")

    def _single_class_result(self, votes: Votes) -> Aggregate:
        if len(votes.classes) == 0:
            raise ValueError("there are no classes: give at least one vote, or the classes")
        skill = votes.worker_mean(np.ones(len(votes)))
        return Aggregate(votes, np.ones((len(votes.tasks), 1)), skill, model=self)

    def run_on(
        self, backend: Backend | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        """The same as `run`, on a backend."""
        if backend is not None:
            raise ValueError(f"{self.name} runs in memory only, so leave out `backend`")
        return self.run(votes, start, history)

    @abstractmethod
    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        """Fit votes that are merged, of two or more classes."""

    def warn_not_converged(self, max_iter: int) -> None:
        """Warn the caller of `fit` that the largest number of iterations was reached."""
        message = f"{self} did not converge in {max_iter} iterations"
        warnings.warn(message, NotConverged, stacklevel=caller_level())

    def __str__(self) -> str:
        return spell(self.name, self)


def _are_votes(setting: Any) -> bool:
    is_nested = isinstance(setting, Mapping) and any(isinstance(inner, Mapping) for inner in setting.values())
    return is_nested or isinstance(setting, Votes) or hasattr(setting, "columns")


def _with_gold(votes: Votes, gold: Any) -> Votes:
    """The votes with true labels of any kind, if there are any; an error if they are about other tasks."""
    if gold is None:
        return votes
    try:
        labels = as_labels(gold)
    except ValueError as error:
        raise ValueError(f"gold: {error}") from error
    if unknown := [*compress(labels, votes.index("tasks", list(labels)) < 0)]:
        about = f"about no task of the votes, such as {unknown[0]!r}"
        if len(unknown) == len(labels):
            raise ValueError(f"the gold labels are {about}")
        message = f"{len(unknown)} of {len(labels)} gold labels are {about}"
        warnings.warn(message, ReadingWarning, stacklevel=caller_level())
    return votes.with_gold(labels)


def expected_worker_accuracy(votes: Votes, posterior: Posterior) -> Floats:
    """Expected accuracy of each worker under the posterior of the tasks, (workers,)."""
    return votes.worker_mean(probability_of(posterior, votes.task, votes.label))
