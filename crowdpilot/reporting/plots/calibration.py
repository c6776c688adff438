"""Plots of calibration against the truth: reliability diagram and risk-coverage curve."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from crowdpilot.arrays import Floats, sum_by
from crowdpilot.metrics import (
    SmoothCurve,
    ece,
    ece_debiased,
    interval,
    risk_at,
    risk_coverage,
    smooth_curve,
)
from crowdpilot.metrics.confidence_bins import equal_width, top_labels
from crowdpilot.reporting.plots.style import (
    BLUE,
    DASHES,
    GREEN,
    INK,
    ORANGE,
    PAPER,
    SOFT,
    TEXT_POINTS,
    WIDTH,
    add_legend,
    count_ticks,
    draw_bars,
    label_axes,
    new_axes,
    new_figure,
    style_axes,
)

BOOTSTRAP_SAMPLES = 300
COVERAGES = np.linspace(0.02, 1, 50)  # at which the band has its bounds
LEGEND_POINTS = 20  # between a plot and its title


def reliability_diagram(truth: ArrayLike, probs: ArrayLike, *, bins: int = 15) -> NDArray[Any]:
    """Reliability diagram: accuracy at each confidence; below, a histogram of the confidence.

    Points are bins of `ece` at their mean confidence, with Jeffreys's 95 % interval. The line is
    the smooth curve of `smooth_curve`; what lies between it and the diagonal is the error.

    Parameters
    ----------
    truth, probs
        Codes of the true classes, -1 if unknown, and probabilities, (tasks, classes).
    bins
        Of equal width.
    """
    confidence, right, _ = top_labels(truth, probs, None)
    figure = new_figure(WIDTH, 4.6, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    for ax in (upper, lower):
        style_axes(ax)
    _smooth_line(upper, smooth_curve(truth, probs), confidence.min(), confidence.max())
    bin_of, edges = equal_width(confidence, bins), np.linspace(0, 100, bins + 1)
    size, hits, sums = (
        sum_by(bin_of, values, bins) for values in (np.ones(len(confidence)), right, confidence)
    )
    _points(upper, 100 * sums, hits, size)
    draw_bars(lower, edges, size)
    least = edges[min(bin_of.min(), bins // 2)]
    upper.set(xlim=(least - 2, 102), ylim=(-3, 103))
    count_ticks(lower)
    label_axes(upper, "", "right (%)")
    upper.set_title(
        _title(truth, probs, bins),
        loc="left",
        pad=LEGEND_POINTS,
        color=INK,
        fontsize=TEXT_POINTS,
        fontweight="bold",
    )  # fmt: skip
    upper.tick_params(labelbottom=False)
    label_axes(lower, "confidence (%)", "tasks")
    add_legend(upper, columns=3)
    figure.align_ylabels()
    return np.asarray([upper, lower], object)


def _smooth_line(ax: Axes, curve: SmoothCurve, low: float, high: float) -> None:
    """The curve between the lowest and the highest confidence that occur."""
    near = (curve.confidence >= low - 0.01) & (curve.confidence <= high + 0.01)
    x, y = 100 * curve.confidence[near], 100 * curve.right[near]
    ax.plot([0, 100], [0, 100], color=INK, linestyle=DASHES, linewidth=1, label="perfect calibration")
    ax.fill_between(x, x, y, color=ORANGE, alpha=0.22, linewidth=0)
    ax.plot(x, y, color=ORANGE, linewidth=1.8, label="smooth")


def _points(ax: Axes, sums: Floats, hits: Floats, size: Floats) -> None:
    seen = size > 0
    x, hits, size = sums[seen] / size[seen], hits[seen], size[seen]
    low, high = (100 * betaincinv(hits + 0.5, size - hits + 0.5, q) for q in (0.025, 0.975))
    low, high = np.where(hits > 0, low, 0), np.where(hits < size, high, 100)
    ax.vlines(x, low, high, color=SOFT, linewidth=1.2)
    ax.plot(
        x, 100 * hits / size, "o", color=BLUE, markersize=5.5, markeredgecolor=PAPER, markeredgewidth=0.6,
        label="bins, 95 %", zorder=3,
    )  # fmt: skip


def _title(truth: ArrayLike, probs: ArrayLike, bins: int) -> str:
    debiased, low, high = interval(partial(ece_debiased, bins=bins), truth, probs, samples=BOOTSTRAP_SAMPLES)
    plain = 100 * ece(truth, probs, bins=bins)
    return f"ECE {plain:.1f} %, debiased {100 * debiased:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def risk_coverage_curve(truth: ArrayLike, probs: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Risk-coverage curve: share of wrong labels among the most confident ones, with a 95 % bootstrap band.

    Dashed: confidence at random; dotted: every wrong label less confident than any right one.

    Parameters
    ----------
    truth, probs
        As in `reliability_diagram`.
    ax
        Where to draw.
    """
    ax = new_axes(ax)
    coverage, risk, _ = risk_coverage(truth, probs)
    low, high = _band(truth, probs)
    wrong = float(risk[-1])
    best = np.maximum(0, 1 - (1 - wrong) / COVERAGES)
    ax.fill_between(100 * COVERAGES, 100 * low, 100 * high, color=BLUE, alpha=0.16, linewidth=0)
    ax.plot(100 * coverage, 100 * risk, color=BLUE, linewidth=1.8, label="by confidence")
    ax.axhline(100 * wrong, color=INK, linestyle=DASHES, linewidth=1, label="random order")
    ax.plot(
        100 * COVERAGES, 100 * best, color=GREEN, linestyle=(0, (1, 1.5)), linewidth=1.5, label="best order"
    )
    top = max(1.0, 100 * float(np.nanmax([*high, wrong])))
    ax.set(xlim=(0, 101), ylim=(-0.03 * top, 1.06 * top))
    label_axes(ax, "coverage: tasks kept (%)", "risk: wrong among them (%)")
    add_legend(ax, columns=3)
    return ax


def _band(truth: ArrayLike, probs: ArrayLike) -> tuple[Floats, Floats]:
    def risks(true: Any, p: Any, weight: Any) -> Floats:
        return np.stack([risk_at(true, p, coverage=share, weight=weight) for share in COVERAGES], axis=-1)

    _, low, high = interval(risks, truth, probs, samples=BOOTSTRAP_SAMPLES)
    return low, high
