"""CROWDLAB: a classifier and the workers as one weighted ensemble."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.classifier_probs import ClassifierAggregator
from crowdpilot.aggregation.models.wawa import Agreement, history_agreement
from crowdpilot.arrays import Floats, share_best, to_probs
from crowdpilot.votes import Votes

MIN_WEIGHT = 1e-6  # of the classifier and of each worker; also the least error of the baseline


@dataclass(frozen=True)
class Crowdlab(ClassifierAggregator):
    """Average the classifier and the votes, each weighted by how much better it is than a constant guess.

    P(k) is proportional to W m[k] + sum_j w[j] p(k | vote_j), with m the classifier's probabilities and
    p(k | vote) = A if k is the vote, (1 - A) / (K - 1) otherwise;

    w[j] = 1 - (1 - agree[j]) / E and W = (1 - error / E) sqrt(mean number of votes of a task), none of
    them below 0, where over the tasks with two votes or more: A is the mean share of a task's votes that
    are its consensus, agree[j] how often j agrees with the other workers, `error` how often the
    classifier differs from the consensus, and E how often the most common consensus class does.

    The consensus is the majority at first, its ties broken by the classifier, and the result of the last
    pass after that. On a task whose class is known that class is the consensus, and the vote of all other
    workers. If no task has two votes all tasks are used, and a worker who shares no task has the mean
    agreement.

    Parameters
    ----------
    probs
        The classifier's probabilities, as for `fit`.
    passes
        Number of passes, each with the result of the last one as the consensus. cleanlab takes
        labels from the first pass and scores from the second.

    References
    ----------
    Goh, Tkachenko and Mueller, CROWDLAB: supervised learning to infer consensus labels and quality
    scores for data with multiple annotators, 2022. https://arxiv.org/abs/2210.06812

    Examples
    --------
    >>> votes = Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), ["cat", "cat", "dog", "dog", "cat", "dog"])
    >>> Crowdlab().fit(votes, [[0.8, 0.2], [0.1, 0.9], [0.7, 0.3]]).labels.tolist()
    ['cat', 'dog', 'cat']
    """

    passes: int = 1

    name: ClassVar[str] = "crowdlab"
    uses_history: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("weight",)

    def __post_init__(self) -> None:
        if self.passes < 1:
            raise ValueError(f"the number of passes is {self.passes}, expected 1 or more")

    def __str__(self) -> str:
        return Aggregator.__str__(replace(self, probs=None))

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        classifier = self.probs_of(votes)
        own = _agreement(votes)
        agree = _mean_if_unknown(own.plus(history_agreement(votes, history)).rate())
        consensus = votes.clamp(share_best(np.where(share_best(votes.tally()) > 0, classifier, -1.0)))
        for _ in range(self.passes):
            weights = _weights(votes, classifier, agree, consensus)
            probs = votes.clamp(to_probs(_weighted_sum(votes, classifier, weights)))
            consensus = votes.clamp(share_best(probs))
        params = {"weight": weights.worker, "classifier_weight": weights.classifier, **own._asdict()}
        return Aggregate(votes, probs, expected_worker_accuracy(votes, probs), params)


class Weights(NamedTuple):
    """The weight of each worker and of the classifier, and the mean accuracy of a vote."""

    worker: Floats  # (workers,)
    classifier: float
    accuracy: float


def _agreement(votes: Votes) -> Agreement:
    """How often each worker agrees with the others, once for each pair of votes on a task."""
    tally = votes.tally()
    others = tally.sum(axis=1)[votes.task] - votes.weights
    same = tally[votes.task, votes.label] - votes.weights
    if votes.gold is not None:
        truth = votes.gold[votes.task]
        others = others + (truth >= 0)  # the gold label is one more vote, and all other workers agree with it
        same = np.where(truth >= 0, others * (truth == votes.label), same)
    return Agreement(votes.worker_sum(same), votes.worker_sum(others))


def _mean_if_unknown(agree: Floats) -> Floats:
    """The same agreement, with the mean for workers who have none."""
    known = ~np.isnan(agree)
    return np.where(known, agree, agree[known].mean() if known.any() else 1.0)


def _weights(votes: Votes, classifier: Floats, agree: Floats, consensus: Floats) -> Weights:
    """The weights, given the consensus class of each task."""
    tally = votes.tally()
    total = tally.sum(axis=1)
    if not total.any():
        return Weights(np.full(len(agree), MIN_WEIGHT), 1.0, 1.0)
    used = _informative_tasks(votes)
    share = (tally * consensus).sum(axis=1)[used] / total[used]
    missed = 1 - (share_best(classifier) * consensus).sum(axis=1)[used].mean()
    baseline = max(1 - consensus[used].mean(axis=0).max(), MIN_WEIGHT)
    worker = np.maximum(1 - (1 - agree) / baseline, MIN_WEIGHT)
    scale = np.sqrt(total[total > 0].mean())
    return Weights(worker, float(max(1 - missed / baseline, MIN_WEIGHT) * scale), float(share.mean()))


def _informative_tasks(votes: Votes) -> NDArray[np.bool_]:
    """Tasks with two votes, or with a vote and a gold label; if there are none, all with a vote."""
    count = np.bincount(votes.task, minlength=len(votes.tasks))
    used = count > 1 if votes.gold is None else count + (votes.gold >= 0) > 1
    used &= count > 0
    return used if used.any() else count > 0


def _weighted_sum(votes: Votes, classifier: Floats, weights: Weights) -> Floats:
    """The weighted sum of the classifier and all votes, (tasks, classes)."""
    weight = weights.worker[votes.worker]
    wrong = (1 - weights.accuracy) / (len(votes.classes) - 1)
    workers = (weights.accuracy - wrong) * votes.tally(weight) + wrong * votes.task_sum(weight)[:, None]
    return weights.classifier * classifier + workers
