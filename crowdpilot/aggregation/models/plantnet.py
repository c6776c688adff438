"""Pl@ntNet's rule: weights grow with the classes that a worker identified; tasks become valid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.earlier_results import align_workers, starting_probs
from crowdpilot.arrays import TIE, Floats, share_best, to_probs
from crowdpilot.names import lookup, to_names
from crowdpilot.votes import Votes

Mode = Literal["ignored", "worker", "fixed", "invalidating", "confident"]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class PlantNet(Aggregator):
    """The majority, each worker weighted by how many classes they have identified, in turns.

    weight[j] = n[j]^alpha - n[j]^beta + gamma, where n[j] counts the classes of valid tasks to which j
    gave the label. The label of a task is the class with the most weight; the task is valid if that
    weight is above theta_conf and its share above theta_acc. P(k) is that share, for valid tasks and
    others alike; `params["valid"]` (tasks,) tells them apart. A task whose class is known is valid.

    Pl@ntNet has the classes of a worker's own observations count ten times those of their other votes;
    nothing here says whose observation a task is, so every worker is a plain voter and every class
    counts one. The skill of a worker is the share of their labels that win.

    Parameters
    ----------
    alpha, beta, gamma
        Shape of the weight; gamma is that of a newcomer.
    theta_conf, theta_acc
        What the weight and the share of a label must exceed for its task to be valid.
    AI
        What the votes of the classifier do: "ignored" leaves them out, "worker" treats them like any
        others, "fixed" gives them the weight `ai_weight`, "invalidating" too, but they can only
        make a task invalid, by voting against its label, "confident" is "fixed" for those whose
        score is above `theta_score`; the score is the weight of the vote in the data.
    ai_worker, ai_weight, theta_score
        The name of the classifier among the workers, its fixed weight, and what its score must exceed.
    counts
        Whether n[j] counts different "classes", as in the paper, or "tasks".
    max_iter
        Largest number of iterations.

    References
    ----------
    Lefort et al., Cooperative learning of Pl@ntNet's Artificial Intelligence algorithm: how does it
    work and how can we improve it?, 2024. https://arxiv.org/abs/2406.03356

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 2, 2], list("xyzxy"), ["oak", "oak", "oak", "elm", "elm"])
    >>> PlantNet().fit(votes).params["valid"].tolist()
    [True, False]
    """

    alpha: float = 0.5
    beta: float = 0.2
    gamma: float = math.log(2.1)
    theta_conf: float = 2.0
    theta_acc: float = 0.7
    AI: Mode = "ignored"
    ai_worker: Any = "AI"
    ai_weight: float = 1.7
    theta_score: float = 0.7
    counts: Literal["classes", "tasks"] = "classes"
    max_iter: int = 100

    name: ClassVar[str] = "plantnet"
    warm_start: ClassVar[bool] = True
    uses_history: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("weight",)
    per_task: ClassVar[tuple[str, ...]] = ("valid",)

    def __post_init__(self) -> None:
        if self.max_iter < 1:
            raise ValueError(f"max_iter is {self.max_iter}, expected 1 or more")
        if self.AI not in get_args(Mode):
            raise ValueError(f"AI is {self.AI!r}, expected one of {', '.join(get_args(Mode))}")
        if self.counts not in ("tasks", "classes"):
            raise ValueError(f"counts is {self.counts!r}, expected tasks or classes")

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        classifier = self._find_classifier(votes)
        votes, against = self._counted_votes(votes, classifier)
        past = _right_in(votes, history)
        right = self._starting_right(votes, start)
        for _ in range(self.max_iter):
            weight = self._worker_weights(right + past, classifier)
            tally = votes.tally(weight[votes.worker])
            labels = votes.clamp(share_best(tally))
            valid = self._validate(votes, tally, labels, against)
            before, right = right, _count_right(votes, labels * valid[:, None])
            if converged := bool(np.abs(right - before).max(initial=0) < TIE):
                break
        else:
            converged = False
            self.warn_not_converged(self.max_iter)
        params = {"valid": valid, "weight": weight, "right": right}
        probs = votes.clamp(to_probs(tally))
        return Aggregate(votes, probs, expected_worker_accuracy(votes, labels), params, converged=converged)

    def _find_classifier(self, votes: Votes) -> Bools:
        """Which of the workers is the classifier, (workers,)."""
        classifier: Bools = lookup(votes.workers, to_names([self.ai_worker])) == 0
        if self.AI != "ignored" and not classifier.any():
            raise ValueError(f"AI is {self.AI!r}, but no worker is called {str(self.ai_worker)!r}")
        return classifier

    def _counted_votes(self, votes: Votes, classifier: Bools) -> tuple[Votes, Floats]:
        """The votes that count for labels, and the classifier's weight on each class, (tasks, classes)."""
        by_classifier = classifier[votes.worker]
        against = votes.tally(
            np.where(by_classifier, self.ai_weight if self.AI == "invalidating" else 0.0, 0.0)
        )
        if self.AI in ("ignored", "invalidating"):
            return votes.take(~by_classifier), against
        if self.AI == "confident":
            sure = replace(votes, weight=np.where(by_classifier, 1.0, votes.weights))
            return sure.take(~by_classifier | (votes.weights > self.theta_score)), against
        return votes, against

    def _starting_right(self, votes: Votes, start: Aggregate | None) -> Floats:
        """Number of tasks of each class that workers got right in an earlier result, (workers, classes)."""
        if start is None:
            return np.zeros((len(votes.workers), len(votes.classes)))
        labels = share_best(starting_probs(votes, start))
        same = list(map(str, start.votes.classes)) == list(map(str, votes.classes))
        return _right_in(votes, start) if same and "right" in start.params else _count_right(votes, labels)

    def _worker_weights(self, right: Floats, classifier: Bools) -> Floats:
        n = (np.minimum(right, 1) if self.counts == "classes" else right).sum(axis=1)
        weight = np.maximum(n**self.alpha - n**self.beta + self.gamma, 0)
        return np.where(classifier, self.ai_weight, weight) if self.AI in ("fixed", "confident") else weight

    def _validate(self, votes: Votes, tally: Floats, labels: Floats, against: Floats) -> Bools:
        """Whether the label of each task is valid, (tasks,)."""
        weight = (tally * labels).sum(axis=1)
        total = tally.sum(axis=1) + (against * (1 - labels)).sum(axis=1)
        valid: Bools = (weight > self.theta_conf + TIE) & (weight > self.theta_acc * total + TIE)
        return valid if votes.gold is None else valid | (votes.gold >= 0)


def _count_right(votes: Votes, labels: Floats) -> Floats:
    """How many tasks of each class every worker got right, (workers, classes)."""
    K = len(votes.classes)
    right = votes.weights * labels[votes.task, votes.label]
    return np.asarray(np.bincount(votes.cell, right, len(votes.workers) * K), np.float64).reshape(-1, K)


def _right_in(votes: Votes, result: Aggregate | None) -> Floats:
    """How many tasks of each class these workers got right in an earlier result, (workers, classes)."""
    if result is None:
        return np.zeros((len(votes.workers), len(votes.classes)))
    return align_workers(votes, result, result.params["right"])
