"""Calibration of a classifier without true labels: a map fitted on cross-validated (held-out) predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Floats, divide
from crowdpilot.calibration import FittedMap, Map, fit_on_votes
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.prediction import predict_probs
from crowdpilot.learning.self_training.loop import SelfTrainingResult
from crowdpilot.learning.training.folds import assign_folds
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes

FOLDS = 5
WORKER_MODEL = "dawid_skene"  # whose posterior is the target of the map; it never sees the classifier

CalibrateBy = Literal["posterior", "votes", "one_vote"]
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

    The classifier is trained without each fifth of the tasks and predicts those; the map brings these
    predictions close to the posterior of a worker model. If classes are balanced for training, they are
    for the map: probabilities are then calibrated for equally frequent classes. If the votes are the
    label shares of a crowd, the target is the majority label: shares say how often people disagree, and
    a majority label is right more often than that.

    Parameters
    ----------
    map
        What is fitted.
    by
        "posterior": cross-entropy to the posterior of a worker model. "votes" or "one_vote": maximum
        likelihood of all votes, or of one vote per task; see `fit_on_votes`. For a classifier that is
        much better than the crowd the posterior is wrong too often, and "one_vote" is best.
    train
        Trains the classifier.
    procedure, rows, votes
        How, and on what.
    """
    if by not in get_args(CalibrateBy):
        raise ValueError(f"calibrate_by is {by!r}, expected one of {', '.join(get_args(CalibrateBy))}")
    held_out = _predict_held_out(train, procedure, rows, votes)
    if by != "posterior" and not votes.are_shares:
        confusion = parse_strategy(WORKER_MODEL).fit(votes).params["confusion"]
        probs = np.where(np.isnan(held_out), 1 / len(votes.classes), held_out)
        fitted = fit_on_votes(
            map, probs, votes, confusion, one_vote_per_task=by == "one_vote", seed=procedure.training.seed
        )
        return Calibration(fitted, held_out)
    voted = np.unique(votes.task)
    posterior = parse_strategy("majority_voting" if votes.are_shares else WORKER_MODEL).fit(votes).probs
    target = posterior[voted]
    weight = class_balanced_weights(target) if procedure.vote_loss.balance in CLASS_BALANCING else None
    return Calibration(map.fit(held_out[voted], target, weight=weight), held_out)


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
