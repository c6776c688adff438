"""Votes in memory whose E-step and expected counts are one compiled pass, on all cores."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from crowdpilot.aggregation.em import numba_kernels
from crowdpilot.aggregation.em.backend import Params, Stats, Table, sum_stats
from crowdpilot.aggregation.em.in_memory_backend import InMemoryVotes, balanced_ranges
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

MIN_VOTES_PER_SINGLE_PRECISION_SUM = 1 << 18


class CompiledVotes(InMemoryVotes):
    """Votes of a `TableModel` in the memory of this process.

    Iterations read the table and add up expected counts in single precision, which halves the memory
    traffic that they wait for. The counts of some votes at a time are then added up in double precision,
    and the final posterior is computed in double precision throughout.
    """

    def __init__(self, votes: Votes, probs: Floats, threads: int) -> None:
        super().__init__(votes, probs)
        self._cell = votes.cell.view(np.uint32 if votes.cell.itemsize == 4 else np.uint64)
        self._ranges = list(pairwise(balanced_ranges(votes.starts, threads)))
        self._map = ThreadPoolExecutor(threads).map

    def initial_counts(self, model: Any, restart: int) -> Stats:
        posterior = self.starting_posterior(model, restart)
        table_counts = sum_stats(self._map(partial(self._scatter, posterior=posterior), self._ranges))
        stats: Stats = model.counts_from_table(posterior.sum(axis=0), *table_counts)
        return stats

    def _scatter(self, tasks: tuple[int, int], posterior: Floats) -> Stats:
        """Expected counts of the rows of the table, of a range of tasks."""
        states = posterior.shape[1]
        total = np.zeros((len(self._votes.workers) * len(self._votes.classes), states))
        single = np.zeros(total.shape, np.float32)
        for a, b in self._pieces(tasks, total.size):
            starts = self._votes.starts[a : b + 1]
            numba_kernels.scatter(starts, self._cell, self._votes.weight, posterior[a:b].ravel(), single)
            total += single
            single[:] = 0
        return (total,)

    def iterate(self, model: Any, params: Params) -> tuple[Stats, float]:
        table = model.table(params)
        table = table._replace(log_likelihood=table.log_likelihood.astype(np.float32))
        e_steps = list(self._map(partial(self._e_step, table=table, hard=model.hard), self._ranges))
        stats = sum_stats(stats for stats, _ in e_steps)
        return model.counts_from_table(*stats), sum(log_likelihood for _, log_likelihood in e_steps)

    def _e_step(self, tasks: tuple[int, int], table: Table, hard: bool) -> tuple[Stats, float]:
        """Expected counts of states and of the rows of the table, and the log-likelihood."""
        state_counts, table_counts = np.zeros(len(table.log_prior)), np.zeros(table.log_likelihood.shape)
        single = np.zeros(table_counts.shape, np.float32)
        log_likelihood = 0.0
        for a, b in self._pieces(tasks, table_counts.size):
            columns = self._kernel_columns(a, b)
            log_likelihood += numba_kernels.e_step(*columns, *table, hard, state_counts, single)
            table_counts += single
            single[:] = 0
        return (state_counts, table_counts), log_likelihood

    def posterior(self, model: Any, params: Params) -> Floats:
        table = model.table(params)
        posterior = np.empty((len(self._votes.tasks), len(table.log_prior)))

        def fill(tasks: tuple[int, int]) -> None:
            rows = posterior[slice(*tasks)].reshape(-1)  # a view
            numba_kernels.fill_posterior(*self._kernel_columns(*tasks), *table, model.hard, rows)

        list(self._map(fill, self._ranges))
        return posterior

    def _kernel_columns(self, a: int, b: int) -> tuple[Any, ...]:
        """The votes and gold labels of the tasks from `a` to `b`, as arguments of a kernel."""
        votes = self._votes
        gold = None if votes.gold is None else votes.gold[a:b]
        return votes.starts[a : b + 1], self._cell, votes.weight, gold, len(votes.classes)

    def _pieces(self, tasks: tuple[int, int], cells: int) -> Iterator[tuple[int, int]]:
        """Ranges of tasks with so many votes that adding up `cells` numbers after each is worth it."""
        a, b = tasks
        starts = self._votes.starts[a : b + 1]
        pieces = 1 + int(starts[-1] - starts[0]) // max(MIN_VOTES_PER_SINGLE_PRECISION_SUM, cells)
        return pairwise(a + bound for bound in balanced_ranges(starts, pieces))
