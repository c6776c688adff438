"""Calibration of a classifier without true labels: a map fitted on cross-validated (held-out) predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation import Fusion, parse_strategy
from crowdpilot.arrays import Floats, divide, share_best
from crowdpilot.calibration import FittedMap, Map, fit_on_votes
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.prediction import predict_probs
from crowdpilot.learning.self_training.loop import SelfTrainingResult
from crowdpilot.learning.training.folds import assign_folds
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes

FOLDS = 5
WORKER_MODEL = "dawid_skene"  # of "posterior" and "votes"; it never sees the classifier
MIN_TASKS_TO_CHOOSE = 20  # with fewer, "best" is "fusion"
CLEAR_ERRORS = 2.0  # standard errors by which held-out votes must prefer "one_vote"

CalibrateBy = Literal["best", "fusion", "one_vote", "votes", "posterior"]
CLASS_BALANCING = ("resample", "reweight")  # balances that train as if all classes were equally frequent

Train = Callable[[TrainingProcedure, Rows, Votes], SelfTrainingResult]


class Calibration(NamedTuple):
    """A fitted map, and the predictions it was fitted on."""

    map: FittedMap
    held_out: Floats  # (tasks, classes), by a classifier not trained on the task; NaN without votes


def calibrate(
    map: Map, by: CalibrateBy, train: Train, procedure: TrainingProcedure, rows: Rows, votes: Votes
) -> Calibration:
    """Fit a calibration map on the votes that a classifier is trained on, by 5-fold cross-validation.

    The classifier is trained without each fifth of the tasks and predicts those; the map is fitted on these
    predictions. If classes are balanced for training, they are for a map that is fitted to a posterior:
    probabilities are then calibrated for equally frequent classes. If the votes are the label shares of a
    crowd, the target is the majority label: shares say how often people disagree, and a majority label is
    right more often than that.

    Parameters
    ----------
    map
        What is fitted.
    by
        "fusion": cross-entropy to the posterior of `Fusion`, of the votes and these predictions, which is
        less sure than that of a worker model. "one_vote": maximum likelihood of one vote per task, with the
        confusion matrix of the crowd, for a classifier that is much better than the crowd. "best": the
        first, or the second if held-out votes clearly prefer it. "votes": maximum likelihood of all votes,
        with the confusion matrices of workers; see `fit_on_votes`. "posterior": cross-entropy to the
        posterior of a worker model, as if it were honest.
    train
        Trains the classifier.
    procedure, rows, votes
        How, and on what.
    """
    if by not in get_args(CalibrateBy):
        raise ValueError(f"calibrate_by is {by!r}, expected one of {', '.join(get_args(CalibrateBy))}")
    held_out = _predict_held_out(train, procedure, rows, votes)
    voted = np.unique(votes.task)
    balanced = procedure.vote_loss.balance in CLASS_BALANCING
    training = votes.select(tasks=voted)
    if votes.are_shares:
        by, target = "posterior", training.clamp(share_best(training.tally()))
    elif by == "posterior":
        target = parse_strategy(WORKER_MODEL).fit(training).probs
    elif by == "votes":
        confusion = parse_strategy(WORKER_MODEL).fit(training).params["confusion"]
        return Calibration(fit_on_votes(map, held_out[voted], training, confusion), held_out)
    else:
        candidates = Candidates(
            map, held_out[voted], training, seed=procedure.training.seed, balanced=balanced
        )
        return Calibration(candidates.fit(by), held_out)
    weight = class_balanced_weights(target) if balanced else None
    return Calibration(map.fit(held_out[voted], target, weight=weight), held_out)


class Candidates:
    """The two ways to fit a map that do not take the posterior of a worker model for honest.

    Parameters
    ----------
    map
        What is fitted.
    probs
        Held-out predictions, (tasks, classes).
    votes
        On these tasks.
    seed
        Of the choice of one vote of each task, and of halves of the tasks.
    balanced
        Whether classes have equal weight in the target of "fusion".
    fusion
        Whose posterior is that target.
    """

    def __init__(
        self,
        map: Map,
        probs: Floats,
        votes: Votes,
        *,
        seed: int,
        balanced: bool,
        fusion: Fusion | None = None,
    ) -> None:
        self.map, self.probs, self.votes, self.seed, self.balanced = map, probs, votes, seed, balanced
        result = (fusion or Fusion()).fit(votes, probs)
        self.target, self.confusion = result.probs, result.params["crowd_confusion"]

    def fit(self, by: CalibrateBy, tasks: NDArray[np.intp] | None = None) -> FittedMap:
        """The map that is fitted in one of the two ways to some of the tasks, or in the better of both."""
        if by == "best":
            by = "one_vote" if self._prefers_one_vote() else "fusion"
        some = np.arange(len(self.probs)) if tasks is None else tasks
        if by == "one_vote":
            matrices = np.broadcast_to(self.confusion, (len(self.votes.workers), *self.confusion.shape))
            votes = self.votes.select(tasks=some)
            return fit_on_votes(
                self.map, self.probs[some], votes, matrices, one_vote_per_task=True, seed=self.seed
            )
        weight = class_balanced_weights(self.target[some]) if self.balanced else None
        return self.map.fit(self.probs[some], self.target[some], weight=weight)

    def _prefers_one_vote(self) -> bool:
        """Whether held-out votes are more likely by "one_vote", by more than chance.

        Each half of the tasks is predicted by maps that are fitted on the other. The vote of a worker on a
        task of class k is distributed as row k of the confusion matrix of the crowd.
        """
        half = np.random.default_rng(self.seed).permutation(len(self.probs)) % 2
        if len(half) < MIN_TASKS_TO_CHOOSE:
            return False
        shares = self.votes.shares()
        gain = np.zeros(len(half))
        for h in (0, 1):
            fitted, unseen = np.flatnonzero(half != h), np.flatnonzero(half == h)
            one_vote, fusion = (
                np.log(self.fit(by, fitted)(self.probs[unseen]) @ self.confusion)
                for by in ("one_vote", "fusion")
            )
            gain[unseen] = (shares[unseen] * (one_vote - fusion)).sum(axis=1)
        return bool(gain.mean() > CLEAR_ERRORS * gain.std(ddof=1) / len(gain) ** 0.5)


def _predict_held_out(train: Train, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> Floats:
    """Predictions by a classifier trained on the other folds, (tasks, classes); NaN without votes."""
    held_out = np.full((len(votes.tasks), len(votes.classes)), np.nan)
    for n, (tasks, training) in enumerate(assign_folds(votes, FOLDS, procedure.training.seed), 1):
        folder = procedure.checkpoint
        part = procedure if folder is None else procedure.with_changes(checkpoint=folder / f"held_out{n}")
        held_out[tasks] = predict_probs(train(part, rows, training).method, rows)[tasks]
    return held_out


def class_balanced_weights(target: Floats) -> Floats:
    """Weights of tasks, (tasks,), with mean one and equal total weight of all classes.

    Examples
    --------
    >>> class_balanced_weights(np.eye(2)[[0, 0, 0, 1]]).round(2).tolist()
    [0.67, 0.67, 0.67, 2.0]
    """
    counts = target.sum(axis=0)
    weight = target @ divide(np.ones(len(counts)), counts, 0)
    scaled: Floats = weight * len(target) / weight.sum()
    return scaled
