"""What a stream counts of its votes, whatever the model: the frame that each model fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import mean_log
from crowdpilot.aggregation.online.forgetting import Fading
from crowdpilot.aggregation.online.vote_log import Rows
from crowdpilot.arrays import Codes, Floats
from crowdpilot.growing_arrays import grown
from crowdpilot.votes import Votes


class Rule:
    """What is counted of each worker, what a vote adds to it, and what their votes say then.

    Every array that `counts` names has a row for each worker. Counts that fade are multiplied by `scale`,
    (votes,), where they are used.

    Parameters
    ----------
    model
        The settings.
    K
        How many classes.
    """

    counts: ClassVar[tuple[str, ...]] = ("given",)
    found: ClassVar[tuple[str, ...]] = ()  # other arrays of the kind, which follow from votes too

    dated: ClassVar[bool] = False  # if votes fade, a task is shown as believed at its last vote

    def __init__(self, model: Any, K: int) -> None:
        self.model, self.K, self.states = model, K, K
        self.seen = np.zeros(K)  # how many tasks there are of each class, as believed
        self.given = np.zeros(0)  # how many votes each worker gave

    def enlist(self, names: Sequence[Any]) -> None:
        """More workers."""
        for name in self.counts:
            array = getattr(self, name)
            setattr(self, name, grown(array, np.zeros((len(names), *array.shape[1:]))))

    def says(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        """What votes say of their tasks, (votes, states): with `start` it adds up to the score of a task."""
        raise NotImplementedError

    def start(self) -> Floats:
        """The score of a task without votes, (states,)."""
        return np.zeros(self.states)

    def believe(self, scores: Floats, gold: Codes) -> Floats:
        """What counts as believed, (tasks, states), where the class is known if `gold` is not -1."""
        raise NotImplementedError

    def count_(self, worker: Rows, label: Rows, change: Floats) -> None:
        """Add what is believed of the tasks of votes, (votes, states), or the change of it."""
        raise NotImplementedError

    def tells(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        """As `says`, for what is shown to people."""
        return self.says(worker, label, scale)

    def show(self, scores: Floats, gold: Codes) -> Floats:
        """As `believe`, of classes, for what is shown to people."""
        belief = self.believe(scores, gold)
        shown: Floats = belief.reshape(len(belief), self.K, self.states // self.K).sum(axis=2)
        return shown

    def learn_(self, worker: Rows, fading: Fading) -> None:
        """Find out anew what cannot be read from the counts of workers at once."""

    def skill(self, worker: Rows, scale: Floats) -> Floats:
        """How often workers are right; NaN for those without votes."""
        raise NotImplementedError


class Expected(Rule):
    """A model fitted by EM: its expected counts, of which `stats` has the shape that its rounds use."""

    dated = True
    needs: ClassVar[bool] = True  # imaginary votes, so that no probability is zero

    def __init__(self, model: Any, K: int) -> None:
        super().__init__(model, K)
        self.pseudo: Stats = model.pseudo(_somebody(K))
        if self.needs and not all((counts > 0).all() for counts in self.pseudo):
            raise ValueError(
                f"{model} gives no chance to what was never seen; a stream needs smoothing above 0"
            )

    def start(self) -> Floats:
        seen = self.seen + self.pseudo[0]
        if getattr(self.model, "variational", False) and self.model.prior == "estimated":
            return mean_log(seen)
        prior: Floats = np.log(self.model.class_prior(seen))
        return prior

    def believe(self, scores: Floats, gold: Codes) -> Floats:
        return softmaxed(self.fixed(scores, gold))

    def fixed(self, scores: Floats, gold: Codes) -> Floats:
        """The same scores where classes that are known not to be are impossible."""
        if gold.max(initial=-1) < 0:
            return scores
        states = scores.reshape(len(scores), self.K, self.states // self.K)
        other = (gold >= 0)[:, None] & (np.arange(self.K) != gold[:, None])
        return np.where(other[:, :, None], -np.inf, states).reshape(scores.shape)

    def stats(self, scale: Floats) -> Stats:
        """The expected counts as the model has them, for all workers."""
        raise NotImplementedError

    def adopt(self, found: Aggregate) -> None:
        """Take over what the counts do not tell from a result."""

    def params(self, counts: Stats) -> Params:
        """What the model believes of workers, given their counts and the imaginary ones."""
        return self.model.maximize(counts, None)


def clamped(probs: Floats, gold: Codes) -> Floats:
    """The same probabilities, but certain where the class is known."""
    if gold.max(initial=-1) < 0:
        return probs
    return np.where((gold >= 0)[:, None], np.eye(probs.shape[1])[gold], probs)


def softmaxed(scores: Floats) -> Floats:
    """Rows of logs to rows of probabilities."""
    probs: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    probs /= probs.sum(axis=1, keepdims=True)
    return probs


def add_rows(table: Floats, rows: Rows, values: Floats) -> None:
    """Add each row of values to a row of the table, in place; a row may be named more than once."""
    width = values.shape[1]
    if len(rows) == 1:
        table.reshape(-1, width)[rows[0]] += values[0]
        return
    cells = rows[:, None] * width + np.arange(width)
    np.add.at(table.reshape(-1), cells.ravel(), values.ravel())  # many times as fast as for whole rows


def _somebody(K: int) -> Votes:
    """No votes, of one worker: for whom models say what they imagine of everybody."""
    none = np.zeros(0, np.int32)
    return Votes(none, none, none, none, np.zeros(1, np.int32), np.arange(K))
