"""Plots of confusion matrices: of the best, the mean and the worst worker, or of any matrix."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from matplotlib.axes import Axes

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.formatting import count
from crowdpilot.reporting.plots.style import (
    INK,
    PAPER,
    SHARE_COLORMAP,
    SMALL_TEXT_POINTS,
    label_axes,
    name_ticks,
    new_axes,
    short_name,
)

Which = Literal["best", "mean", "worst"]
LIGHT, DARK, FAINT = "#fefefe", "#1d2834", "#8a97a5"  # colours of text
MAX_CLASSES_WITH_NUMBERS = 12


def confusion(diagnosis: Diagnosis, which: Which = "mean", ax: Axes | None = None) -> Axes:
    """The estimated confusion matrix of a worker, or of all workers together.

    The best worker has the highest lower bound of skill, the worst one the lowest upper bound; the
    mean is over votes.
    """
    votes = np.asarray(diagnosis.workers["votes"])
    if which == "mean":
        matrix, title = diagnosis.crowd_confusion, f"all workers ({count(int(votes.sum()), 'vote')})"
    else:
        w = _choose(diagnosis, which)
        matrix = diagnosis.confusion[w]
        title = f"{which}: {short_name(diagnosis.votes.workers[w], 14)} ({count(int(votes[w]), 'vote')})"
    return draw_matrix(matrix, diagnosis.votes.classes, "class, as estimated", title, ax)


def _choose(diagnosis: Diagnosis, which: str) -> int:
    if which not in get_args(Which):
        raise ValueError(f"which is {which!r}, expected one of {', '.join(get_args(Which))}")
    column, sign = ("skill_low", 1) if which == "best" else ("skill_high", -1)
    bound = sign * np.asarray(diagnosis.workers[column], np.float64)
    return int(np.argmax(np.where(np.isfinite(bound), bound, -np.inf)))


def draw_matrix(matrix: Floats, classes: Any, true: str, title: str, ax: Axes | None = None) -> Axes:
    """A confusion matrix [true, said] as colours; cells have numbers if there are few classes."""
    K = len(classes)
    ax = new_axes(ax, high=3.9)
    percent = 100 * matrix
    mesh = ax.pcolormesh(
        percent, cmap=SHARE_COLORMAP, vmin=0, vmax=100, rasterized=K > MAX_CLASSES_WITH_NUMBERS
    )
    if K <= MAX_CLASSES_WITH_NUMBERS:
        mesh.set(edgecolor=PAPER, linewidth=1)
        _write_numbers(ax, percent)
    else:
        bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.7, pad=0.02)
        bar.ax.tick_params(labelsize=SMALL_TEXT_POINTS, labelcolor=INK)
        bar.set_label("share of the row (%)", color=INK, fontsize=SMALL_TEXT_POINTS)
    ax.set(aspect="equal", xlim=(0, K), ylim=(K, 0))
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    for axis in (ax.xaxis, ax.yaxis):
        name_ticks(axis, classes, shift=0.5)
    label_axes(ax, "said (% of the row)" if K <= MAX_CLASSES_WITH_NUMBERS else "said", true, title)
    return ax


def _write_numbers(ax: Axes, percent: Floats) -> None:
    size = float(np.clip(70 / len(percent), 5.5, 10))
    for (k, said), value in np.ndenumerate(percent):
        color = LIGHT if value > 55 else FAINT if value < 0.5 else DARK
        text = f"{value:.0f}" if np.isfinite(value) else "–"
        ax.text(said + 0.5, k + 0.5, text, ha="center", va="center", fontsize=size, color=color)
