"""Minimax conditional entropy: labels are confused in ways of the worker and of the task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from crowdpilot.aggregation.base import Aggregate, expected_worker_accuracy
from crowdpilot.aggregation.class_prior import fixed_prior
from crowdpilot.aggregation.earlier_results import starting_probs
from crowdpilot.aggregation.em.in_memory_backend import split_tasks
from crowdpilot.aggregation.em.loop import apply_gold_
from crowdpilot.aggregation.objective_ascent import ObjectiveAscent
from crowdpilot.aggregation.truth_discovery import expect_positive
from crowdpilot.arrays import Floats, softmax, softmax_
from crowdpilot.votes import Votes

MAX_CELLS_PER_PART = 100_000  # votes x classes x classes of a part, so that it stays in the cache


class Part(NamedTuple):
    """Some of the tasks with all their votes, and sparse matrices that sum over these."""

    votes: Votes
    by_task: Any  # (tasks, votes)
    by_worker: Any  # (workers, votes)


class PartResult(NamedTuple):
    """Posterior and gradients of a part; K x K gradients of the log-likelihood, then K expected counts."""

    probs: Floats  # (tasks, classes)
    log_likelihood: float
    task: Floats  # (tasks, K x K + K)
    worker: Floats  # (workers, K x K + K)


class State(NamedTuple):
    """The parameters, and posterior and gradients there."""

    parts: list[Part]
    worker: Floats  # (workers, true, said)
    tasks: list[Floats]  # of each part (tasks, true, said)
    results: list[PartResult]


@dataclass(frozen=True)
class MinimaxEntropy(ObjectiveAscent):
    """Worker *j* says *l* about task *i* of class *k* with log-odds of both of them.

    P(l | i, j, k) is proportional to exp(task[i, k, l] + worker[j, k, l]).

    It is the distribution of largest entropy whose expected counts of labels are those of each worker and
    of each task. The objective is the log-likelihood of the votes less alpha/2 K^2 |worker|^2 and
    beta/2 K^2 r |task|^2, r being the votes of a worker over the votes of a task on average. Each
    iteration computes the posterior and makes a gradient step on worker and task whose length comes from
    a bound on the curvature, so that the objective never falls.

    An iteration takes votes x K^2 time, and the result holds tasks x K^2 numbers: it is for few classes,
    and strong where tasks are confused in their own ways and have many votes.

    Parameters
    ----------
    alpha, beta
        L2 regularization of the parameters of workers and of tasks; the paper tries 1/4 to 4.

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
    tol: float = field(default=1e-5, kw_only=True)

    name: ClassVar[str] = "minimax_entropy"
    aliases: ClassVar[tuple[str, ...]] = ("minimax",)

    def __post_init__(self) -> None:
        expect_positive(self, "alpha", "beta", "max_iter")

    def cells(self, votes: Votes) -> int:
        return (len(votes.tasks) + len(votes.workers)) * len(votes.classes) ** 2

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        log_prior = np.log(fixed_prior(self.prior, len(votes.classes)))
        probs = votes.shares() if start is None else starting_probs(votes, start)
        penalties = self.penalties(votes)
        state = initial_state(votes, probs, log_prior)
        trace: list[float] = []
        while not (converged := self.has_converged(votes, trace)) and len(trace) < self.max_iter:
            state = gradient_step(state, penalties, log_prior)
            trace.append(objective(state, penalties))
        if not converged:
            self.warn_not_converged(self.max_iter)
        probs = np.concatenate([result.probs for result in state.results])
        params = {
            "confusion": softmax(state.worker.reshape(-1, len(log_prior))).reshape(state.worker.shape),
            "worker": state.worker,
            "task": np.concatenate(state.tasks),
        }
        return Aggregate(
            votes, probs, expected_worker_accuracy(votes, probs), params, tuple(trace), converged
        )

    def penalties(self, votes: Votes) -> tuple[float, float]:
        """The factors of the squared parameters of workers and of tasks in the objective."""
        cells = len(votes.classes) ** 2
        tasks, workers = int(np.count_nonzero(votes.task_sum())), int(np.count_nonzero(votes.worker_sum()))
        return self.alpha * cells, self.beta * cells * max(tasks, 1) / max(workers, 1)


