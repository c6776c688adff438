"""A model's rounds over parts of the votes, wherever they are held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.aggregation import EM, Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import (
    LARGE_FIT_VOTES,
    EMModel,
    LoadedVotes,
    Params,
    Stats,
    Table,
    TableModel,
)
from crowdpilot.aggregation.em.default_backend import can_compile, load_in_memory
from crowdpilot.arrays import Floats
from crowdpilot.scale.files.file_contents import Part
from crowdpilot.scale.files.shared_codes import Gathered
from crowdpilot.votes import Votes

NOTHING: Floats = np.zeros((0, 0))
Tell = Callable[[str, int, int], None]  # is told what is being done, how much of it is, and of how much


def say_nothing(what: str, done: int, of: int) -> None:
    """Tell nobody."""


class Labeller(NamedTuple):
    """How a part is labelled: by parameters, or without any by the model alone."""

    model: Aggregator
    params: Params | None
    many: bool  # whether the votes of all parts are many

    def label(self, votes: Votes) -> Aggregate:
        """The result for these votes."""
        if self.params is None or not isinstance(self.model, EM):
            return self.model.fit(votes)
        loaded = load_in_memory(self.model, votes, NOTHING, compiled=self.many)
        posterior = loaded.posterior(self.model, self.params)
        return replace(self.model.to_result(votes, self.params, posterior), model=self.model)


class Spread:
    """A machine and a place: parts of the votes, wherever they are held.

    A model that goes on from an earlier result, as some do in their second fit, begins at the
    parameters that were asked for last.
    """

    def __init__(self, gathered: Gathered, tell: Tell) -> None:
        self.n_votes = gathered.votes
        self._held = gathered.held
        self._outline = gathered.outline
        self._tell = tell
        self._rounds = 0
        self._many = self.n_votes >= LARGE_FIT_VOTES
        self._last: Labeller | None = None

    @property
    def last(self) -> Labeller:
        """The model and its parameters at the end."""
        if self._last is None:
            raise ValueError("no rounds have been run")
        return self._last

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> LoadedVotes:
        self._rounds = 0
        return self

    def initial_counts(self, model: EMModel, restart: int) -> Stats:
        return self._held.total(begin, Beginning(model, restart, self._last, self._many))

    def iterate(self, model: EMModel, params: Params) -> tuple[Stats, float]:
        *stats, loglik = self._held.total(run_round, Step(*prepare(model, params, self._many), self._many))
        self._rounds += 1
        self._tell("rounds", self._rounds, model.max_iter * model.n_restarts)
        return tuple(stats), float(loglik)

    def to_backend(self, stats: Stats) -> Stats:
        return stats

    def to_host(self, params: Params) -> Params:
        return params

    def posterior(self, model: Any, params: Params) -> Floats:
        self._last = Labeller(model, params, self._many)
        posterior: Floats = model.posterior(self._outline, params)
        return posterior


class Beginning(NamedTuple):
    """Where a model begins: at one of its own beginnings, or at an earlier result."""

    model: EMModel
    restart: int
    last: Labeller | None
    many: bool


def begin(part: Part, at: Beginning) -> Stats:
    """Counts of one part at the beginning."""
    votes = part.named()
    probs = at.model.initial_posterior(votes) if at.last is None else votes.clamp(at.last.label(votes).probs)
    stats: Stats = load_in_memory(at.model, votes, probs, compiled=at.many).initial_counts(
        at.model, at.restart
    )
    return stats


class Step(NamedTuple):
    """A round of a model with these parameters."""

    model: EMModel | Prepared
    params: Params
    many: bool


class Prepared(NamedTuple):
    """A tabled model whose parameters are a table already: all that its rounds look at, and small."""

    model: TableModel

    def table(self, params: Table) -> Table:
        """The table as it is."""
        return params

    @property
    def hard(self) -> bool:
        """Whether each task counts for its best class alone."""
        return self.model.hard

    def counts_from_table(self, states: Floats, table: Floats) -> Stats:
        """The counts of the model."""
        return self.model.counts_from_table(states, table)


def prepare(model: EMModel, params: Params, many: bool) -> tuple[EMModel | Prepared, Params]:
    """What a round of many votes needs of a model and its parameters."""
    if not (many and isinstance(model, TableModel) and can_compile(model)):
        return model, params
    table = model.table(params)
    return Prepared(model), table._replace(
        log_likelihood=table.log_likelihood.astype(np.float32)
    )  # as the kernels take it


def run_round(part: Part, step: Step) -> tuple[Any, ...]:
    """Counts of one part in one round, and at last the log-likelihood."""
    loaded: Any = load_in_memory(step.model, part.votes, NOTHING, compiled=step.many)
    stats, loglik = loaded.iterate(step.model, step.params)
    return *stats, loglik
