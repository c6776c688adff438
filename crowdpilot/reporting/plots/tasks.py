"""Pictures of what a classifier thinks of the tasks."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.plots.axes import BLUE, DASHES, INK, PAPER, SKY, fresh, key, label, whole_ticks
from crowdpilot.reporting.task_cards import AMBIGUITY

LOWEST = 0.01  # share of the tasks that pruning leaves out if nothing else is said


def ambiguity(diagnosis: Diagnosis, ax: Axes | None = None, *, score: str = "waum") -> Axes:
    """How a score such as WAUM is spread over the tasks, and which part of it is the lowest 1 %."""
    ax = fresh(ax, wide=8.4, high=2.7)
    values, spread = np.asarray(diagnosis.tasks[score]), diagnosis.tasks["vote_entropy"]
    known = np.isfinite(values)
    same = known & ~(spread > 0)
    edges = np.linspace(values[known].min(), values[known].max(), 41).tolist()
    ax.hist(
        [values[same], values[known & ~same]], edges, stacked=True, color=[BLUE, SKY], edgecolor=PAPER,
        linewidth=0.6, label=["all votes agree", "votes differ"],
    )  # fmt: skip
    bound = float(np.quantile(values[known], LOWEST))
    ax.axvline(bound, color=INK, linestyle=DASHES, linewidth=1.1, label="lowest 1 %")
    whole_ticks(ax)
    label(ax, AMBIGUITY.get(score, score), "tasks")
    key(ax, columns=3)
    return ax
