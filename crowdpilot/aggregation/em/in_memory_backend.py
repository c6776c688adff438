"""Votes in the memory of this process: iterations over parts of the tasks, one for each thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.em.backend import EMModel, Params, Stats, sum_stats
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class InMemoryVotes:
    """Votes in the memory of this process; implements `LoadedVotes`.

    Parameters
    ----------
    votes
        Merged votes.
    probs
        Class probabilities to start at, (tasks, classes).
    threads
        Number of parts of the tasks that are worked on at the same time.
    """

    def __init__(self, votes: Votes, probs: Floats, threads: int = 1) -> None:
        self.n_votes = len(votes)
        self._votes = votes
        self._probs: Floats | None = probs
        self._parts = split_tasks(votes, threads) if threads > 1 else [votes]
        self._map: Map = ThreadPoolExecutor(threads).map if threads > 1 else map

    def starting_posterior(self, model: EMModel, restart: int) -> Floats:
        """Posterior at one of the starting points, (tasks, states); restarts are asked for in order."""
        if self._probs is None:
            raise ValueError("all restarts are used up")
        posterior = next(islice(model.starting_posteriors(self._votes, self._probs), restart, None))
        if restart + 1 == model.n_restarts:
            self._probs = None  # large, and not needed any more
        return posterior

    def initial_counts(self, model: EMModel, restart: int) -> Stats:
        posterior = self.starting_posterior(model, restart)
        cuts = np.cumsum([len(part.tasks) for part in self._parts])[:-1]
        return sum_stats(map(model.expected_counts, self._parts, np.split(posterior, cuts)))

    def iterate(self, model: EMModel, params: Params) -> tuple[Stats, float]:
        e_steps = self._map(partial(model.e_step, params=params), self._parts)
        stats, log_likelihoods = zip(*e_steps, strict=True)
        return sum_stats(stats), sum(log_likelihoods)

    def to_backend(self, stats: Stats) -> Stats:
        return stats

    def to_host(self, params: Params) -> Params:
        return params

    def posterior(self, model: EMModel, params: Params) -> Floats:
        return np.concatenate([model.posterior(part, params) for part in self._parts])


def split_tasks(votes: Votes, parts: int) -> list[Votes]:
    """Up to `parts` consecutive ranges of the tasks with about as many votes each, every worker in all."""
    votes = votes.merged
    return [_task_range(votes, a, b) for a, b in pairwise(balanced_ranges(votes.starts, parts))]


def _task_range(votes: Votes, a: int, b: int) -> Votes:
    """The votes of the tasks from `a` to `b`, as `votes.select` gives them, without a look at the others."""
    part = votes.take(slice(votes.starts[a], votes.starts[b]))
    gold = None if votes.gold is None else votes.gold[a:b]
    return replace(part, task=part.task - np.int32(a), tasks=votes.tasks[a:b], gold=gold)


def balanced_ranges(starts: NDArray[np.int64], parts: int) -> list[int]:
    """Bounds of up to `parts` ranges of tasks with about as many votes each; `starts` as in `Votes`."""
    inner = np.searchsorted(starts, np.linspace(starts[0], starts[-1], parts + 1)[1:-1])
    bounds: list[int] = np.unique([0, *inner, len(starts) - 1]).tolist()
    return bounds
