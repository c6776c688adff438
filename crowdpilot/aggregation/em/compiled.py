"""Votes in memory whose rounds are single passes over them, by compiled kernels on all cores."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdpilot.aggregation.em import numba_kernels
from crowdpilot.aggregation.em.backend import Here, Params, Stats, add, cut
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

if TYPE_CHECKING:
    from crowdpilot.aggregation.em.tables import Table

LEAST = 1 << 18  # votes whose counts are added up in single precision


class Fused(Here):
    """Votes of a tabled model in the memory of this process.

    Rounds read the table and add up counts in single precision, which halves the traffic of memory
    that they wait for. The counts of some votes at a time are added up in double precision, and the
    beliefs of the end are worked out in double precision throughout.
    """

    def __init__(self, votes: Votes, probs: Floats, threads: int) -> None:
        super().__init__(votes, probs)
        self._cell = votes.cell.view(np.uint32 if votes.cell.itemsize == 4 else np.uint64)
        self._ranges = list(pairwise(cut(votes.starts, threads)))
        self._map = ThreadPoolExecutor(threads).map

    def begin(self, model: Any, attempt: int) -> Stats:
        belief = self.first(model, attempt)
        said = add(self._map(partial(self._spread, belief=belief), self._ranges))
        stats: Stats = model.gather(belief.sum(axis=0), *said)
        return stats

    def _spread(self, tasks: tuple[int, int], belief: Floats) -> Stats:
        K = belief.shape[1]
        said = np.zeros((len(self._votes.workers) * len(self._votes.classes), K))
        some = np.zeros(said.shape, np.float32)
        for a, b in self._pieces(tasks, said.size):
            starts = self._votes.starts[a : b + 1]
            numba_kernels.scatter(starts, self._cell, self._votes.weight, belief[a:b].ravel(), some)
            said += some
            some[:] = 0
        return (said,)

    def round(self, model: Any, params: Params) -> tuple[Stats, float]:
        table = model.table(params)
        table = table._replace(said=table.said.astype(np.float32))
        done = list(self._map(partial(self._count, table=table, hard=model.hard), self._ranges))
        stats = add(stats for stats, _ in done)
        return model.gather(*stats), sum(loglik for _, loglik in done)

    def _count(self, tasks: tuple[int, int], table: Table, hard: bool) -> tuple[Stats, float]:
        seen, said = np.zeros(len(table.start)), np.zeros(table.said.shape)
        some = np.zeros(said.shape, np.float32)
        loglik = 0.0
        for a, b in self._pieces(tasks, said.size):
            loglik += numba_kernels.count(*self._given(a, b), *table, hard, seen, some)
            said += some
            some[:] = 0
        return (seen, said), loglik

    def believe(self, model: Any, params: Params) -> Floats:
        table = model.table(params)
        belief = np.empty((len(self._votes.tasks), len(table.start)))

        def fill(tasks: tuple[int, int]) -> None:
            rows = belief[slice(*tasks)].reshape(-1)  # a view
            numba_kernels.fill(*self._given(*tasks), *table, model.hard, rows)

        list(self._map(fill, self._ranges))
        return belief

    def _given(self, a: int, b: int) -> tuple[Any, ...]:
        """What is known of the tasks from `a` to `b`, as kernels take it."""
        votes = self._votes
        gold = None if votes.gold is None else votes.gold[a:b]
        return votes.starts[a : b + 1], self._cell, votes.weight, gold, len(votes.classes)

    def _pieces(self, tasks: tuple[int, int], numbers: int) -> Iterator[tuple[int, int]]:
        """Tasks in pieces with so many votes that it is worth adding up as many numbers after each."""
        a, b = tasks
        starts = self._votes.starts[a : b + 1]
        pieces = 1 + int(starts[-1] - starts[0]) // max(LEAST, numbers)
        return pairwise(a + at for at in cut(starts, pieces))
