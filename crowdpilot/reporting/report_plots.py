"""The plots of the report in their order: section, title, caption, and when each is shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting import plots
from crowdpilot.reporting.plots.workers import scores_of
from crowdpilot.reporting.task_cards import AMBIGUITY, ambiguity_scores
from crowdpilot.reporting.truth import Truth


class ReportPlot(NamedTuple):
    """A plot of the report: its section, title and caption, its function, and when it is shown."""

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


def _has_several_workers(diagnosis: Diagnosis) -> bool:
    return len(diagnosis.votes.workers) > 1


def _has_seconds(diagnosis: Diagnosis) -> bool:
    took = diagnosis.votes.seconds
    return took is not None and bool((np.isfinite(took) & (took > 0)).any())


def _has_drifting_workers(diagnosis: Diagnosis) -> bool:
    return bool(diagnosis.flagged_as("drifting").any())


def _has_worker_score(score: str, diagnosis: Diagnosis) -> bool:
    return _has_several_workers(diagnosis) and score in scores_of(diagnosis)


def _has_task_score(score: str, diagnosis: Diagnosis) -> bool:
    return score in ambiguity_scores(diagnosis)


RANKED_SCORES = {
    "skill": ("Skill", "Estimated probability that a worker is right."),
    "spam_score": ("Spammer score", "0: labels do not depend on the class, 1: always right (Raykar and Yu)."),
    "trace": (
        "Trace of the confusion matrix",
        "The mean of its diagonal: the accuracy if all classes are equally frequent.",
    ),
    "ability": ("GLAD ability", "Above 0 is better than guessing, below is worse."),
    "consensus": (
        "Agreement with the consensus",
        "Probability that the votes of a worker are right, given those of the others.",
    ),
    "peers": ("Agreement with each other", "How often votes of others on the same task are equal."),
    "gold_accuracy": ("Accuracy on gold tasks", "Measured where the true class is known."),
    "trap_accuracy": ("Accuracy on traps", "Measured on the trap tasks."),
    "median_seconds": ("Seconds per vote", "The median of each worker."),
    "drift": ("Drift", "Skill in the last third of the votes minus the first."),
}

PLOTS: tuple[ReportPlot, ...] = (
    ReportPlot(
        "effort", "votes", "Votes per task",
        "Tasks on the left have few votes.", plots.effort,
    ),
    ReportPlot(
        "load", "votes", "Votes per worker",
        "Workers on the left have few votes and wide intervals.", plots.load,
    ),
    ReportPlot(
        "entropy", "votes", "Disagreement",
        "Entropy of the votes of each task; the line is the entropy of its posterior.", plots.entropy,
    ),
    ReportPlot(
        "confidence", "votes", "Confidence",
        "Probability of the labels. Left of the dashed line it is below the target.", plots.confidence,
    ),
    ReportPlot(
        "balance", "votes", "Class balance",
        "Shares of the classes among votes and labels. Imbalance: largest class to smallest.",
        plots.class_balance,
    ),
    ReportPlot(
        "seconds", "votes", "Time per vote",
        "A peak at the far left shows votes without reading.", plots.seconds, _has_seconds,
    ),
    ReportPlot(
        "skill", "workers", "Skill against votes",
        "Each mark is a worker, each line the interval of their skill: the more votes, the shorter. "
        "Below the dashed line is worse than guessing. Workers with equally many votes stand side by side. "
        "Skills are estimated from the votes alone: where workers make the same mistakes, they are too high.",
        plots.skill, width="full",
    ),
    ReportPlot(
        "drift", "workers", "Workers who drift",
        "The share of right votes in eighths of their votes, the strongest drift first.",
        plots.drift, _has_drifting_workers, "full",
    ),
    ReportPlot(
        "confusion-best", "confusion", "Best worker", "The highest lower bound of the skill.",
        partial(plots.confusion, which="best"), _has_several_workers,
    ),
    ReportPlot(
        "confusion-mean", "confusion", "Mean worker", "All votes together.",
        partial(plots.confusion, which="mean"),
    ),
    ReportPlot(
        "confusion-worst", "confusion", "Worst worker", "The lowest upper bound of the skill.",
        partial(plots.confusion, which="worst"), _has_several_workers,
    ),
    *(
        ReportPlot(
            f"ranking-{score}", "ranking", title, caption,
            partial(plots.ranking, score=score), partial(_has_worker_score, score),
        )
        for score, (title, caption) in RANKED_SCORES.items()
    ),
    ReportPlot(
        "pairs", "scores", "Do the scores agree?",
        "Points are workers, crosses flagged ones. Review workers who are far from the others.",
        plots.pairs, _has_several_workers, "full",
    ),
    *(
        ReportPlot(
            f"score-{score}", f"score-{score}", f"{title} of all tasks",
            "On the right a classifier agrees with the votes, on the left it does not. Far left, labels are "
            "often wrong where all votes agree, and tasks are often ambiguous where they differ.",
            partial(plots.ambiguity, score=score), partial(_has_task_score, score), "full",
        )
        for score, title in AMBIGUITY.items()
    ),
    ReportPlot(
        "reliability", "truth", "Is the confidence calibrated?",
        "Dots are groups of tasks, numbers their sizes. Below the dashed line the model is overconfident.",
        plots.reliability, needs_truth=True,
    ),
    ReportPlot(
        "mistakes", "truth", "Which classes are confused",
        "Each row is a true class; the diagonal is right.", plots.mistakes, needs_truth=True,
    ),
)  # fmt: skip
