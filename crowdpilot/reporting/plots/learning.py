"""Plots of self-training: class imbalance, quality of pseudo-votes, and scores in each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from crowdpilot.reporting.plots.style import (
    DASHES,
    HEIGHT,
    INK,
    LINE_COLORS,
    LINE_MARKS,
    PAPER,
    WIDTH,
    add_legend,
    label_axes,
    log_ticks,
    new_axes,
    new_figure,
    short_name,
    style_axes,
)

Curves = Mapping[str, Sequence[float]]  # by strategy, one number for each round from 0 on
STYLES = tuple(zip(LINE_COLORS, LINE_MARKS, strict=True))
LINE_STYLES = dict(zip(("dasc", "confidence", "random"), STYLES, strict=False))
OTHER_LINE_STYLES = STYLES[len(LINE_STYLES) :]
MAX_SHORT_NAME = 12  # characters, so that three names fit side by side
DOTS = (0, (1, 1.5))
LOG_SCALE_IMBALANCE = 4  # above which the scale is logarithmic


def imbalance_by_round(
    ratios: Curves, *, votes: float | None = None, truth: float | None = None, ax: Axes | None = None
) -> Axes:
    """The imbalance ratio of votes and pseudo-votes together in each round; lower is more balanced.

    Parameters
    ----------
    ratios
        For each strategy that chooses pseudo-votes, the ratio in round 0, 1, and so on.
    votes, truth
        The ratio of the real votes alone and of the true classes, as lines to compare with.
    ax
        Where to draw.
    """
    ax = new_axes(ax)
    _draw(ax, ratios)
    levels = [(votes, "real votes", DASHES), (truth, "true classes", DOTS)]
    known = [(value, name, dash) for value, name, dash in levels if value is not None and np.isfinite(value)]
    for value, name, dash in known:
        ax.axhline(value, color=INK, linestyle=dash, linewidth=1.1, label=name, zorder=1.5)
    high = max([1.0, *_finite(ratios), *(value for value, *_ in known)])
    if tail := high > LOG_SCALE_IMBALANCE:
        ax.set_yscale("log")
        ax.set_ylim(0.93, high * 1.15)
        log_ticks(ax.yaxis, 0.93, high * 1.15)
    else:
        ax.set_ylim(1 - 0.04 * (high - 0.9), high + 0.08 * (high - 0.9))
    label_axes(ax, "round", f"imbalance ratio{' (log scale)' if tail else ''}")
    add_legend(ax, columns=_columns(ratios))
    return ax


def quality_by_round(precision: Curves, recall: Curves) -> NDArray[Any]:
    """Quality of the pseudo-votes in each round: precision on frequent classes, recall on rare ones.

    Parameters
    ----------
    precision
        For each strategy, the precision on majority classes in round 0, 1, and so on.
    recall
        Likewise the recall on minority classes.
    """
    figure = new_figure(1.75 * WIDTH, HEIGHT, layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    sides = ((precision, "precision, common classes (%)"), (recall, "recall, rare classes (%)"))
    for ax, (curves, name) in zip(axes, sides, strict=True):
        style_axes(ax)
        _draw(ax, _percent(curves))
        label_axes(ax, "round", name)
        ax.yaxis.set_tick_params(labelleft=True)
    low = min([0.95, *_finite(precision), *_finite(recall)])
    axes[0].set_ylim(max(-3, 100 * low - 5), 102)
    add_legend(axes[0], columns=_columns(precision))
    return np.asarray(axes, object)


def scores_by_round(scores: Curves, *, name: str = "accuracy (%)", ax: Axes | None = None) -> Axes:
    """Accuracy, or another score that is a share, in each round; round 0 is the base.

    Parameters
    ----------
    scores
        For each strategy, the score in round 0, 1, and so on.
    name
        What the score is called.
    ax
        Where to draw.
    """
    ax = new_axes(ax)
    _draw(ax, _percent(scores))
    starts = [float(values[0]) for values in scores.values() if len(values) and np.isfinite(values[0])]
    if starts:
        base = 100 * float(np.mean(starts))
        ax.axhline(base, color=INK, linestyle=DASHES, linewidth=1.1, label="base", zorder=1.5)
    label_axes(ax, "round", name)
    add_legend(ax, columns=_columns(scores))
    return ax


def _draw(ax: Axes, curves: Curves) -> None:
    """One line for each strategy, each always with its own colour and marker."""
    others = cycle(OTHER_LINE_STYLES)
    seen: set[int] = set()  # rounds of which something is known
    for way, values in curves.items():
        color, mark = LINE_STYLES.get(way.lower()) or next(others)
        number = np.flatnonzero(np.isfinite(values))
        seen.update(number.tolist())
        ax.plot(
            number, np.asarray(values, np.float64)[number], color=color, marker=mark, markersize=5,
            linewidth=1.6, markeredgecolor=PAPER, markeredgewidth=0.6, label=short_name(way, 12), zorder=2.5,
        )  # fmt: skip
    first, last = min(seen, default=0), max(seen, default=1)
    room = 0.04 * max(1, last - first)
    ax.set_xlim(first - room, last + room)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def _columns(curves: Curves) -> int:
    """Of the legend: three if all names are short, else two."""
    return 3 if all(len(way) <= MAX_SHORT_NAME for way in curves) else 2


def _percent(curves: Curves) -> Curves:
    return {way: [100 * value for value in values] for way, values in curves.items()}


def _finite(curves: Curves) -> list[float]:
    return [float(value) for values in curves.values() for value in values if np.isfinite(value)]
