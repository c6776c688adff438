"""Honest probabilities without truth: a map fitted on what the crowd believes of held-out tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.aggregation.vote_shares import are_shares
from crowdpilot.arrays import Floats, divide
from crowdpilot.calibration import Fitted, Map, fit_on_votes
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.prediction import foretell
from crowdpilot.learning.self_training.loop import SelfTrained
from crowdpilot.learning.training.folds import deal
from crowdpilot.learning.training.recipe import Recipe
from crowdpilot.votes import Votes

FOLDS = 5
WORKERS = "dawid_skene"  # the model of workers whose belief is the target; it never sees the classifier

By = Literal["posterior", "votes", "one_vote"]
EVEN = ("resample", "reweight")  # balances that learn as if all classes were equally frequent


class Calibrated(NamedTuple):
    """A map, and what it was fitted on."""

    map: Fitted
    held_out: Floats  # (tasks, classes), by a classifier that has not seen the task; NaN without votes


def calibrate(
    map: Map,
    by: By,
    learn: Callable[[Recipe, Rows, Votes], SelfTrained],
    recipe: Recipe,
    rows: Rows,
    votes: Votes,
) -> Calibrated:
    """Fit a map on the votes that a classifier is trained on.

    The classifier is trained anew without each fifth of the tasks and asked about those; the map
    brings what it says close to what a model of the workers believes of the same tasks. If classes
    are balanced for training, they are for the map: the probabilities are honest for tasks among
    which all classes are equally frequent. Of the shares of a crowd the label is believed, since
    shares say how people disagree, and a label that most give is right more often than that.

    Parameters
    ----------
    map
        What is fitted.
    by
        "posterior": the map brings held-out predictions close to what a model of the workers
        believes. "votes" or "one_vote": it makes all votes, or one vote of each task, most likely;
        see `fit_on_votes`. Beside a classifier that is much better than the crowd, the posterior is
        wrong too often, and one vote is best.
    learn
        Trains the classifier.
    recipe, rows, votes
        How, and on what.
    """
    if by not in get_args(By):
        raise ValueError(f"calibrate_by is {by!r}, expected one of {', '.join(get_args(By))}")
    held_out = np.full((len(votes.tasks), len(votes.classes)), np.nan)
    for n, (tasks, seen) in enumerate(deal(votes, FOLDS, recipe.training.seed), 1):
        folder = recipe.checkpoint
        part = recipe if folder is None else recipe.but(checkpoint=folder / f"held_out{n}")
        held_out[tasks] = foretell(learn(part, rows, seen).method, rows)[tasks]
    voted = np.unique(votes.task)
    if by != "posterior" and not are_shares(votes):
        matrices = parse_strategy(WORKERS).fit(votes).params["confusion"]
        said = np.where(np.isnan(held_out), 1 / len(votes.classes), held_out)
        one = by == "one_vote"
        return Calibrated(
            fit_on_votes(map, said, votes, matrices, one=one, seed=recipe.training.seed), held_out
        )
    believed = parse_strategy("majority_voting" if are_shares(votes) else WORKERS).fit(votes).probs
    said, target = held_out[voted], believed[voted]
    weight = even(target) if recipe.cost.balance in EVEN else None
    return Calibrated(map.fit(said, target, weight=weight), held_out)


def even(target: Floats) -> Floats:
    """Weights of tasks, one on average, with which all classes are equally frequent.

    Examples
    --------
    >>> even(np.eye(2)[[0, 0, 0, 1]]).round(2).tolist()
    [0.67, 0.67, 0.67, 2.0]
    """
    count = target.sum(axis=0)
    weight = target @ divide(np.ones(len(count)), count, 0)
    scaled: Floats = weight * len(target) / weight.sum()
    return scaled
