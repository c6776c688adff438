"""The one EM loop: a model supplies the few functions that make it different."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from crowdpilot.aggregate.aggregator import (
    Aggregate,
    Aggregator,
    agreement,
    align,
    known_prior,
    shares,
    started,
)
from crowdpilot.arrays import Floats, softmax_, to_probs
from crowdpilot.votes import Votes

Stats = tuple[Floats, ...]  # sums over tasks; (classes,) first, then arrays whose first axis is workers
Params = Any  # a NamedTuple of each model's own
Map = Callable[[Callable[[Votes], Any], Iterable[Votes]], Iterable[Any]]

Prior = tuple[float, ...] | Literal["estimated", "uniform"]

SHARD = 200_000  # votes below which a second thread costs more than it brings


class NotConverged(UserWarning):
    """The rounds ran out before the objective settled."""


@dataclass(frozen=True)
class EM(Aggregator):
    """Expectation-maximisation over the unknown classes of the tasks.

    Everything known beforehand is told in imaginary counts (`pseudo`): smoothing, priors and the
    history of workers alike. The traced objective is the log-likelihood of the votes plus the
    `score` of those counts, which is exactly what the rounds raise.

    Parameters
    ----------
    prior
        Probability of each class: "estimated", "uniform", or one number for each class.
    max_iter
        Rounds at most.
    tol
        Stop when the objective rises by less than this for each vote.
    """

    prior: Prior = "estimated"
    max_iter: int = 200
    tol: float = 1e-6

    restarts: ClassVar[bool] = True
    remembers: ClassVar[bool] = True
    divisible: ClassVar[bool] = True  # `count` sums over tasks, so that parts can be added up

    # What makes a model different -----------------------------------------------------------

    @abstractmethod
    def pseudo(self, votes: Votes) -> Stats:
        """Imaginary counts, shaped like those of `count`."""

    @abstractmethod
    def count(self, votes: Votes, belief: Floats) -> Stats:
        """What has to be known of the votes, given what is believed of their tasks."""

    @abstractmethod
    def maximize(self, stats: Stats, params: Params | None) -> Params:
        """The best parameters for these counts, or at least better ones than the last."""

    @abstractmethod
    def joint(self, votes: Votes, params: Params) -> Floats:
        """Log P(class, votes) for every task, (tasks, classes); or (tasks, classes x states)."""

    @abstractmethod
    def score(self, pseudo: Stats, params: Params) -> float:
        """Log-density of the parameters, as far as it depends on them, for imaginary counts."""

    def beliefs(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        """Beliefs to begin at, shaped like `joint`, one for each climb; the highest climb is kept."""
        yield probs

    def believe_(self, joint: Floats) -> float:
        """Turn `joint` into beliefs in place; return the log-likelihood."""
        return softmax_(joint)

    def finish(self, votes: Votes, params: Params, belief: Floats) -> Aggregate:
        """The result, given the last parameters and beliefs."""
        probs = by_class(votes, belief)
        return Aggregate(votes, probs, agreement(votes, probs), params._asdict())

    # What is the same for all ---------------------------------------------------------------

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        if self.prior != "estimated":
            known_prior(self.prior, len(votes.classes))  # a wrong one is refused before any work
        probs = shares(votes) if start is None else started(votes, start)
        pseudo = self.pseudo(votes)
        if history is not None:
            pseudo = add([pseudo, self._recall(votes, history)])
        with threads(self.shards(votes)) as (shards, run):
            parts = split(votes, shards) if shards > 1 else [votes]
            climbs = (self._climb(parts, belief, pseudo, run) for belief in self.beliefs(votes, probs))
            best = max(climbs, key=lambda climb: climb.trace[-1])
        if not best.converged:
            warnings.warn(f"{self} did not settle in {self.max_iter} rounds", NotConverged, stacklevel=3)
        result = self.finish(votes, best.params, best.belief)
        params = {**result.params, "stats": best.stats} if self.remembers else result.params
        return replace(result, params=params, trace=tuple(best.trace), converged=best.converged)

    def _climb(self, parts: Sequence[Votes], belief: Floats, pseudo: Stats, run: Map) -> Climb:
        """Rounds from one beginning until the objective settles."""
        cuts = np.cumsum([len(part.tasks) for part in parts])[:-1]
        own = add(map(self.count, parts, np.split(belief, cuts)))
        votes = sum(len(part) for part in parts)
        trace: list[float] = []
        params = None
        converged = False
        while not converged and len(trace) < self.max_iter:
            params = self.maximize(add([own, pseudo]), params)
            rounds = list(run(partial(self._round, params=params), parts))
            own = add(r.stats for r in rounds)
            trace.append(sum(r.loglik for r in rounds) + self.score(pseudo, params))
            converged = len(trace) > 1 and trace[-1] - trace[-2] <= self.tol * votes
        return Climb(params, np.concatenate([r.belief for r in rounds]), own, trace, converged)

    def _round(self, votes: Votes, params: Params) -> Round:
        joint = self.joint(votes, params)
        fix_gold_(votes, joint)
        loglik = self.believe_(joint)
        return Round(joint, loglik, self.count(votes, joint))

    def _recall(self, votes: Votes, history: Aggregate) -> Stats:
        """The counts of earlier votes for the workers of these; the classes of those tasks do not count."""
        mine = (align(votes, history, old) for old in history.params["stats"][1:])
        return np.zeros(len(votes.classes)), *mine

    def class_prior(self, seen: Floats) -> Floats:
        """Probability of each class, given how often it was seen."""
        if self.prior == "estimated":
            share: Floats = seen / seen.sum()
            return share
        return known_prior(self.prior, len(seen))

    def shards(self, votes: Votes) -> int:
        """Into how many parts to cut the work."""
        cores = (os.cpu_count() or 1) // 2  # two threads of one core share what bounds us, its memory
        return max(1, min(cores, 1 + len(votes) // SHARD)) if self.divisible else 1


class Round(NamedTuple):
    """What one part of the votes gives back in one round."""

    belief: Floats
    loglik: float
    stats: Stats


class Climb(NamedTuple):
    """Where the rounds from one beginning have led."""

    params: Params
    belief: Floats
    stats: Stats
    trace: list[float]
    converged: bool


def by_random_trust(votes: Votes, probs: Floats, tries: int, seed: int) -> Iterator[Floats]:
    """The given probabilities, then shares of votes with each worker trusted more or less by chance."""
    yield probs
    rng = np.random.default_rng(seed)
    for _ in range(1, tries):
        trust = rng.standard_exponential(len(votes.workers))
        yield votes.clamp(to_probs(votes.tally(trust[votes.worker])))


def by_class(votes: Votes, belief: Floats) -> Floats:
    """Probabilities of the classes alone, (tasks, classes), whatever else is believed."""
    K = len(votes.classes)
    if belief.shape[1] == K:
        return belief
    probs: Floats = belief.reshape(len(belief), K, -1).sum(axis=2)
    return probs


def add(stats: Iterable[Stats]) -> Stats:
    """Sum of the counts of several parts."""
    return tuple(sum(arrays[1:], arrays[0]) for arrays in zip(*stats, strict=True))


def split(votes: Votes, parts: int) -> list[Votes]:
    """Up to `parts` slices of the tasks with about as many votes each, every worker in all."""
    votes = votes.merged
    starts = np.searchsorted(votes.task, np.arange(len(votes.tasks) + 1))
    inner = np.searchsorted(starts, np.linspace(0, len(votes), parts + 1)[1:-1], side="left")
    cuts = np.unique([0, *inner, len(votes.tasks)])
    return [_slice(votes, a, b, starts[a], starts[b]) for a, b in pairwise(cuts.tolist())]


def _slice(votes: Votes, a: int, b: int, start: int, stop: int) -> Votes:
    rows = votes.take(slice(start, stop))
    gold = None if votes.gold is None else votes.gold[a:b]
    return replace(rows, task=rows.task - np.int32(a), tasks=votes.tasks[a:b], gold=gold)


def fix_gold_(votes: Votes, joint: Floats) -> None:
    """Make every other class impossible, in place, for tasks whose class is known."""
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold >= 0)
        states = joint.reshape(len(joint), len(votes.classes), -1)  # a view: joint is contiguous
        truth = states[known, votes.gold[known]]
        states[known] = -np.inf
        states[known, votes.gold[known]] = truth


@contextmanager
def threads(count: int) -> Iterator[tuple[int, Map]]:
    """A map over `count` threads; numpy and scipy leave the interpreter free while they compute."""
    if count == 1:
        yield 1, map
        return
    with ThreadPoolExecutor(count) as pool:
        yield count, pool.map
