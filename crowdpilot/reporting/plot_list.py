"""The plots of the page in their order: one line to list one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting import plots
from crowdpilot.reporting.plots.workers import scores_of
from crowdpilot.reporting.task_cards import AMBIGUITY, ambiguity_of
from crowdpilot.reporting.truth import Truth


class Plot(NamedTuple):
    """A plot of the page: where it stands, what it is called, how to read it, and when it is there."""

    name: str
    section: str
    title: str
    caption: str
    function: Callable[..., Any]
    fits: Callable[[Diagnosis], bool] = lambda diagnosis: True
    width: str = "third"  # of the page, or full
    needs_truth: bool = False

    def draw(self, diagnosis: Diagnosis, truth: Truth | None) -> Any:
        """Its Axes, or None if there is nothing to draw."""
        if not self.fits(diagnosis) or (self.needs_truth and truth is None):
            return None
        return self.function(diagnosis, truth) if self.needs_truth else self.function(diagnosis)


def _several(diagnosis: Diagnosis) -> bool:
    return len(diagnosis.votes.workers) > 1


def _timed(diagnosis: Diagnosis) -> bool:
    took = diagnosis.votes.seconds
    return took is not None and bool((np.isfinite(took) & (took > 0)).any())


def _drifts(diagnosis: Diagnosis) -> bool:
    return bool(diagnosis.who("drifting").any())


def _scored(score: str, diagnosis: Diagnosis) -> bool:
    return _several(diagnosis) and score in scores_of(diagnosis)


def _judged(score: str, diagnosis: Diagnosis) -> bool:
    return score in ambiguity_of(diagnosis)


RANKED = {
    "skill": ("Skill", "How often a worker is right, by the model."),
    "spam_score": ("Spammer score", "0 says nothing about the class, 1 is perfect (Raykar and Yu)."),
    "trace": ("Trace of the confusion matrix", "The mean of its diagonal: right answers, all classes alike."),
    "ability": ("GLAD ability", "Above 0 is better than guessing, below is worse."),
    "consensus": ("Agreement with the consensus", "How often a worker says what the others' labels say."),
    "peers": ("Agreement with each other", "How often two workers on one task say the same."),
    "gold_accuracy": ("Accuracy on gold tasks", "Measured where the answer is known."),
    "trap_accuracy": ("Accuracy on traps", "Measured on tasks set to catch the careless."),
    "median_seconds": ("Seconds per vote", "The median of each worker."),
    "drift": ("Drift", "Skill in the last part of the time minus the first."),
}

PLOTS: tuple[Plot, ...] = (
    Plot(
        "effort", "votes", "Votes per task",
        "How the effort is spread. Tasks on the left rest on few votes.", plots.effort,
    ),
    Plot(
        "load", "votes", "Votes per worker",
        "Who carries the load. Workers on the left can be judged only roughly.", plots.load,
    ),
    Plot(
        "entropy", "votes", "Disagreement",
        "Tasks on the right are contested. The line is the doubt that the model leaves.", plots.entropy,
    ),
    Plot(
        "confidence", "votes", "Confidence",
        "How sure the labels are. Those left of the dashed line need more votes.", plots.confidence,
    ),
    Plot(
        "balance", "votes", "Class balance",
        "Where labels differ from votes, classes are mistaken. Imbalance: largest class to smallest.",
        plots.class_balance,
    ),
    Plot(
        "seconds", "votes", "Time per vote",
        "A hump at the far left is clicking without reading.", plots.seconds, _timed,
    ),
    Plot(
        "skill", "workers", "Skill against load",
        "Each mark is a worker, each line the interval of their skill: the more votes, the shorter. "
        "Below the dashed line is worse than guessing. Workers with as many votes stand side by side. "
        "All this is by the votes alone: where workers err alike, skills are too high.",
        plots.skill, width="full",
    ),
    Plot(
        "drift", "workers", "Workers who drift",
        "The share of right votes in eighths of their votes, the strongest drift first.",
        plots.drift, _drifts, "full",
    ),
    Plot(
        "confusion-best", "confusion", "Best worker", "Whose skill is high for sure.",
        partial(plots.confusion, which="best"), _several,
    ),
    Plot(
        "confusion-mean", "confusion", "Mean worker", "Weighted by votes: what the crowd says.",
        partial(plots.confusion, which="mean"),
    ),
    Plot(
        "confusion-worst", "confusion", "Worst worker", "Whose skill is low for sure.",
        partial(plots.confusion, which="worst"), _several,
    ),
    *(
        Plot(
            f"ranking-{score}", "ranking", title, caption,
            partial(plots.ranking, score=score), partial(_scored, score),
        )
        for score, (title, caption) in RANKED.items()
    ),
    Plot(
        "pairs", "scores", "Do the scores agree?",
        "Points are workers, crosses flagged ones. Scores that agree back each other up; a worker far from "
        "the others deserves a look.",
        plots.pairs, _several, "full",
    ),
    *(
        Plot(
            f"score-{score}", f"score-{score}", f"{title} of all tasks",
            "On the right a classifier believes the votes, on the left it does not. Look for wrong labels "
            "far left where all votes agree, and for tasks that nobody can tell where they differ.",
            partial(plots.ambiguity, score=score), partial(_judged, score), "full",
        )
        for score, title in AMBIGUITY.items()
    ),
    Plot(
        "reliability", "truth", "Can the confidence be believed?",
        "Dots are groups of tasks, numbers their sizes. Below the dashed line the model is too sure.",
        plots.reliability, needs_truth=True,
    ),
    Plot(
        "mistakes", "truth", "Which classes are mistaken",
        "Each row is a true class; the diagonal is right.", plots.mistakes, needs_truth=True,
    ),
)  # fmt: skip
