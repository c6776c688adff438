"""Aggregate, the result of every model, and Aggregator, the settings whose `fit` gives it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.aggregation.caveats import find_caveats
from crowdpilot.aggregation.em.backend import Backend
from crowdpilot.aggregation.sparse.candidates import DENSE_CELLS_PER_VOTE
from crowdpilot.aggregation.sparse.honest_posterior import calibrate
from crowdpilot.aggregation.sparse.posterior import (
    Posterior,
    most_probable,
    most_probable_sparse,
    probability_of,
    to_dense,
)
from crowdpilot.arrays import Codes, Floats, Names, need_arrow
from crowdpilot.calibration.experience import AccuracyEstimate, CrowdEstimate
from crowdpilot.names import hash_names
from crowdpilot.option_strings import spell
from crowdpilot.votes import Votes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MAX_CELLS = 2**28  # numbers in the largest array of a model: 2 GiB, and a model makes a few of them


class NotConverged(UserWarning):
    """The largest number of iterations was reached before the objective converged."""


class TooManyClasses(UserWarning):
    """The model needs too much memory for so many classes, and another one was used."""


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
    """

    votes: Votes
    posterior: Posterior
    skill: Floats
    params: Mapping[str, Any] = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    converged: bool = True
    model: Aggregator | None = None

    def __repr__(self) -> str:
        return f"Aggregate({self.votes!r} by {self.model})"

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

    def to_pandas(self) -> pd.DataFrame:
        """The columns of tasks as a pandas data frame."""
        frame: pd.DataFrame = import_module("pandas").DataFrame(self.columns())
        return frame


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

    def fit(
        self,
        votes: Votes,
        *,
        start: Aggregate | None = None,
        history: Aggregate | None = None,
        backend: Backend | None = None,
    ) -> Aggregate:
        """Estimate the class of every task and the skill of every worker.

        Parameters
        ----------
        votes
            The votes of the workers, with gold labels for some tasks if there are any.
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
        if not self.fits_in_memory(votes):
            return self._fallback(votes, backend).fit(votes, start=start, history=history)
        if start is not None and not self.warm_start:
            raise ValueError(f"{self.name} is not iterative: it cannot start at an earlier result")
        if history is not None:
            self._check_history(votes, history)
        if len(votes.classes) < 2:
            return self._single_class_result(votes)
        return replace(self.run_on(backend, votes.merged, start, history), votes=votes, model=self)

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
        warnings.warn(f"{self.name} would need {need}; {other} is used instead", TooManyClasses, stacklevel=3)
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
        warnings.warn(message, NotConverged, stacklevel=5)

    def __str__(self) -> str:
        return spell(self.name, self)


def expected_worker_accuracy(votes: Votes, posterior: Posterior) -> Floats:
    """Expected accuracy of each worker under the posterior of the tasks, (workers,)."""
    return votes.worker_mean(probability_of(posterior, votes.task, votes.label))
