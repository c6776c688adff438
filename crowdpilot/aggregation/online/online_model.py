"""Online models: expected counts of each worker and how one vote changes them; the base classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import mean_log
from crowdpilot.aggregation.online.forgetting import Forgetting
from crowdpilot.aggregation.online.vote_log import Integers
from crowdpilot.arrays import Codes, Floats
from crowdpilot.growing_arrays import append_rows
from crowdpilot.votes import Votes


class OnlineModel:
    """The expected counts of a model, what a vote adds to them, and the scores they give to tasks.

    Every array that `counts` names has a row for each worker. With exponential forgetting, counts are
    multiplied by `scale`, (votes,), where they are used.

    Parameters
    ----------
    model
        The settings.
    K
        Number of classes.
    """

    counts: ClassVar[tuple[str, ...]] = ("vote_weight",)
    saved: ClassVar[dict[str, str]]  # field of a snapshot -> attribute
    keeps_posterior: ClassVar[bool] = False  # with forgetting, a task keeps the posterior of its last vote

    def __init__(self, model: Any, K: int) -> None:
        self.model, self.K, self.states = model, K, K
        self.class_counts = np.zeros(K)  # expected number of tasks of each class
        self.vote_weight = np.zeros(0)  # weight of the votes of each worker

    def add_workers(self, names: Sequence[Any]) -> None:
        """Counts of zero for more workers."""
        for name in self.counts:
            array = getattr(self, name)
            setattr(self, name, append_rows(array, np.zeros((len(names), *array.shape[1:]))))

    def vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        """Log P(label | state) of each vote, (votes, states); the vote itself in models without likelihood.

        With `prior_scores` they add up to the scores of a task.
        """
        raise NotImplementedError

    def prior_scores(self) -> Floats:
        """Log P(state), (states,): the scores of a task without votes."""
        return np.zeros(self.states)

    def posterior(self, scores: Floats, gold: Codes) -> Floats:
        """Posterior of each task from its scores, (tasks, states); `gold` is -1 where it is not known."""
        raise NotImplementedError

    def add_counts_(self, worker: Integers, label: Integers, change: Floats) -> None:
        """Add the posterior of the tasks of votes, (votes, states), or its change, to the counts."""
        raise NotImplementedError

    def final_vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        """As `vote_scores`, for the probabilities of the result."""
        return self.vote_scores(worker, label, scale)

    def final_probs(self, scores: Floats, gold: Codes) -> Floats:
        """Class probabilities of the result, (tasks, classes)."""
        posterior = self.posterior(scores, gold)
        probs: Floats = posterior.reshape(len(posterior), self.K, self.states // self.K).sum(axis=2)
        return probs

    def update_params_(self, worker: Integers, forgetting: Forgetting) -> None:
        """Update parameters of workers that have no closed form in the counts."""

    def skill(self, worker: Integers, scale: Floats) -> Floats:
        """Accuracy of workers; NaN for those without votes."""
        raise NotImplementedError


class OnlineEM(OnlineModel):
    """A model fitted by incremental EM; `stats` are its expected counts in the shape of the batch model."""

    keeps_posterior = True
    needs_smoothing: ClassVar[bool] = True  # positive pseudo-counts, so that no probability is zero

    def __init__(self, model: Any, K: int) -> None:
        super().__init__(model, K)
        self.pseudo_counts: Stats = model.pseudo_counts(_one_worker(K))
        if self.needs_smoothing and not all((counts > 0).all() for counts in self.pseudo_counts):
            raise ValueError(
                f"{model} gives probability zero to what was never seen; a stream needs smoothing above 0"
            )

    def prior_scores(self) -> Floats:
        class_counts = self.class_counts + self.pseudo_counts[0]
        if getattr(self.model, "variational", False) and self.model.prior == "estimated":
            return mean_log(class_counts)
        log_class_prior: Floats = np.log(self.model.class_prior(class_counts))
        return log_class_prior

    def posterior(self, scores: Floats, gold: Codes) -> Floats:
        return row_softmax(self.apply_gold(scores, gold))

    def apply_gold(self, scores: Floats, gold: Codes) -> Floats:
        """The same scores with minus infinity for all but the known class."""
        if gold.max(initial=-1) < 0:
            return scores
        states = scores.reshape(len(scores), self.K, self.states // self.K)
        other = (gold >= 0)[:, None] & (np.arange(self.K) != gold[:, None])
        return np.where(other[:, :, None], -np.inf, states).reshape(scores.shape)

    def stats(self, scale: Floats) -> Stats:
        """Expected counts of all workers, shaped like `EM.expected_counts`."""
        raise NotImplementedError

    def adopt(self, result: Aggregate) -> None:
        """Take over the parameters of a batch result that do not follow from the counts."""

    def params(self, counts: Stats) -> Params:
        """Parameters for expected counts plus pseudo-counts."""
        return self.model.m_step(counts, None)


def clamped(probs: Floats, gold: Codes) -> Floats:
    """The same probabilities, but one on the known class where there is one."""
    if gold.max(initial=-1) < 0:
        return probs
    return np.where((gold >= 0)[:, None], np.eye(probs.shape[1])[gold], probs)


def row_softmax(scores: Floats) -> Floats:
    """Softmax of each row."""
    probs: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    probs /= probs.sum(axis=1, keepdims=True)
    return probs


def add_rows_(table: Floats, rows: Integers, values: Floats) -> None:
    """Add each row of values to a row of the table, in place; a row may be named more than once."""
    width = values.shape[1]
    if len(rows) == 1:
        table.reshape(-1, width)[rows[0]] += values[0]
        return
    cells = rows[:, None] * width + np.arange(width)
    np.add.at(table.reshape(-1), cells.ravel(), values.ravel())  # many times as fast as for whole rows


def _one_worker(K: int) -> Votes:
    """No votes, of one worker: their pseudo-counts are those of every worker."""
    none = np.zeros(0, np.int32)
    return Votes(none, none, none, none, np.zeros(1, np.int32), np.arange(K))
