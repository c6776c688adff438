"""Leave out the most ambiguous tasks before anything is learned from their votes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from crowdpilot.aggregation import GLAD, NotConverged
from crowdpilot.arrays import Floats, to_probs
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.pruning.task_score import Pruned, TaskScore
from crowdpilot.learning.pruning.waum import AUM, WAUM, WAUMPerWorker
from crowdpilot.learning.training.recipe import Recipe
from crowdpilot.option_strings import choose
from crowdpilot.votes import Votes

ROUNDS = 50  # of GLAD, enough to rank tasks


@dataclass(frozen=True, kw_only=True)
class Entropy(TaskScore):
    """How much the votes on a task agree: less their entropy, whatever the task holds."""

    name = "entropy"

    def score(self, recipe: Recipe, rows: Rows, votes: Votes) -> Floats:
        share = to_probs(votes.tally())
        voted = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
        scores: Floats = np.where(voted, xlogy(share, share).sum(axis=1), np.nan)
        return scores


@dataclass(frozen=True, kw_only=True)
class Difficulty(TaskScore):
    """Less the difficulty of a task by GLAD, whatever the task holds."""

    name = "difficulty"

    def score(self, recipe: Recipe, rows: Rows, votes: Votes) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            found = GLAD(max_iter=ROUNDS).fit(votes).params.get("difficulty")
        voted = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
        unknown = np.full(len(votes.tasks), np.nan)
        return unknown if found is None else np.where(voted, -found, np.nan)


SCORES: dict[str, type[TaskScore]] = {
    score.name: score for score in (WAUM, AUM, WAUMPerWorker, Entropy, Difficulty)
}


def find_score(text: str) -> TaskScore:
    """The score that a text such as `waum[alpha=.05,margin='pleiss']` stands for.

    Examples
    --------
    >>> find_score("entropy[alpha=.05]")
    Entropy(alpha=0.05)
    """
    made, options = choose(text, SCORES, "score of tasks")
    return made(**options)


def prune(text: str, recipe: Recipe, rows: Rows, votes: Votes) -> Pruned:
    """The votes without those on the most ambiguous tasks.

    Parameters
    ----------
    text
        A name of `SCORES`, with options in brackets: `waum[alpha=.01]`.
    recipe
        How networks are trained, for the scores that need one: the network, the loop and the seed.
    rows, votes
        What is learned from: row *i* is task *i*.
    """
    return find_score(text).prune(recipe, rows, votes)
