"""Where the votes of a fit lie, and how a round over them is run there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

if TYPE_CHECKING:
    from crowdpilot.aggregation.em.loop import EM

Stats = tuple[Floats, ...]  # sums over tasks; (classes,) first, then arrays whose first axis is workers
Params = Any  # a NamedTuple of each model's own
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

MANY = 500_000  # votes from which on rounds take so long that it pays to save some, or to compile them
SHARD = 200_000  # votes below which a second thread costs more than it brings


class Place(Protocol):
    """Votes that a model can run its rounds over, wherever they are."""

    size: int  # how many votes

    def begin(self, model: EM, attempt: int) -> Stats:
        """Counts at one of the beginnings of a model."""

    def round(self, model: EM, params: Params) -> tuple[Stats, float]:
        """Counts, and log-likelihood of the votes, under these parameters."""

    def take(self, stats: Stats) -> Stats:
        """Counts of this process, where rounds are run."""

    def give(self, params: Params) -> Params:
        """Parameters or counts back, as arrays of this process."""

    def believe(self, model: EM, params: Params) -> Floats:
        """What is believed of all tasks, (tasks, states), as an array of this process."""


class Machine(Protocol):
    """Something that can hold votes and run rounds over them."""

    def hold(self, model: EM, votes: Votes, probs: Floats) -> Place:
        """A place with these votes, whose tasks are first believed to be of these classes."""


class Here:
    """Votes in the memory of this process. A round is done in parts, one for each thread."""

    def __init__(self, votes: Votes, probs: Floats, threads: int = 1) -> None:
        self.size = len(votes)
        self._votes = votes
        self._probs: Floats | None = probs
        self._parts = split(votes, threads) if threads > 1 else [votes]
        self._map: Map = ThreadPoolExecutor(threads).map if threads > 1 else map

    def first(self, model: EM, attempt: int) -> Floats:
        """What is believed of all tasks at one of the beginnings of a model; each can be had once."""
        if self._probs is None:
            raise ValueError("all beginnings are used up")
        belief = next(islice(model.beliefs(self._votes, self._probs), attempt, None))
        if attempt + 1 == model.attempts:
            self._probs = None  # it is large, and not needed any more
        return belief

    def begin(self, model: EM, attempt: int) -> Stats:
        belief = self.first(model, attempt)
        cuts = np.cumsum([len(part.tasks) for part in self._parts])[:-1]
        return add(map(model.count, self._parts, np.split(belief, cuts)))

    def round(self, model: EM, params: Params) -> tuple[Stats, float]:
        done = self._map(partial(model.round, params=params), self._parts)
        stats, logliks = zip(*done, strict=True)
        return add(stats), sum(logliks)

    def take(self, stats: Stats) -> Stats:
        return stats

    def give(self, params: Params) -> Params:
        return params

    def believe(self, model: EM, params: Params) -> Floats:
        return np.concatenate([model.believe(part, params) for part in self._parts])


class Cores:
    """The cores of this machine."""

    def hold(self, model: EM, votes: Votes, probs: Floats) -> Place:
        threads = max(1, min(cores(), 1 + len(votes) // SHARD)) if model.divisible else 1
        return model.here(votes, probs, threads)


CORES = Cores()


def cores() -> int:
    """How many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def add(stats: Iterable[Stats]) -> Stats:
    """Sum of the counts of several parts."""
    return tuple(sum(arrays[1:], arrays[0]) for arrays in zip(*stats, strict=True))


def split(votes: Votes, parts: int) -> list[Votes]:
    """Up to `parts` slices of the tasks with about as many votes each, every worker in all."""
    votes = votes.merged
    starts = votes.starts
    return [_slice(votes, a, b, starts[a], starts[b]) for a, b in pairwise(cut(starts, parts))]


def cut(starts: NDArray[np.int64], parts: int) -> list[int]:
    """Bounds of up to so many ranges of tasks with about as many votes each."""
    inner = np.searchsorted(starts, np.linspace(starts[0], starts[-1], parts + 1)[1:-1])
    bounds: list[int] = np.unique([0, *inner, len(starts) - 1]).tolist()
    return bounds


def _slice(votes: Votes, a: int, b: int, start: int, stop: int) -> Votes:
    rows = votes.take(slice(start, stop))
    gold = None if votes.gold is None else votes.gold[a:b]
    return replace(rows, task=rows.task - np.int32(a), tasks=votes.tasks[a:b], gold=gold)
