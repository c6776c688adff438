"""StreamCounts: expected counts of the votes of a stream, kept exact while votes are added and deleted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.online.forgetting import Forgetting
from crowdpilot.aggregation.online.online_model import OnlineModel
from crowdpilot.aggregation.online.vote_log import Integers, VoteLog
from crowdpilot.arrays import Codes, Floats, sum_by, to_probs
from crowdpilot.growing_arrays import append_rows

COUNT_QUANTUM = 2.0**-26  # counts are multiples of it: sums are exact, and can be undone
VOTES_PER_RECOUNT_CHUNK = 65536


class StreamCounts:
    """Votes, the posteriors of their tasks, and the expected counts (sufficient statistics) of both.

    The counts are at all times the sum over all votes of the posterior of their tasks.

    Parameters
    ----------
    model
        What is counted.
    half_life
        In votes of a worker; see `Forgetting`.
    """

    def __init__(self, model: OnlineModel, half_life: float) -> None:
        self.model, self.forgetting = model, Forgetting(half_life)
        self.log = VoteLog(weight=float, clock=np.int32)
        self.posterior = np.zeros((0, model.states))  # (tasks, states); zero for a task without votes
        self.gold: Codes = np.zeros(0, np.int32)  # the class of each task, -1 where it is not known

    def add_names(self, tasks: int, workers: list[Any]) -> None:
        """Make room for so many more tasks, and for these workers."""
        if tasks:
            self.gold = append_rows(self.gold, np.full(tasks, -1))
            self.posterior = append_rows(self.posterior, np.zeros((tasks, self.model.states)))
            self.log.last = append_rows(self.log.last, np.full(tasks, -1))
        if workers:
            self.forgetting.add_workers(len(workers))
            self.model.add_workers(workers)

    def add(self, task: Integers, worker: Integers, label: Integers, weight: Floats) -> None:
        """Add votes, no two of the same worker on a task, and none there already."""
        self._change_units(worker)
        clock = self.forgetting.advance(worker)
        first = self.log.add(task, worker, label, weight=weight, clock=clock)
        self.update(np.unique(task) if len(task) > 1 else task, first)
        counted = rounded(weight * self.forgetting.factor(worker, clock))
        np.add.at(self.model.vote_weight, worker, counted)

    def _change_units(self, worker: Integers) -> None:
        late, unit = self.forgetting.change_units(worker)
        for name in self.model.counts if len(late) else ():
            counts = getattr(self.model, name)
            counts[late] *= unit.reshape(-1, *[1] * (counts.ndim - 1))

    def delete(self, rows: Integers) -> None:
        """Delete votes and their counts; `update` recomputes the posterior of their tasks."""
        log = self.log
        worker, factor = log.worker[rows], self._factor(rows)
        np.add.at(self.model.vote_weight, worker, -rounded(factor))
        counted = rounded(self.posterior[log.task[rows]] * factor[:, None])
        self.model.add_counts_(worker, log.label[rows], -counted)
        log.delete(rows.tolist())

    def update(self, tasks: Integers, first: int | None = None) -> None:
        """Partial E-step: recompute the posterior of tasks, and replace their part of the counts.

        Votes from row `first` on are not counted yet.
        """
        rows, position = self.log.rows_of(tasks)
        worker, label, factor = self.log.worker[rows], self.log.label[rows], self._factor(rows)[:, None]
        vote_scores = self.model.vote_scores(worker, label, self.forgetting.scale(worker))
        scores = self._scores(rows, position, len(tasks), vote_scores)
        old, new = self.posterior[tasks], rounded(self.model.posterior(scores, self.gold[tasks]))
        if first is None:
            new[self.log.last[tasks] < 0] = 0
        counted = old[position]
        counted[rows >= (len(self.log.task) if first is None else first)] = 0
        change = rounded(new[position] * factor) - rounded(counted * factor)
        self.model.add_counts_(worker, label, change)
        self.model.class_counts += self.class_posterior(new - old).sum(axis=0)
        self.posterior[tasks] = new
        self.model.update_params_(worker, self.forgetting)

    def probs(self, tasks: Integers) -> Floats:
        """Class probabilities of tasks, (tasks, classes), by the current parameters of workers."""
        rows, position = self.log.rows_of(tasks)
        worker, label = self.log.worker[rows], self.log.label[rows]
        vote_scores = self.model.final_vote_scores(worker, label, self.forgetting.scale(worker))
        scores = self._scores(rows, position, len(tasks), vote_scores)
        probs = self.model.final_probs(scores, self.gold[tasks])
        kept = to_probs(self.class_posterior(self.posterior[tasks]))
        return np.where(self.keeps_posterior(tasks)[:, None], kept, probs)

    def keeps_posterior(self, tasks: Integers) -> NDArray[np.bool_]:
        """Which of these tasks keep the posterior that they had at their last vote."""
        return (self.log.last[tasks] >= 0) & (self.forgetting.active and self.model.keeps_posterior)

    def _scores(self, rows: Integers, position: Integers, tasks: int, vote_scores: Floats) -> Floats:
        """The scores of tasks, (tasks, states): of the prior, plus those of the votes times their weight."""
        weighted = vote_scores * self.log.extra["weight"][rows, None]
        if tasks == 1:
            one: Floats = weighted.sum(axis=0, keepdims=True) + self.model.prior_scores()
            return one
        S = self.model.states
        cells = (position[:, None] * S + np.arange(S)).ravel()
        return sum_by(cells, weighted.ravel(), tasks * S).reshape(-1, S) + self.model.prior_scores()

    def _factor(self, rows: Integers) -> Floats:
        """For how much each vote counts: its weight, times the factor of forgetting."""
        factor: Floats = self.log.extra["weight"][rows]
        if not self.forgetting.active:
            return factor
        return factor * self.forgetting.factor(self.log.worker[rows], self.log.extra["clock"][rows])

    def class_posterior(self, posterior: Floats) -> Floats:
        """Posterior of the classes (tasks, classes), summed over the hidden kinds of each class."""
        K, S = self.model.K, self.model.states
        if S == K:
            return posterior
        probs: Floats = posterior.reshape(len(posterior), K, S // K).sum(axis=2)
        return probs

    def recount(self, posterior: Floats) -> None:
        """Set the posterior of all tasks, (tasks, states), and recompute all counts."""
        self.posterior = rounded(posterior)
        self.posterior[self.log.last < 0] = 0
        self.model.class_counts = self.class_posterior(self.posterior).sum(axis=0)
        for name in self.model.counts:
            getattr(self.model, name)[:] = 0
        all_rows = np.flatnonzero(self.log.label >= 0)
        for n in range(0, len(all_rows), VOTES_PER_RECOUNT_CHUNK):
            rows = all_rows[n : n + VOTES_PER_RECOUNT_CHUNK]
            worker, label, factor = self.log.worker[rows], self.log.label[rows], self._factor(rows)
            np.add.at(self.model.vote_weight, worker, rounded(factor))
            counted = rounded(self.posterior[self.log.task[rows]] * factor[:, None])
            self.model.add_counts_(worker, label, counted)


def rounded(values: Floats) -> Floats:
    """The nearest multiples of `COUNT_QUANTUM`."""
    whole: Floats = np.rint(values * (1 / COUNT_QUANTUM))
    whole *= COUNT_QUANTUM
    return whole
