"""The one EM loop: a model supplies the few functions that make it different."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregate.aggregator import Aggregate, Aggregator, agreement, match, shares, started
from crowdpilot.arrays import Floats, softmax_
from crowdpilot.votes import Votes

Stats = tuple[Floats, ...]  # sums over tasks; (classes,) first, then arrays whose first axis is workers
Params = Any  # a NamedTuple of each model's own
Map = Callable[[Callable[[Votes], Any], Iterable[Votes]], Iterable[Any]]

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
        Probability of each class; estimated if not given.
    max_iter
        Rounds at most.
    tol
        Stop when the objective rises by less than this for each vote.
    """

    prior: tuple[float, ...] | None = None
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
    def count(self, votes: Votes, probs: Floats) -> Stats:
        """What has to be known of the votes, given the probabilities of their tasks."""

    @abstractmethod
    def maximize(self, stats: Stats, params: Params | None) -> Params:
        """The best parameters for these counts, or at least better ones than the last."""

    @abstractmethod
    def joint(self, votes: Votes, params: Params) -> Floats:
        """log P(class, votes) for every task, (tasks, classes)."""

    @abstractmethod
    def score(self, pseudo: Stats, params: Params) -> float:
        """log-density of the parameters, as far as it depends on them, for imaginary counts."""

    def first(self, votes: Votes) -> Floats:
        """Probabilities to begin with."""
        return shares(votes)

    def believe_(self, joint: Floats) -> float:
        """Turn `joint` into probabilities in place; return the log-likelihood."""
        return softmax_(joint)

    def finish(self, votes: Votes, params: Params, probs: Floats) -> Aggregate:
        """The result, given the last parameters and probabilities."""
        return Aggregate(votes, probs, agreement(votes, probs), params._asdict())

    # What is the same for all ---------------------------------------------------------------

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        self._check_prior(votes)
        probs = self.first(votes) if start is None else started(votes, start)
        pseudo = self.pseudo(votes)
        if history is not None:
            pseudo = add([pseudo, self._recall(votes, history)])
        with threads(self.shards(votes)) as (shards, run):
            parts = votes.split(shards) if shards > 1 else [votes]
            beliefs = np.split(probs, np.cumsum([len(part.tasks) for part in parts])[:-1])
            own = add(self.count(part, belief) for part, belief in zip(parts, beliefs, strict=True))
            trace: list[float] = []
            params = None
            for _ in range(self.max_iter):
                params = self.maximize(add([own, pseudo]), params)
                rounds = list(run(partial(self._round, params=params), parts))
                trace.append(sum(r[1] for r in rounds) + self.score(pseudo, params))
                own = add(r[2] for r in rounds)
                if len(trace) > 1 and trace[-1] - trace[-2] < self.tol * len(votes):
                    break
            else:
                warnings.warn(f"{self} did not settle in {self.max_iter} rounds", NotConverged, stacklevel=4)
            converged = len(trace) < self.max_iter
            probs = np.concatenate([r[0] for r in rounds])
        result = self.finish(votes, params, probs)
        stats = {"stats": own} if self.remembers else {}
        return replace_params(result, {**result.params, **stats}, tuple(trace), converged)

    def _round(self, votes: Votes, params: Params) -> tuple[Floats, float, Stats]:
        joint = self.joint(votes, params)
        fix_gold_(votes, joint)
        loglik = self.believe_(joint)
        return joint, loglik, self.count(votes, joint)

    def _recall(self, votes: Votes, history: Aggregate) -> Stats:
        """The counts of earlier votes for the workers of these; the classes of those tasks do not count."""
        rows = match(votes.workers, history.votes.workers)
        old: Stats = history.params["stats"]
        per_worker = [a.reshape(len(history.votes.workers), *a.shape[1:]) for a in old[1:]]
        mine = (np.where(_wide(rows >= 0, a), a[rows], 0.0) for a in per_worker)
        return np.zeros(len(votes.classes)), *mine

    def _check_prior(self, votes: Votes) -> None:
        if self.prior is None:
            return
        K = len(votes.classes)
        if len(self.prior) != K or min(self.prior) <= 0 or abs(sum(self.prior) - 1) > 1e-6:
            raise ValueError(f"the class prior is {self.prior}, expected {K} positive numbers that sum to 1")

    def shards(self, votes: Votes) -> int:
        """Into how many parts to cut the work."""
        return min(os.cpu_count() or 1, 1 + len(votes) // SHARD) if self.divisible else 1


def replace_params(result: Aggregate, params: dict[str, Any], trace: tuple[float, ...], converged: bool) -> Aggregate:
    return Aggregate(result.votes, result.probs, result.skill, params, trace, converged)


def add(stats: Iterable[Stats]) -> Stats:
    """Sum of the counts of several parts."""
    return tuple(sum(arrays[1:], arrays[0]) for arrays in zip(*stats, strict=True))


def fix_gold_(votes: Votes, joint: Floats) -> None:
    """Make every other class impossible, in place, for tasks whose class is known."""
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold >= 0)
        truth = joint[known, votes.gold[known]]
        joint[known] = -np.inf
        joint[known, votes.gold[known]] = truth


@contextmanager
def threads(count: int) -> Iterator[tuple[int, Map]]:
    """A map over `count` threads; numpy and scipy leave the interpreter free while they compute."""
    if count == 1:
        yield 1, map
        return
    with ThreadPoolExecutor(count) as pool:
        yield count, pool.map


def _wide(mask: Any, like: Floats) -> Any:
    return mask.reshape(-1, *[1] * (like.ndim - 1))
