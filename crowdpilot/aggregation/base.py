"""What every aggregator is, and what every one gives back."""

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

from crowdpilot.aggregation.sparse.candidates import PER_VOTE
from crowdpilot.aggregation.sparse.posterior import Beliefs, at, fill, pick, pick_sparse
from crowdpilot.arrays import Codes, Floats, Names, hash_names, need_arrow, to_probs
from crowdpilot.option_strings import spell
from crowdpilot.votes import Votes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from crowdpilot.aggregation.em.backend import Machine

MOST = 2**28  # numbers that a model may want in its largest arrays: 2 GiB, and it makes a few of them


class TooManyClasses(UserWarning):
    """The model needs too much memory for so many classes, and another one was used."""


@dataclass(frozen=True, eq=False)
class Aggregate:
    """What an aggregator believes after all votes.

    Parameters
    ----------
    votes
        The votes it has seen.
    beliefs
        (tasks, classes); each row sums to one. Where that would be too large, a sparse matrix with
        the classes that somebody gave to each task, and what is left of a row is shared by the
        others (as `params["prior"]` says, equally without). `probs` is the same as an array.
    skill
        (workers,); how often a worker is right, NaN for a worker without votes.
    params
        What the model estimated, by name; arrays over workers have them on their first axis.
    trace
        The objective after each round, for models that have one; it never falls.
    converged
        False if the rounds ran out first.
    model
        The settings that made it.
    """

    votes: Votes
    beliefs: Beliefs
    skill: Floats
    params: Mapping[str, Any] = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    converged: bool = True
    model: Aggregator | None = None

    def __repr__(self) -> str:
        return f"Aggregate({self.votes!r} by {self.model})"

    @property
    def probs(self) -> Floats:
        """Array (tasks, classes); each row sums to one. An error if the beliefs are sparse."""
        if isinstance(self.beliefs, np.ndarray):
            return self.beliefs
        T, K = self.beliefs.shape
        raise ValueError(
            f"the probabilities of {T} tasks and {K} classes are too large for one array; use labels and "
            "confidence, the sparse `beliefs`, or `rows` for some of the tasks"
        )

    def rows(self, tasks: ArrayLike) -> Floats:
        """Probabilities of some tasks alone, given as codes or a mask, as an array."""
        some = self.beliefs[np.asarray(tasks)]
        return some if isinstance(some, np.ndarray) else fill(some, self.others)

    @cached_property
    def codes(self) -> Codes:
        """The most probable class of each task, as a code.

        Equals are drawn by lot: the lot depends on the name of the task and the `seed` of the
        model alone, so neither the order of the votes nor that of the classes favours anyone.
        """
        if isinstance(self.beliefs, np.ndarray):
            return pick(self.beliefs, self._lots)
        return pick_sparse(self.beliefs, self.others, self._lots)

    def _lots(self, tasks: Codes) -> NDArray[np.uint64]:
        return hash_names(self.votes.tasks[tasks], getattr(self.model, "seed", 0))

    @property
    def others(self) -> Floats:
        """How classes share what is left of a row of sparse beliefs, (classes,)."""
        K = len(self.votes.classes)
        return np.asarray(self.params.get("prior", np.full(K, 1 / K)))

    @property
    def labels(self) -> Names:
        """The most probable class of each task, as a name; see `codes` for ties."""
        return self.votes.classes[self.codes]

    @property
    def confidence(self) -> Floats:
        """The probability of the label of each task."""
        if isinstance(self.beliefs, np.ndarray):
            return np.asarray(self.beliefs.max(axis=1))
        return at(self.beliefs, np.arange(len(self.codes)), self.codes, self.others)

    def columns(self, *, probs: bool = False) -> dict[str, Names]:
        """What is known of each task, by name: its label, confidence, number of votes and more."""
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
        """What is known of each worker, by name: skill, number of votes, the model's own numbers."""
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
    """A frozen set of settings whose `fit` turns votes into an `Aggregate`."""

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    restarts: ClassVar[bool] = False  # can begin at an earlier result
    remembers: ClassVar[bool] = False  # can use what an earlier result says of the workers
    wide: ClassVar[bool] = False  # needs no array (tasks, classes), nor any larger one
    per_worker: ClassVar[tuple[str, ...]] = ()  # params that are a column of the table of workers
    per_task: ClassVar[tuple[str, ...]] = ()  # params that are a column of the table of tasks

    def fit(
        self,
        votes: Votes,
        *,
        start: Aggregate | None = None,
        history: Aggregate | None = None,
        on: Machine | None = None,
    ) -> Aggregate:
        """Estimate the class of every task and the skill of every worker.

        Parameters
        ----------
        votes
            What the workers said, with gold labels for some tasks if there are any.
        start
            An earlier result to begin at: the same answer in fewer rounds.
        history
            An earlier result of the same model on other tasks: what it learned about the workers
            counts as if its votes were seen here too. Do not give the result of the same votes,
            or they count twice.
        on
            Where to run the rounds, such as `crowdpilot.scale.Torch("cuda")`; the cores of this
            machine if not given.
        """
        if not self.has_room(votes):
            return self._instead(votes, on).fit(votes, start=start, history=history)
        if start is not None and not self.restarts:
            raise ValueError(f"{self.name} does not work in rounds: it cannot begin at a result")
        if history is not None:
            self._check_history(votes, history)
        if len(votes.classes) < 2:
            return self._settle(votes)
        return replace(self.run_on(on, votes.merged, start, history), votes=votes, model=self)

    def cells(self, votes: Votes) -> int:
        """How many numbers the largest arrays of this model have."""
        return len(votes.tasks) * len(votes.classes)

    def has_room(self, votes: Votes) -> bool:
        """Whether there is memory enough for this model of these votes."""
        return self.wide or self.cells(votes) <= max(MOST, PER_VOTE * len(votes))

    def _instead(self, votes: Votes, on: Machine | None) -> Aggregator:
        """A model of as many classes as there may be, with the same settings as far as it has them."""
        from crowdpilot.aggregation.models.common_mistakes import (
            CommonMistakes,  # it is made of this very class
        )

        kept = [f for f in fields(self) if f.name in {"prior", "max_iter", "tol"}]
        other = CommonMistakes(**{f.name: s for f in kept if (s := getattr(self, f.name)) != f.default})
        need = f"{8 * self.cells(votes) / 2**30:,.0f} GiB and more for {len(votes.classes):,} classes"
        if on is not None:
            raise ValueError(f"{self.name} would need {need}; choose one_coin, or leave out `on`")
        warnings.warn(f"{self.name} would need {need}; {other} is used instead", TooManyClasses, stacklevel=3)
        return other

    def _check_history(self, votes: Votes, history: Aggregate) -> None:
        if not self.remembers:
            raise ValueError(f"{self.name} cannot use the history of workers")
        if type(history.model) is not type(self):
            name = "another model" if history.model is None else history.model.name
            raise ValueError(f"{self.name} cannot use a history that was made by {name}")
        if list(map(str, history.votes.classes)) != list(map(str, votes.classes)):
            raise ValueError("the history has other classes than the votes")

    def _settle(self, votes: Votes) -> Aggregate:
        """With one class there is nothing to find out."""
        if len(votes.classes) == 0:
            raise ValueError("there are no classes: give at least one vote, or the classes")
        skill = votes.worker_mean(np.ones(len(votes)))
        return Aggregate(votes, np.ones((len(votes.tasks), 1)), skill, model=self)

    def run_on(
        self, on: Machine | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        """The same as `run`, elsewhere."""
        if on is not None:
            raise ValueError(f"{self.name} runs on the cores of this machine only, so leave out `on`")
        return self.run(votes, start, history)

    @abstractmethod
    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        """Fit votes that are merged, of two or more classes."""

    def __str__(self) -> str:
        return spell(self.name, self)


def shares(votes: Votes) -> Floats:
    """The share of each class among the votes of each task, gold where it is known."""
    return votes.clamp(to_probs(votes.tally(), copy=False))


def started(votes: Votes, start: Aggregate) -> Floats:
    """The probabilities of an earlier result for these tasks; shares of the votes for new ones."""
    columns = match(votes.classes, start.votes.classes)
    if (columns < 0).any():
        raise ValueError("the result to begin at has other classes than the votes")
    rows = match(votes.tasks, start.votes.tasks)
    known = to_probs(start.rows(rows)[:, columns])
    return votes.clamp(np.where(rows[:, None] >= 0, known, shares(votes)))


def match(names: Names, known: Names) -> Codes:
    """For each name its place among the known ones, -1 if it is new."""
    place = {str(name): n for n, name in enumerate(known.tolist())}
    return np.asarray([place.get(str(name), -1) for name in names.tolist()], np.int32)


def recall(votes: Votes, history: Aggregate | None, name: str) -> Floats:
    """What an earlier result says of each worker under this name; zero for those it does not know."""
    return np.zeros(len(votes.workers)) if history is None else align(votes, history, history.params[name])


def align(votes: Votes, history: Aggregate, old: Floats) -> Floats:
    """An array over the workers of an earlier result, for these workers; zero for those new to it."""
    rows = match(votes.workers, history.votes.workers)
    mine = np.zeros((len(rows), *old.shape[1:]))
    mine[rows >= 0] = old[rows[rows >= 0]]
    return mine


def known_prior(prior: object, K: int) -> Floats:
    """Probability of each class as given: one number for each, or equal ones for "uniform" and None."""
    if prior is None or prior == "uniform":
        return np.full(K, 1 / K)
    given = np.asarray(prior, np.float64) if isinstance(prior, (tuple, list)) else np.zeros(0)
    if len(given) != K or (given <= 0).any() or abs(given.sum() - 1) > 1e-6:
        raise ValueError(
            f"the class prior is {prior!r}, expected {K} positive numbers that sum to 1, or 'uniform'"
        )
    return given


def agreement(votes: Votes, probs: Beliefs) -> Floats:
    """How often each worker is right, if the tasks have these probabilities."""
    return votes.worker_mean(at(probs, votes.task, votes.label))
