"""KOS: Karger, Oh and Shah's message passing between tasks and workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.earlier_results import starting_probs
from crowdpilot.aggregation.truth_discovery import expect_positive
from crowdpilot.arrays import Codes, Floats, share_best, to_probs
from crowdpilot.votes import Votes

ROUNDING_ERROR = 1e-12  # a sum below this share of its parts is zero


class Edges(NamedTuple):
    """Edges between tasks and workers, each pair once, with the sign of their votes."""

    task: Codes
    worker: Codes
    sign: Floats  # weight of yes minus weight of no


@dataclass(frozen=True)
class KOS(Aggregator):
    """Messages between tasks and workers: what the other workers say, and how often a worker is right.

    With A[i, j] = 1 where worker *j* said yes to task *i* and -1 for no, in each iteration

    x[i to j] = sum of A[i, j'] y[j' to i] over the other workers j' of task i,
    y[j to i] = mean of A[i', j] x[i' to j] over the other tasks i' of worker j.

    A worker who is mostly wrong ends with negative messages, and the votes count for the opposite.
    The probability of yes is the share of the messages A[i, j] y[j to i] of the task that are
    positive, by size; where there is no message at all, the share of the votes. More than two
    classes are one such question for each class, yes being its label, and their shares are scaled
    to sum to one; with two classes the two questions are the same. Tasks of known class send messages
    as large as the largest.

    Parameters
    ----------
    max_iter
        Number of iterations; there is no objective that would say when to stop.
    average
        False takes sums for y too, as the paper does. It is the same when all workers have as many
        votes, as they have in the paper; otherwise the sums of workers with most votes dominate.
    spread
        Standard deviation of the first messages of workers around one, drawn by `seed`. The paper
        takes one; the result hardly depends on it, and with zero it is not random.
    seed
        Of the first messages, and of the hash that breaks ties between classes.

    References
    ----------
    Karger, Oh and Shah, Budget-optimal task allocation for reliable crowdsourcing systems,
    Operations Research 62(1), 2014. https://doi.org/10.1287/opre.2013.1235

    Examples
    --------
    The last worker is always wrong, and has a negative reliability:

    >>> task = np.repeat(np.arange(4), 4)
    >>> votes = Votes.of(task, list("wxyz") * 4, list("aaab" "bbba" "abab" "bbba"))
    >>> result = KOS().fit(votes)
    >>> result.labels.tolist()
    ['a', 'b', 'a', 'b']
    >>> result.params["reliability"].round(1).tolist()
    [0.5, 0.3, 0.5, -0.5]
    """

    max_iter: int = 10
    average: bool = True
    spread: float = 0.0

    name: ClassVar[str] = "kos"
    warm_start: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("reliability",)

    def __post_init__(self) -> None:
        expect_positive(self, "max_iter")

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        probs = None if start is None else starting_probs(votes, start)
        answers = [self.ask(votes, k, probs) for k in range(len(votes.classes))]
        yes, reliability = (np.stack(columns, axis=1) for columns in zip(*answers, strict=True))
        probs = votes.clamp(to_probs(yes))
        params = {"reliability": reliability.mean(axis=1)}
        return Aggregate(votes, probs, expected_worker_accuracy(votes, share_best(probs)), params)

    def ask(self, votes: Votes, k: int, start: Floats | None) -> tuple[Floats, Floats]:
        """The probability that each task is of class *k*, and the reliability of each worker, -1 to 1."""
        edges = to_edges(votes, k)
        y = 1 + self.spread * np.random.default_rng(self.seed).standard_normal(len(edges.sign))
        if start is not None:
            y = self.worker_messages(edges, 2 * start[edges.task, k] - 1)
        x = np.zeros_like(y)
        for _ in range(self.max_iter):
            x = scaled(others(edges.sign * y, edges.task))
            if votes.gold is not None:
                gold = votes.gold[edges.task]
                x = np.where(gold < 0, x, np.where(gold == k, 1.0, -1.0))
            y = scaled(self.worker_messages(edges, x))
        message, tasks, workers = edges.sign * y, len(votes.tasks), len(votes.workers)
        positive = add_up(np.maximum(message, 0), edges.task, tasks)
        yes = ratio(positive, add_up(np.abs(message), edges.task, tasks), votes.shares()[:, k])
        agreed = add_up(edges.sign * x, edges.worker, workers)
        return yes, ratio(agreed, votes.worker_sum(), np.zeros(workers))

    def worker_messages(self, edges: Edges, x: Floats) -> Floats:
        """The messages of workers to tasks, given those of tasks to workers."""
        y = others(edges.sign * x, edges.worker)
        return ratio(y, others(np.abs(edges.sign), edges.worker), y) if self.average else y


def to_edges(votes: Votes, k: int) -> Edges:
    """The pairs of merged votes, with label *k* for yes."""
    pair = votes.task.astype(np.int64) * len(votes.workers) + votes.worker
    new = np.diff(pair, prepend=-1) > 0
    sign = add_up(votes.weights * np.where(votes.label == k, 1.0, -1.0), np.cumsum(new) - 1)
    return Edges(votes.task[new], votes.worker[new], sign)


def add_up(values: Floats, group: NDArray[np.integer], groups: int = 0) -> Floats:
    """The sum of the values of each group."""
    return np.asarray(np.bincount(group, values, groups), np.float64)


def others(messages: Floats, group: Codes) -> Floats:
    """For each message the sum of the other messages of its group."""
    rest = add_up(messages, group)[group] - messages
    size = add_up(np.abs(messages), group)[group]
    return np.where(np.abs(rest) > ROUNDING_ERROR * size, rest, 0.0)


def scaled(messages: Floats) -> Floats:
    """The same messages, divided by the largest."""
    return messages / (np.abs(messages).max(initial=0) or 1.0)


def ratio(part: Floats, whole: Floats, otherwise: Floats) -> Floats:
    """`part` / `whole` where that is positive, `otherwise` elsewhere."""
    result: Floats = np.divide(part, whole, out=otherwise.copy(), where=whole > 0)
    return result
