"""The EM loop, written once: a model supplies its E-step, M-step, expected counts and prior."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.class_prior import fixed_prior
from crowdpilot.aggregation.earlier_results import align_workers, starting_probs
from crowdpilot.aggregation.em.backend import LARGE_FIT_VOTES, Backend, LoadedVotes, Params, Stats, sum_stats
from crowdpilot.aggregation.em.default_backend import IN_MEMORY
from crowdpilot.aggregation.em.squarem import Squarem
from crowdpilot.arrays import Floats, softmax_, to_probs
from crowdpilot.votes import Votes

Callback = Callable[[float], None]  # called with the objective after each iteration
Prior = tuple[float, ...] | Literal["estimated", "uniform"]


def no_callback(objective: float) -> None:
    """Do nothing after an iteration."""


@dataclass(frozen=True)
class EM(Aggregator):
    """Expectation-maximisation over the unknown classes of the tasks.

    Priors, smoothing and the history of workers are all pseudo-counts, added to the expected counts
    before each M-step. The traced objective is the log-likelihood of the votes plus the log-prior of the
    parameters; no iteration lowers it.

    Parameters
    ----------
    prior
        Probability of each class: "estimated", "uniform", or one number for each class.
    max_iter
        Largest number of iterations.
    tol
        Stop when the objective rises by less than this for each vote.
    accelerate
        Whether to use SQUAREM acceleration: fewer iterations to an objective as high. By default from
        half a million votes on, where iterations are slow.
    """

    prior: Prior = "estimated"
    max_iter: int = 200
    tol: float = 1e-6
    accelerate: bool | None = None

    warm_start: ClassVar[bool] = True
    uses_history: ClassVar[bool] = True
    additive_counts: ClassVar[bool] = True  # `expected_counts` is a sum over tasks

    # The model ---------------------------------------------------------------------------------

    @abstractmethod
    def pseudo_counts(self, votes: Votes) -> Stats:
        """The prior as pseudo-counts, shaped like `expected_counts`."""

    @abstractmethod
    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        """Sufficient statistics of the M-step, given the posterior (tasks, states)."""

    @abstractmethod
    def m_step(self, stats: Stats, params: Params | None) -> Params:
        """Parameters that maximize the expected objective, or raise it above that of the last ones."""

    @abstractmethod
    def log_joint(self, votes: Votes, params: Params) -> Floats:
        """Log P(state, votes) of each task, (tasks, states): of classes, or of classes x hidden kinds."""

    @abstractmethod
    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        """Log-density of the parameters under the prior, up to a constant."""

    def initial_posterior(self, votes: Votes) -> Floats:
        """Class probabilities to start at if there is no earlier result, (tasks, classes)."""
        return votes.shares()

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        """One posterior (tasks, states) for each restart, given class probabilities to start at."""
        yield probs

    def normalize_(self, log_joint: Floats) -> float:
        """Turn `log_joint` into the posterior in place; return the log-likelihood."""
        return softmax_(log_joint)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        """The result, given the final parameters and the posterior (tasks, states)."""
        probs = class_posterior(votes, posterior)
        return Aggregate(votes, probs, expected_worker_accuracy(votes, probs), params._asdict())

    # The algorithm -----------------------------------------------------------------------------

    @property
    def n_restarts(self) -> int:
        """Number of starting points; the restart with the highest objective is kept."""
        return 1

    def run_on(
        self, backend: Backend | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        return self.run(votes, start, history, backend or IN_MEMORY)

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, backend: Backend = IN_MEMORY
    ) -> Aggregate:
        if self.prior != "estimated":
            fixed_prior(self.prior, len(votes.classes))  # refuse a wrong one before any work
        pseudo_counts = self.pseudo_counts(votes)
        if history is not None:
            pseudo_counts = sum_stats([pseudo_counts, self.history_counts(votes, history)])
        probs = self.initial_posterior(votes) if start is None else starting_probs(votes, start)
        loaded = backend.load(self, votes, probs)
        best = self.best_restart(loaded, pseudo_counts)
        result = self.to_result(votes, loaded.to_host(best.params), loaded.posterior(self, best.params))
        params = result.params
        if self.uses_history:
            params = {**params, "stats": loaded.to_host(best.stats)}
        return replace(result, params=params, trace=tuple(best.trace), converged=best.converged)

    def best_restart(
        self, loaded: LoadedVotes, pseudo_counts: Stats, callback: Callback = no_callback
    ) -> Restart:
        """Run EM from each starting point, and return the run with the highest objective.

        Parameters
        ----------
        loaded
            Votes on a backend.
        pseudo_counts
            The prior, with the history of workers if there is one.
        callback
            Called with the objective after each iteration.
        """
        pseudo_counts = loaded.to_backend(pseudo_counts)
        restarts = (self._iterate(loaded, pseudo_counts, n, callback) for n in range(self.n_restarts))
        best = max(restarts, key=lambda restart: restart.trace[-1])
        if not best.converged:
            self.warn_not_converged(self.max_iter)
        return best

    def _iterate(
        self, loaded: LoadedVotes, pseudo_counts: Stats, restart: int, callback: Callback
    ) -> Restart:
        """EM from one starting point until the objective converges."""
        accelerate = loaded.n_votes >= LARGE_FIT_VOTES if self.accelerate is None else self.accelerate
        squarem = Squarem(loaded.initial_counts(self, restart), accelerate)
        trace: list[float] = []
        params = None
        converged = False
        for _ in range(self.max_iter):
            new_params = self.m_step(sum_stats([squarem.counts, pseudo_counts]), params)
            counts, log_likelihood = loaded.iterate(self, new_params)
            objective = log_likelihood + self.log_prior(pseudo_counts, new_params)
            if squarem.extrapolated and not objective >= trace[-1]:
                squarem.reject()
                continue
            trace.append(objective)
            callback(objective)
            params, stats = new_params, counts
            if len(trace) > 1 and not squarem.extrapolated:
                converged = trace[-1] - trace[-2] <= self.tol * loaded.n_votes
            if converged:
                break
            squarem.accept(counts)
        return Restart(params, stats, trace, converged)

    def e_step(self, votes: Votes, params: Params) -> tuple[Stats, float]:
        """Expected counts and log-likelihood of the votes under these parameters."""
        posterior = self.log_joint(votes, params)
        apply_gold_(votes, posterior)
        log_likelihood = self.normalize_(posterior)
        return self.expected_counts(votes, posterior), log_likelihood

    def posterior(self, votes: Votes, params: Params) -> Floats:
        """Posterior of each task under these parameters, (tasks, states)."""
        posterior = self.log_joint(votes, params)
        apply_gold_(votes, posterior)
        self.normalize_(posterior)
        return posterior

    def history_counts(self, votes: Votes, history: Aggregate) -> Stats:
        """Expected counts of an earlier result for these workers; the classes of its tasks do not count."""
        counts = (align_workers(votes, history, old) for old in history.params["stats"][1:])
        return np.zeros(len(votes.classes)), *counts

    def class_prior(self, class_counts: Floats) -> Floats:
        """Probability of each class, given its expected number of tasks."""
        if self.prior == "estimated":
            share: Floats = class_counts / class_counts.sum()
            return share
        return fixed_prior(self.prior, len(class_counts))


class Restart(NamedTuple):
    """Where EM has led from one starting point."""

    params: Params
    stats: Stats  # expected counts, without pseudo-counts
    trace: list[float]  # the objective after each iteration
    converged: bool


def random_weight_restarts(votes: Votes, probs: Floats, restarts: int, seed: int) -> Iterator[Floats]:
    """The given probabilities, then vote shares with exponentially distributed weights of workers."""
    yield probs
    rng = np.random.default_rng(seed)
    for _ in range(1, restarts):
        weight = rng.standard_exponential(len(votes.workers))
        yield votes.clamp(to_probs(votes.tally(weight[votes.worker])))


def class_posterior(votes: Votes, posterior: Floats) -> Floats:
    """Posterior of the classes (tasks, classes), summed over the hidden kinds of each class."""
    K = len(votes.classes)
    if posterior.shape[1] == K:
        return posterior
    probs: Floats = posterior.reshape(len(posterior), K, posterior.shape[1] // K).sum(axis=2)
    return probs


def apply_gold_(votes: Votes, log_joint: Floats) -> None:
    """Make every other class impossible, in place, for tasks whose class is known."""
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold >= 0)
        states = log_joint.reshape(len(log_joint), len(votes.classes), -1)  # a view: it is contiguous
        truth = states[known, votes.gold[known]]
        states[known] = -np.inf
        states[known, votes.gold[known]] = truth
