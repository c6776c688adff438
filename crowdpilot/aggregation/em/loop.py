"""The one EM loop: a model supplies the few functions that make it different."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import (
    Aggregate,
    Aggregator,
    agreement,
    align,
    known_prior,
    shares,
    started,
)
from crowdpilot.aggregation.em.backend import CORES, MANY, Here, Machine, Params, Place, Stats, add
from crowdpilot.aggregation.em.squarem import Stride
from crowdpilot.arrays import Floats, softmax_, to_probs
from crowdpilot.votes import Votes

Heard = Callable[[float], None]  # is told the objective after every round
Prior = tuple[float, ...] | Literal["estimated", "uniform"]


def ignore(objective: float) -> None:
    """Do nothing after a round."""


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
    accelerate
        Whether to leap ahead after every two rounds (see `stride`): an end as high in fewer rounds. If
        not said, from half a million votes on, where rounds take time.
    """

    prior: Prior = "estimated"
    max_iter: int = 200
    tol: float = 1e-6
    accelerate: bool | None = None

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

    def first(self, votes: Votes) -> Floats:
        """Probabilities of the classes to begin at if there is no earlier result, (tasks, classes)."""
        return shares(votes)

    def beliefs(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        """Beliefs to begin at, shaped like `joint`, one for each climb; the highest climb is kept."""
        yield probs

    def here(self, votes: Votes, probs: Floats, threads: int) -> Place:
        """The place for these votes on this machine."""
        return Here(votes, probs, threads)

    def believe_(self, joint: Floats) -> float:
        """Turn `joint` into beliefs in place; return the log-likelihood."""
        return softmax_(joint)

    def finish(self, votes: Votes, params: Params, belief: Floats) -> Aggregate:
        """The result, given the last parameters and beliefs."""
        probs = by_class(votes, belief)
        return Aggregate(votes, probs, agreement(votes, probs), params._asdict())

    # What is the same for all ---------------------------------------------------------------

    @property
    def attempts(self) -> int:
        """How many beginnings there are to climb from."""
        return 1

    def run_on(
        self, on: Machine | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        return self.run(votes, start, history, on or CORES)

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, on: Machine = CORES
    ) -> Aggregate:
        if self.prior != "estimated":
            known_prior(self.prior, len(votes.classes))  # a wrong one is refused before any work
        pseudo = self.pseudo(votes)
        if history is not None:
            pseudo = add([pseudo, self._recall(votes, history)])
        place = on.hold(self, votes, self.first(votes) if start is None else started(votes, start))
        best = self.highest(place, pseudo)
        params = place.give(best.params)
        result = self.finish(votes, params, place.believe(self, best.params))
        kept = {**result.params, "stats": place.give(best.stats)} if self.remembers else result.params
        return replace(result, params=kept, trace=tuple(best.trace), converged=best.converged)

    def highest(self, place: Place, pseudo: Stats, heard: Heard = ignore) -> Climb:
        """The climb that ends highest.

        Parameters
        ----------
        place
            Where the votes are.
        pseudo
            All that is known beforehand, in imaginary counts.
        heard
            Called after every round with the objective.
        """
        pseudo = place.take(pseudo)
        climbs = (self._climb(place, pseudo, attempt, heard) for attempt in range(self.attempts))
        best = max(climbs, key=lambda climb: climb.trace[-1])
        if not best.converged:
            warnings.warn(f"{self} did not settle in {self.max_iter} rounds", NotConverged, stacklevel=4)
        return best

    def _climb(self, place: Place, pseudo: Stats, attempt: int, heard: Heard) -> Climb:
        """Rounds from one beginning until the objective settles."""
        leaping = place.size >= MANY if self.accelerate is None else self.accelerate
        stride = Stride(place.begin(self, attempt), leaping)
        trace: list[float] = []
        params = None
        converged = False
        for _ in range(self.max_iter):
            tried = self.maximize(add([stride.here, pseudo]), params)
            counts, loglik = place.round(self, tried)
            height = loglik + self.score(pseudo, tried)
            if stride.leapt and not height >= trace[-1]:
                stride.turn_back()
                continue
            trace.append(height)
            heard(height)
            params, own = tried, counts
            converged = len(trace) > 1 and not stride.leapt and trace[-1] - trace[-2] <= self.tol * place.size
            if converged:
                break
            stride.go_on(counts)
        return Climb(params, own, trace, converged)

    def round(self, votes: Votes, params: Params) -> tuple[Stats, float]:
        """Counts and log-likelihood of some votes under these parameters."""
        joint = self.joint(votes, params)
        fix_gold_(votes, joint)
        loglik = self.believe_(joint)
        return self.count(votes, joint), loglik

    def believe(self, votes: Votes, params: Params) -> Floats:
        """What is believed of the tasks of some votes, shaped like `joint`."""
        joint = self.joint(votes, params)
        fix_gold_(votes, joint)
        self.believe_(joint)
        return joint

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


class Climb(NamedTuple):
    """Where the rounds from one beginning have led."""

    params: Params
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
    probs: Floats = belief.reshape(len(belief), K, belief.shape[1] // K).sum(axis=2)
    return probs


def fix_gold_(votes: Votes, joint: Floats) -> None:
    """Make every other class impossible, in place, for tasks whose class is known."""
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold >= 0)
        states = joint.reshape(len(joint), len(votes.classes), -1)  # a view: joint is contiguous
        truth = states[known, votes.gold[known]]
        states[known] = -np.inf
        states[known, votes.gold[known]] = truth
