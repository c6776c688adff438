"""EM backend over partitions of the votes on an engine: each computes expected counts, which are summed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.aggregation import EM, Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import (
    COMPILED_FIT_VOTES,
    EMModel,
    LoadedVotes,
    Params,
    Stats,
    Table,
    TableModel,
)
from crowdpilot.aggregation.em.default_backend import can_compile, load_in_memory
from crowdpilot.arrays import Floats
from crowdpilot.progress_bars import StageProgress
from crowdpilot.scale.files.file_votes import VotesPartition
from crowdpilot.scale.files.sharded_votes import ShardedVotes
from crowdpilot.votes import Votes

NO_PROBS: Floats = np.zeros((0, 0))  # in place of probabilities to start at, where no restart is asked for


class FittedModel(NamedTuple):
    """A model with its parameters, or a model that needs none."""

    model: Aggregator
    params: Params | None
    compiled: bool  # whether to compute the posterior by compiled code

    def aggregate(self, votes: Votes) -> Aggregate:
        """The result for these votes, given the parameters."""
        if self.params is None or not isinstance(self.model, EM):
            return self.model.fit(votes)
        loaded = load_in_memory(self.model, votes, NO_PROBS, compiled=self.compiled)
        posterior = loaded.posterior(self.model, self.params)
        return replace(self.model.to_result(votes, self.params, posterior), model=self.model)


class DistributedBackend:
    """Iterations on the partitions of an engine, of which this process sees the sums only.

    What travels in each iteration: the parameters to the partitions, and expected counts of the size of
    the parameters back. `fitted` is the model with the parameters of the last fit; a model that fits
    twice, such as hybrid Dawid-Skene, starts its second fit there.
    """

    def __init__(self, sharded: ShardedVotes, progress: StageProgress) -> None:
        self.sharded = sharded
        self.progress = progress
        self.fitted: FittedModel | None = None

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> LoadedVotes:
        """The votes are loaded already; `votes` has their workers and classes, `probs` are not used."""
        return DistributedVotes(self)


class DistributedVotes:
    """Votes in the partitions of an engine; implements `LoadedVotes`."""

    def __init__(self, backend: DistributedBackend) -> None:
        self.n_votes = backend.sharded.n_votes
        self._backend = backend
        self._partitions = backend.sharded.partitions
        self._iterations = 0
        self._compiled = self.n_votes >= COMPILED_FIT_VOTES

    def initial_counts(self, model: EMModel, restart: int) -> Stats:
        start = StartingPoint(model, restart, self._backend.fitted, self._compiled)
        return self._partitions.sum(partition_initial_counts, start)

    def iterate(self, model: EMModel, params: Params) -> tuple[Stats, float]:
        step = prepare_e_step(model, params, compiled=self._compiled)
        *stats, log_likelihood = self._partitions.sum(partition_e_step, step)
        self._iterations += 1
        self._backend.progress("iterations", self._iterations, model.max_iter * model.n_restarts)
        return tuple(stats), float(log_likelihood)

    def to_backend(self, stats: Stats) -> Stats:
        return stats

    def to_host(self, params: Params) -> Params:
        return params

    def posterior(self, model: Any, params: Params) -> Floats:
        """Posterior of the one task of `empty_votes`, (1, states); those of all tasks stay where they are."""
        self._backend.fitted = FittedModel(model, params, self._compiled)
        posterior: Floats = model.posterior(self._backend.sharded.empty_votes, params)
        return posterior


class StartingPoint(NamedTuple):
    """One of the starting points of a model, or the posterior of an earlier fit."""

    model: EMModel
    restart: int
    earlier: FittedModel | None
    compiled: bool


def partition_initial_counts(partition: VotesPartition, start: StartingPoint) -> Stats:
    """Expected counts of one partition at a starting point."""
    votes = partition.named_votes()
    if start.earlier is None:
        probs = start.model.initial_posterior(votes)
    else:
        probs = votes.clamp(start.earlier.aggregate(votes).probs)
    loaded = load_in_memory(start.model, votes, probs, compiled=start.compiled)
    return loaded.initial_counts(start.model, start.restart)


class TableParamsModel(NamedTuple):
    """A table model whose parameters are the table itself, which is all that a compiled E-step reads."""

    model: TableModel

    def table(self, params: Table) -> Table:
        return params

    @property
    def hard(self) -> bool:
        return self.model.hard

    def counts_from_table(self, states: Floats, table: Floats) -> Stats:
        return self.model.counts_from_table(states, table)


class EStep(NamedTuple):
    """An E-step of a model with these parameters."""

    model: EMModel | TableParamsModel
    params: Params
    compiled: bool


def prepare_e_step(model: EMModel, params: Params, *, compiled: bool) -> EStep:
    """The E-step to send to the partitions; a table in single precision if it is compiled there."""
    if not (compiled and isinstance(model, TableModel) and can_compile(model)):
        return EStep(model, params, compiled)
    table = model.table(params)
    single = table._replace(log_likelihood=table.log_likelihood.astype(np.float32))  # as the kernels read it
    return EStep(TableParamsModel(model), single, compiled)


def partition_e_step(partition: VotesPartition, step: EStep) -> tuple[Any, ...]:
    """Expected counts of one partition, and its log-likelihood as the last element."""
    loaded: Any = load_in_memory(step.model, partition.votes, NO_PROBS, compiled=step.compiled)
    stats, log_likelihood = loaded.iterate(step.model, step.params)
    return *stats, log_likelihood
