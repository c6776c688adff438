"""Protocols of EM: a model, a backend that runs its iterations, and votes loaded on a backend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

Stats = tuple[Floats, ...]  # expected counts, sums over tasks: (classes,) first, then arrays (workers, ...)
Params = Any  # a NamedTuple of each model's own

LARGE_FIT_VOTES = 500_000  # from here on iterations are slow enough to accelerate
COMPILED_FIT_VOTES = 5_000_000  # and to compile, which takes two seconds the first time on a machine


class EMModel(Protocol):
    """What a backend needs of a model; a state is a class, or a class and a hidden kind of the task."""

    @property
    def max_iter(self) -> int:
        """Largest number of iterations of each restart."""

    @property
    def additive_counts(self) -> bool:
        """Whether the expected counts of all tasks are the sum of those of parts of the tasks."""

    @property
    def n_restarts(self) -> int:
        """Number of starting points."""

    def initial_posterior(self, votes: Votes) -> Floats:
        """Class probabilities to start at, (tasks, classes)."""

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        """One posterior (tasks, states) to start at for each restart."""

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        """Sufficient statistics of the M-step, given the posterior (tasks, states)."""

    def log_joint(self, votes: Votes, params: Params) -> Floats:
        """Log P(state, votes) of each task, (tasks, states)."""

    def e_step(self, votes: Votes, params: Params) -> tuple[Stats, float]:
        """Expected counts and log-likelihood of the votes."""

    def posterior(self, votes: Votes, params: Params) -> Floats:
        """P(state | votes) of each task, (tasks, states)."""


class Table(NamedTuple):
    """Logarithms whose sum over the votes of a task is log P(state, votes)."""

    log_likelihood: Floats  # (workers x classes, states): log P(label of the worker | state)
    log_prior: Floats  # (states,)


@runtime_checkable
class TableModel(Protocol):
    """A model whose log-likelihood is a table with a row for each label of each worker."""

    @property
    def hard(self) -> bool:
        """Whether the E-step puts all probability on the most probable state."""

    def table(self, params: Params) -> Table:
        """The parameters as a table."""

    def counts_from_table(self, states: Floats, table: Floats) -> Stats:
        """Expected counts, from those of states (states,) and of the rows of the table."""


class LoadedVotes(Protocol):
    """Votes loaded on a backend, over which EM can iterate."""

    n_votes: int

    def initial_counts(self, model: EMModel, restart: int) -> Stats:
        """Expected counts at one of the starting points of a model."""

    def iterate(self, model: EMModel, params: Params) -> tuple[Stats, float]:
        """One E-step: expected counts, and log-likelihood of the votes."""

    def to_backend(self, stats: Stats) -> Stats:
        """Counts of this process as arrays of the backend."""

    def to_host(self, params: Params) -> Params:
        """Parameters or counts as arrays of this process."""

    def posterior(self, model: EMModel, params: Params) -> Floats:
        """Posterior of all tasks, (tasks, states), as an array of this process."""


class Backend(Protocol):
    """Where iterations run: in memory, on a GPU, on files or on a cluster."""

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> LoadedVotes:
        """Load votes whose tasks start at these class probabilities, (tasks, classes)."""


def sum_stats(stats: Iterable[Stats]) -> Stats:
    """Sum of the expected counts of several parts of the tasks."""
    return tuple(sum(arrays[1:], arrays[0]) for arrays in zip(*stats, strict=True))
