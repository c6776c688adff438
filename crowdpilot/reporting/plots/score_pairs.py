"""Scatter plots of each pair of worker scores, with histograms and correlations."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.stats import rankdata

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.plots.style import (
    BLUE,
    INK,
    LINE,
    MAX_VECTOR_MARKS,
    PAPER,
    SKY,
    SMALL_TEXT_POINTS,
    draw_flagged,
    new_figure,
    style_axes,
)
from crowdpilot.reporting.plots.workers import SCORES, scores_of, values_of

COMPARED = ("skill", "spam_score", "ability", "consensus", "peers", "gold_accuracy", "median_seconds")
MAX_SCORES = 6
MIN_WORKERS_FOR_CORRELATION = 3
CORRELATION_STRENGTHS = (
    (0.9, "nearly the same"),
    (0.7, "strong"),
    (0.4, "moderate"),
    (0.2, "weak"),
    (0, "none"),
)


def pairs(diagnosis: Diagnosis, scores: Sequence[str] | None = None) -> NDArray[Any]:
    """Every pair of scores: scatter plots below the diagonal, histograms on it, correlations above it."""
    known = scores_of(diagnosis)
    names = list(scores) if scores is not None else [name for name in COMPARED if name in known][:MAX_SCORES]
    if not names:
        raise ValueError("no worker has a score, so there is nothing to compare")
    columns = [values_of(diagnosis, name) for name in names]
    bad = diagnosis.flagged
    n = len(names)
    wide, high = 1.35 * n + 0.9, 1.2 * n + 0.7
    figure = new_figure(wide, high)  # a layout that measures all texts of all axes would take seconds
    edges = {"left": 0.8 / wide, "right": 1 - 0.1 / wide, "bottom": 0.6 / high, "top": 1 - 0.1 / high}
    axes = figure.subplots(n, n, squeeze=False, gridspec_kw={**edges, "wspace": 0.09, "hspace": 0.1})
    for (row, column), ax in np.ndenumerate(axes):
        both = np.isfinite(columns[column]) & np.isfinite(columns[row])
        x, y = columns[column][both], columns[row][both]
        style_axes(ax)
        if row == column:
            _histogram(ax, x)
        elif row > column:
            _points(ax, x, y, bad[both])
            ax.set_ylim(_limits(columns[row]))
        else:
            _write_correlation(ax, x, y)
        ax.set_xlim(_limits(columns[column]))
        _label_outer_axes(ax, row, column, names)
    figure.align_labels()
    return axes


def _limits(values: Floats) -> tuple[float, float]:
    """A little more than the range, also if all values are the same."""
    known = values[np.isfinite(values)]
    low, high = float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))
    if not np.isfinite([low, high]).all():
        return 0, 1
    pad = 0.06 * (high - low) or max(0.05 * abs(high), 0.5)
    return low - pad, high + pad


def _histogram(ax: Axes, x: Floats) -> None:
    low, high = _limits(x)
    ax.hist(x, np.linspace(low, high, 17).tolist(), color=SKY, edgecolor=PAPER, linewidth=0.4)
    ax.grid(visible=False)


def _points(ax: Axes, x: Floats, y: Floats, bad: NDArray[np.bool_]) -> None:
    dense = len(x) > MAX_VECTOR_MARKS / 2
    ax.grid(axis="x", color=LINE, linewidth=0.7)
    ax.plot(x[~bad], y[~bad], ".", color=BLUE, markersize=3.5, alpha=0.6, markeredgewidth=0, rasterized=dense)
    draw_flagged(ax, x[bad], y[bad], size=4.5, dense=dense)


def correlations(x: Floats, y: Floats) -> tuple[float, float]:
    """Spearman's and Pearson's correlation; NaN for too few workers, or if all are the same."""
    if len(x) < MIN_WORKERS_FOR_CORRELATION or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan, np.nan
    ranks = np.corrcoef(rankdata(x), rankdata(y))[0, 1]
    return float(ranks), float(np.corrcoef(x, y)[0, 1])


def describe(spearman: float) -> str:
    """How strong a correlation is, in words."""
    if not np.isfinite(spearman):
        return "unknown"
    text = next(text for least, text in CORRELATION_STRENGTHS if abs(spearman) >= least)
    return f"{text}, inverse" if spearman <= -CORRELATION_STRENGTHS[-2][0] else text


def _write_correlation(ax: Axes, x: Floats, y: Floats) -> None:
    spearman, pearson = correlations(x, y)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    is_strong = np.isfinite(spearman) and abs(spearman) >= CORRELATION_STRENGTHS[1][0]
    ax.text(
        0.5, 0.62, fill(describe(spearman), 12), transform=ax.transAxes, ha="center", va="center", color=INK,
        fontsize=SMALL_TEXT_POINTS, fontweight="bold" if is_strong else "normal",
    )  # fmt: skip
    if np.isfinite(spearman):
        numbers = f"Spearman {spearman:z.2f}\nPearson {pearson:z.2f}".replace("-", "−")
        ax.text(0.5, 0.2, numbers, transform=ax.transAxes, ha="center", va="center", color=INK, fontsize=7)


def _label_outer_axes(ax: Axes, row: int, column: int, names: list[str]) -> None:
    """Label the left and the bottom axes only."""
    ax.tick_params(labelsize=7, length=2)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(3, min_n_ticks=2))
    last = len(names) - 1
    if row == column == 0:
        ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    if row == last:
        ax.set_xlabel(SCORES[names[column]].axis, fontsize=SMALL_TEXT_POINTS, color=INK)
    if column == 0:
        ax.set_ylabel(
            "workers" if row == 0 else SCORES[names[row]].axis, fontsize=SMALL_TEXT_POINTS, color=INK
        )
    if row < column:
        ax.set(yticks=[])
    ax.tick_params(labelbottom=row == last, bottom=row >= column)
    ax.tick_params(labelleft=column == 0, left=column == 0)