def initial_state(votes: Votes, probs: Floats, log_prior: Floats) -> State:
    """Parameters of zero, and the gradients at these class probabilities."""
    K = len(log_prior)
    count = 1 + len(votes) * K**2 // MAX_CELLS_PER_PART
    parts = [to_part(part) for part in (split_tasks(votes, count) if count > 1 else [votes])]
    posteriors = np.split(probs, np.cumsum([len(part.votes.tasks) for part in parts])[:-1])
    worker, tasks = np.zeros((len(votes.workers), K, K)), [np.zeros((len(p), K, K)) for p in posteriors]
    results = [e_step(*each, worker, log_prior) for each in zip(parts, posteriors, tasks, strict=True)]
    return State(parts, worker, tasks, results)


def gradient_step(state: State, penalties: tuple[float, float], log_prior: Floats) -> State:
    """A gradient step on all parameters, then the posterior under them."""
    parts, worker, tasks, results = state
    worker = ascend(worker, penalties[0], sum((r.worker for r in results[1:]), results[0].worker))
    tasks = [ascend(task, penalties[1], r.task) for task, r in zip(tasks, results, strict=True)]
    results = [e_step(part, None, task, worker, log_prior) for part, task in zip(parts, tasks, strict=True)]
    return State(parts, worker, tasks, results)


def objective(state: State, penalties: tuple[float, float]) -> float:
    """The log-likelihood of the votes less the penalties of the parameters."""
    squares = penalties[0] * np.square(state.worker).sum() + penalties[1] * sum(
        np.square(t).sum() for t in state.tasks
    )
    return sum(result.log_likelihood for result in state.results) - float(squares) / 2


def to_part(votes: Votes) -> Part:
    """The votes with their sums."""
    each = np.arange(len(votes))
    by_task = coo_array((votes.weights, (votes.task, each)), (len(votes.tasks), len(votes))).tocsr()
    by_worker = coo_array((votes.weights, (votes.worker, each)), (len(votes.workers), len(votes))).tocsr()
    return Part(votes, by_task, by_worker)


def e_step(part: Part, probs: Floats | None, task: Floats, worker: Floats, log_prior: Floats) -> PartResult:
    """The posterior of the tasks of a part, unless it is given, and the gradients at it."""
    votes, K = part.votes, len(log_prior)
    said = votes.label, np.arange(len(votes))
    odds = task[votes.task] + worker[votes.worker]
    chance = np.ascontiguousarray(odds.transpose(1, 2, 0))  # (true, said, votes): long rows are fast
    chance -= chance.max(axis=1, keepdims=True)
    log_said = chance[:, *said]
    np.exp(chance, out=chance)
    total = chance.sum(axis=1)
    log_likelihood = 0.0
    if probs is None:
        probs = part.by_task @ (log_said - np.log(total)).T + log_prior
        apply_gold_(votes, probs)
        log_likelihood = softmax_(probs)
    posterior = np.ascontiguousarray(probs[votes.task].T)  # (classes, votes)
    chance *= -(posterior / total)[:, None]
    chance[:, *said] += posterior
    gradients = np.concatenate([chance.reshape(K * K, len(votes)), posterior]).T
    return PartResult(probs, log_likelihood, part.by_task @ gradients, part.by_worker @ gradients)


def ascend(params: Floats, penalty: float, gradients: Floats) -> Floats:
    """One gradient step; the curvature of the log-likelihood of a vote is at most one."""
    K = params.shape[1]
    gradient = gradients[:, : K * K].reshape(params.shape) - penalty * params
    return params + gradient / (penalty + gradients[:, K * K :, None])
