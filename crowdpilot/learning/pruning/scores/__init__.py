"""Scores of ambiguous or mislabelled tasks: one file each, one line here."""

from __future__ import annotations

from crowdpilot.learning.pruning.scores.difficulty import Difficulty
from crowdpilot.learning.pruning.scores.entropy import Entropy
from crowdpilot.learning.pruning.scores.waum import AUM, WAUM, WAUMPerWorker
from crowdpilot.learning.pruning.task_score import TaskScore
from crowdpilot.option_strings import choose

SCORES: dict[str, type[TaskScore]] = {
    score.name: score for score in (WAUM, AUM, WAUMPerWorker, Entropy, Difficulty)
}

__all__ = ["AUM", "SCORES", "WAUM", "Difficulty", "Entropy", "WAUMPerWorker", "find_score"]


def find_score(text: str) -> TaskScore:
    """The score that a text such as `waum[alpha=.05,margin='pleiss']` stands for.

    Examples
    --------
    >>> find_score("entropy[alpha=.05]")
    Entropy(alpha=0.05)
    """
    score, options = choose(text, SCORES, "score of tasks")
    return score(**options)
