"""Plots of the tasks: the distribution of ambiguity scores such as WAUM."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.plots.style import (
    BLUE,
    DASHES,
    INK,
    PAPER,
    SKY,
    add_legend,
    count_ticks,
    label_axes,
    new_axes,
)
from crowdpilot.reporting.task_cards import AMBIGUITY

PRUNED_SHARE = 0.01  # of the tasks, that pruning leaves out by default


def ambiguity(diagnosis: Diagnosis, ax: Axes | None = None, *, score: str = "waum") -> Axes:
    """Histogram of a score such as WAUM over the tasks, with its lowest 1 %."""
    ax = new_axes(ax, wide=8.4, high=2.7)
    values, spread = np.asarray(diagnosis.tasks[score]), diagnosis.tasks["vote_entropy"]
    known = np.isfinite(values)
    same = known & ~(spread > 0)
    edges = np.linspace(values[known].min(), values[known].max(), 41).tolist()
    ax.hist(
        [values[same], values[known & ~same]], edges, stacked=True, color=[BLUE, SKY], edgecolor=PAPER,
        linewidth=0.6, label=["all votes agree", "votes differ"],
    )  # fmt: skip
    bound = float(np.quantile(values[known], PRUNED_SHARE))
    ax.axvline(bound, color=INK, linestyle=DASHES, linewidth=1.1, label="lowest 1 %")
    count_ticks(ax)
    label_axes(ax, AMBIGUITY.get(score, score), "tasks")
    add_legend(ax, columns=3)
    return ax
