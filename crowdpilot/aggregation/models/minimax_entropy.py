"""Minimax entropy: workers and tasks both have a say in how labels are confused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_accuracy, fixed_prior
from crowdpilot.aggregation.earlier_results import starting_probs
from crowdpilot.aggregation.em.in_memory import split_tasks
from crowdpilot.aggregation.em.loop import apply_gold_
from crowdpilot.aggregation.truth_discovery import expect_positive
from crowdpilot.arrays import Floats, softmax, softmax_
from crowdpilot.votes import Votes

CELLS = 100_000  # votes x classes x classes that are worked on at a time, so that they stay in the cache


class Part(NamedTuple):
    """Some of the tasks with all their votes, and sparse sums over these."""

    votes: Votes
    by_task: Any  # (tasks, votes)
    by_worker: Any  # (workers, votes)


class Round(NamedTuple):
    """What a part gives back in one round; K x K slopes of the log-likelihood, then K expected counts."""

    probs: Floats  # (tasks, classes)
    loglik: float
    task: Floats  # (tasks, K x K + K)
    worker: Floats  # (workers, K x K + K)


class State(NamedTuple):
    """Where the climb is: the shifts, and what the last round said of them."""

    parts: list[Part]
    worker: Floats  # (workers, true, said)
    tasks: list[Floats]  # of each part (tasks, true, said)
    rounds: list[Round]


@dataclass(frozen=True)
class MinimaxEntropy(Aggregator):
    """Worker *j* says *l* about task *i* of class *k* with odds that both of them shift.

    P(l | i, j, k) is proportional to exp(task[i, k, l] + worker[j, k, l]).

    It is what follows from asking for the distribution of largest entropy that shows as many votes
    of each kind as each worker gave and each task got. The objective is the log-likelihood of the
    votes less alpha/2 K^2 |worker|^2 and beta/2 K^2 r |task|^2, r being the votes of a worker over
    the votes of a task on average. Each round finds the probabilities of the classes and makes a
    gradient step on worker and task whose length comes from a bound on the curvature, so that the
    objective never falls.

    Every round takes votes x K^2 time, and the result holds tasks x K^2 numbers: it is for few
    classes, and shines where tasks are confused in their own ways and have many votes.

    Parameters
    ----------
    alpha, beta
        How strongly the shifts of workers and of tasks are held back; the paper tries 1/4 to 4.
    prior
        Probability of each class; all equal if not given.
    max_iter
        Largest number of iterations.
    tol
        Stop when the objective rises by less than this for each vote.
    seed
        Of the hash that breaks ties between classes.

    References
    ----------
    Zhou, Platt, Basu and Mao, Learning from the wisdom of crowds by minimax entropy, NIPS 2012.
    Zhou, Liu, Platt, Meek and Shah, Regularized minimax conditional entropy for crowdsourcing,
    2015. https://arxiv.org/abs/1503.07240

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.8, 0.6], seed=0)
    >>> result = MinimaxEntropy().fit(votes)
    >>> result.params["confusion"].shape
    (4, 2, 2)
    """

    alpha: float = 0.25
    beta: float = 0.25
    prior: tuple[float, ...] | None = None
    max_iter: int = 500
    tol: float = 1e-5
    seed: int = 0

    name: ClassVar[str] = "minimax_entropy"
    aliases: ClassVar[tuple[str, ...]] = ("minimax",)
    warm_start: ClassVar[bool] = True

    def __post_init__(self) -> None:
        expect_positive(self, "alpha", "beta", "max_iter")

    def cells(self, votes: Votes) -> int:
        return (len(votes.tasks) + len(votes.workers)) * len(votes.classes) ** 2

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        log_prior = np.log(fixed_prior(self.prior, len(votes.classes)))
        probs = votes.shares() if start is None else starting_probs(votes, start)
        holds = self.holds(votes)
        state = begin(votes, probs, log_prior)
        trace: list[float] = []
        converged = False
        while not converged and len(trace) < self.max_iter:
            state = advance(state, holds, log_prior)
            trace.append(objective(state, holds))
            converged = len(trace) > 1 and trace[-1] - trace[-2] <= self.tol * len(votes)
        if not converged:
            self.warn_not_converged(self.max_iter)
        probs = np.concatenate([r.probs for r in state.rounds])
        params = {
            "confusion": softmax(state.worker.reshape(-1, len(log_prior))).reshape(state.worker.shape),
            "worker": state.worker,
            "task": np.concatenate(state.tasks),
        }
        return Aggregate(votes, probs, expected_accuracy(votes, probs), params, tuple(trace), converged)

    def holds(self, votes: Votes) -> tuple[float, float]:
        """How strongly the shifts of workers and of tasks are held back in these votes."""
        cells = len(votes.classes) ** 2
        tasks, workers = int(np.count_nonzero(votes.task_sum())), int(np.count_nonzero(votes.worker_sum()))
        return self.alpha * cells, self.beta * cells * max(tasks, 1) / max(workers, 1)


def begin(votes: Votes, probs: Floats, log_prior: Floats) -> State:
    """No shifts yet, and where these probabilities pull them."""
    K = len(log_prior)
    count = 1 + len(votes) * K**2 // CELLS
    parts = [to_part(part) for part in (split_tasks(votes, count) if count > 1 else [votes])]
    beliefs = np.split(probs, np.cumsum([len(part.votes.tasks) for part in parts])[:-1])
    worker, tasks = np.zeros((len(votes.workers), K, K)), [np.zeros((len(b), K, K)) for b in beliefs]
    rounds = [look(*each, worker, log_prior) for each in zip(parts, beliefs, tasks, strict=True)]
    return State(parts, worker, tasks, rounds)


def advance(state: State, holds: tuple[float, float], log_prior: Floats) -> State:
    """A step on all shifts, then the probabilities that follow from them."""
    parts, worker, tasks, rounds = state
    worker = climb(worker, holds[0], sum((r.worker for r in rounds[1:]), rounds[0].worker))
    tasks = [climb(task, holds[1], r.task) for task, r in zip(tasks, rounds, strict=True)]
    rounds = [look(part, None, task, worker, log_prior) for part, task in zip(parts, tasks, strict=True)]
    return State(parts, worker, tasks, rounds)


def objective(state: State, holds: tuple[float, float]) -> float:
    """The log-likelihood of the votes less what the shifts cost."""
    squares = holds[0] * np.square(state.worker).sum() + holds[1] * sum(
        np.square(t).sum() for t in state.tasks
    )
    return sum(r.loglik for r in state.rounds) - float(squares) / 2


def to_part(votes: Votes) -> Part:
    """The votes with their sums."""
    each = np.arange(len(votes))
    by_task = coo_array((votes.weights, (votes.task, each)), (len(votes.tasks), len(votes))).tocsr()
    by_worker = coo_array((votes.weights, (votes.worker, each)), (len(votes.workers), len(votes))).tocsr()
    return Part(votes, by_task, by_worker)


def look(part: Part, probs: Floats | None, task: Floats, worker: Floats, log_prior: Floats) -> Round:
    """The probabilities of the classes, if not given, and where they pull the shifts."""
    votes, K = part.votes, len(log_prior)
    said = votes.label, np.arange(len(votes))
    odds = task[votes.task] + worker[votes.worker]
    chance = np.ascontiguousarray(odds.transpose(1, 2, 0))  # (true, said, votes): long rows are fast
    chance -= chance.max(axis=1, keepdims=True)
    log_said = chance[:, *said]
    np.exp(chance, out=chance)
    total = chance.sum(axis=1)
    loglik = 0.0
    if probs is None:
        probs = part.by_task @ (log_said - np.log(total)).T + log_prior
        apply_gold_(votes, probs)
        loglik = softmax_(probs)
    believed = np.ascontiguousarray(probs[votes.task].T)  # (classes, votes)
    chance *= -(believed / total)[:, None]
    chance[:, *said] += believed
    slopes = np.concatenate([chance.reshape(K * K, len(votes)), believed]).T
    return Round(probs, loglik, part.by_task @ slopes, part.by_worker @ slopes)


def climb(shift: Floats, hold: float, pull: Floats) -> Floats:
    """One step uphill; moving both shifts, no vote bends the log-likelihood by more than one."""
    K = shift.shape[1]
    slope = pull[:, : K * K].reshape(shift.shape) - hold * shift
    return shift + slope / (hold + pull[:, K * K :, None])
