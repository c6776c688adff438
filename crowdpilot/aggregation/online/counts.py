"""Tally: what is counted of the votes of a stream, by number, and kept exact while they come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.online.base import Rule
from crowdpilot.aggregation.online.forgetting import Fading
from crowdpilot.aggregation.online.vote_log import Book, Rows
from crowdpilot.arrays import Codes, Floats, sum_by, to_probs
from crowdpilot.growing_arrays import grown

GRAIN = 2.0**-26  # what is counted comes in whole multiples of it: sums are exact, and can be undone
CHUNK = 65536  # votes that are counted at once


class Tally:
    """Votes, what is believed of their tasks, and the counts that follow from both.

    At every moment the counts are the sum over all votes of what is believed of their tasks.

    Parameters
    ----------
    rule
        What is counted.
    half_life
        In votes of a worker; see `Fading`.
    """

    def __init__(self, rule: Rule, half_life: float) -> None:
        self.rule, self.fading = rule, Fading(half_life)
        self.book = Book(weight=float, turn=np.int32)
        self.belief = np.zeros((0, rule.states))  # zero for a task without votes
        self.known: Codes = np.zeros(0, np.int32)  # the class of each task, -1 where it is not known

    def meet(self, tasks: int, workers: list[Any]) -> None:
        """So many more tasks, and these workers."""
        if tasks:
            self.known = grown(self.known, np.full(tasks, -1))
            self.belief = grown(self.belief, np.zeros((tasks, self.rule.states)))
            self.book.last = grown(self.book.last, np.full(tasks, -1))
        if workers:
            self.fading.enlist(len(workers))
            self.rule.enlist(workers)

    def add(self, task: Rows, worker: Rows, label: Rows, weight: Floats) -> None:
        """New votes, no two of the same worker on a task, and none there already."""
        self._change_units(worker)
        turn = self.fading.tick(worker)
        first = self.book.add(task, worker, label, weight=weight, turn=turn)
        self.renew(np.unique(task) if len(task) > 1 else task, first)
        np.add.at(self.rule.given, worker, rounded(weight * self.fading.factor(worker, turn)))

    def _change_units(self, worker: Rows) -> None:
        late, unit = self.fading.change_units(worker)
        for name in self.rule.counts if len(late) else ():
            counts = getattr(self.rule, name)
            counts[late] *= unit.reshape(-1, *[1] * (counts.ndim - 1))

    def drop(self, rows: Rows) -> None:
        """Take votes back; their tasks are judged anew by `renew`."""
        book = self.book
        worker, factor = book.worker[rows], self._factor(rows)
        np.add.at(self.rule.given, worker, -rounded(factor))
        self.rule.count_(worker, book.label[rows], -rounded(self.belief[book.task[rows]] * factor[:, None]))
        book.drop(rows.tolist())

    def renew(self, tasks: Rows, first: int | None = None) -> None:
        """Judge tasks by all their votes, of which those from row `first` on are not counted yet."""
        rows, place = self.book.of(tasks)
        worker, label, factor = self.book.worker[rows], self.book.label[rows], self._factor(rows)[:, None]
        scores = self._add_up(
            rows, place, len(tasks), self.rule.says(worker, label, self.fading.scale(worker))
        )
        old, new = self.belief[tasks], rounded(self.rule.believe(scores, self.known[tasks]))
        if first is None:
            new[self.book.last[tasks] < 0] = 0
        before = old[place]
        before[rows >= (len(self.book.task) if first is None else first)] = 0
        self.rule.count_(worker, label, rounded(new[place] * factor) - rounded(before * factor))
        self.rule.seen += self.by_class(new - old).sum(axis=0)
        self.belief[tasks] = new
        self.rule.learn_(worker, self.fading)

    def show(self, tasks: Rows) -> Floats:
        """Probabilities of the classes of tasks, (tasks, classes)."""
        rows, place = self.book.of(tasks)
        worker, label = self.book.worker[rows], self.book.label[rows]
        told = self.rule.tells(worker, label, self.fading.scale(worker))
        shown = self.rule.show(self._add_up(rows, place, len(tasks), told), self.known[tasks])
        return np.where(self.dated(tasks)[:, None], to_probs(self.by_class(self.belief[tasks])), shown)

    def dated(self, tasks: Rows) -> NDArray[np.bool_]:
        """Of which of these tasks that is shown which was believed at their last vote."""
        return (self.book.last[tasks] >= 0) & (self.fading.fades and self.rule.dated)

    def _add_up(self, rows: Rows, place: Rows, tasks: int, said: Floats) -> Floats:
        """The scores of tasks, (tasks, states), given what their votes say."""
        said = said * self.book.more["weight"][rows, None]
        if tasks == 1:
            one: Floats = said.sum(axis=0, keepdims=True) + self.rule.start()
            return one
        S = self.rule.states
        cells = (place[:, None] * S + np.arange(S)).ravel()
        return sum_by(cells, said.ravel(), tasks * S).reshape(-1, S) + self.rule.start()

    def _factor(self, rows: Rows) -> Floats:
        factor: Floats = self.book.more["weight"][rows]
        if not self.fading.fades:
            return factor
        return factor * self.fading.factor(self.book.worker[rows], self.book.more["turn"][rows])

    def by_class(self, belief: Floats) -> Floats:
        """Beliefs of the classes alone."""
        if self.rule.states == self.rule.K:
            return belief
        by_class: Floats = belief.reshape(len(belief), self.rule.K, self.rule.states // self.rule.K).sum(
            axis=2
        )
        return by_class

    def recount(self, belief: Floats) -> None:
        """Go on from other beliefs, (tasks, states), of all tasks."""
        self.belief = rounded(belief)
        self.belief[self.book.last < 0] = 0
        self.rule.seen = self.by_class(self.belief).sum(axis=0)
        for name in self.rule.counts:
            getattr(self.rule, name)[:] = 0
        all_rows = np.flatnonzero(self.book.label >= 0)
        for n in range(0, len(all_rows), CHUNK):
            rows = all_rows[n : n + CHUNK]
            worker, label, factor = self.book.worker[rows], self.book.label[rows], self._factor(rows)
            np.add.at(self.rule.given, worker, rounded(factor))
            self.rule.count_(worker, label, rounded(self.belief[self.book.task[rows]] * factor[:, None]))

    def state(self) -> list[dict[str, Any]]:
        """All that is needed to go on."""
        return [{name: getattr(part, name) for name in names} for part, names in self._parts()]

    def resume(self, state: list[dict[str, Any]]) -> None:
        """Go on from a state."""
        for (part, names), kept in zip(self._parts(), state, strict=True):
            for name in names:
                setattr(part, name, kept[name])

    def _parts(self) -> list[tuple[Any, tuple[str, ...]]]:
        return [
            (self, ("belief", "known")),
            (self.book, ("task", "worker", "label", "before", "last", "more", "empty")),
            (self.fading, ("turn", "base")),
            (self.rule, ("seen", *self.rule.counts, *self.rule.found)),
        ]


def rounded(values: Floats) -> Floats:
    """The nearest whole multiples of the grain."""
    whole: Floats = np.rint(values * (1 / GRAIN))
    whole *= GRAIN
    return whole
