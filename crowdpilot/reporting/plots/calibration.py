"""Pictures of probabilities beside the truth: whether to believe them, and whether mistakes are unsure."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from crowdpilot.arrays import Floats, sum_by
from crowdpilot.metrics import SmoothCurve, ece, ece_debiased, interval, risk_at, risk_coverage, smooth_curve
from crowdpilot.metrics.binning import believe, equal_width
from crowdpilot.reporting.plots.axes import (
    BLUE,
    DASHES,
    GREEN,
    INK,
    ORANGE,
    PAPER,
    SOFT,
    TEXT,
    WIDTH,
    bars,
    dress,
    fresh,
    key,
    label,
    whole_ticks,
)

SAMPLES = 300  # drawn again for a band
POINTS = np.linspace(0.02, 1, 50)  # of coverage at which a band has its bounds
KEY_HEIGHT = 20  # points between a plot and its title


def reliability_diagram(truth: ArrayLike, probs: ArrayLike, *, bins: int = 15) -> NDArray[Any]:
    """How often labels of each confidence are right; below, how many tasks there are.

    Points are bins of `ece` at their mean confidence, with Jeffreys's 95 % interval. The line is
    the smooth curve of `smooth_curve`; what lies between it and the diagonal is the error.

    Parameters
    ----------
    truth, probs
        Codes of the true classes, -1 if unknown, and probabilities, (tasks, classes).
    bins
        Of equal width.
    """
    sure, right, _ = believe(truth, probs, None)
    figure = Figure((WIDTH, 4.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    for ax in (upper, lower):
        dress(ax)
    _smooth_line(upper, smooth_curve(truth, probs), sure.min(), sure.max())
    which, edges = equal_width(sure, bins), np.linspace(0, 100, bins + 1)
    size, hits, sums = (sum_by(which, values, bins) for values in (np.ones(len(sure)), right, sure))
    _points(upper, 100 * sums, hits, size)
    bars(lower, edges, size)
    least = edges[min(which.min(), bins // 2)]
    upper.set(xlim=(least - 2, 102), ylim=(-3, 103))
    whole_ticks(lower)
    label(upper, "", "right (%)")
    upper.set_title(
        _in_words(truth, probs, bins), loc="left", pad=KEY_HEIGHT, color=INK, fontsize=TEXT, fontweight="bold"
    )
    upper.tick_params(labelbottom=False)
    label(lower, "confidence (%)", "tasks")
    key(upper, columns=3)
    figure.align_ylabels()
    return np.asarray([upper, lower], object)


def _smooth_line(ax: Axes, curve: SmoothCurve, low: float, high: float) -> None:
    """The curve between the lowest and the highest confidence that occur."""
    near = (curve.confidence >= low - 0.01) & (curve.confidence <= high + 0.01)
    x, y = 100 * curve.confidence[near], 100 * curve.right[near]
    ax.plot([0, 100], [0, 100], color=INK, linestyle=DASHES, linewidth=1, label="as it should be")
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


def _in_words(truth: ArrayLike, probs: ArrayLike, bins: int) -> str:
    found, low, high = interval(partial(ece_debiased, bins=bins), truth, probs, samples=SAMPLES)
    plain = 100 * ece(truth, probs, bins=bins)
    return f"ECE {plain:.1f} %, debiased {100 * found:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def risk_coverage_curve(truth: ArrayLike, probs: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """How many labels are wrong if only the surest are kept, with a band that holds 95 % of redrawn tasks.

    Dashed: if the confidence said nothing; dotted: if every wrong label were less sure than any
    right one.

    Parameters
    ----------
    truth, probs
        As in `reliability_diagram`.
    ax
        Where to draw.
    """
    ax = fresh(ax)
    coverage, risk, _ = risk_coverage(truth, probs)
    low, high = _band(truth, probs)
    wrong = float(risk[-1])
    best = np.maximum(0, 1 - (1 - wrong) / POINTS)
    ax.fill_between(100 * POINTS, 100 * low, 100 * high, color=BLUE, alpha=0.16, linewidth=0)
    ax.plot(100 * coverage, 100 * risk, color=BLUE, linewidth=1.8, label="surest first")
    ax.axhline(100 * wrong, color=INK, linestyle=DASHES, linewidth=1, label="in any order")
    ax.plot(100 * POINTS, 100 * best, color=GREEN, linestyle=(0, (1, 1.5)), linewidth=1.5, label="best order")
    top = max(1.0, 100 * float(np.nanmax([*high, wrong])))
    ax.set(xlim=(0, 101), ylim=(-0.03 * top, 1.06 * top))
    label(ax, "tasks kept (%)", "wrong among them (%)")
    key(ax, columns=3)
    return ax


def _band(truth: ArrayLike, probs: ArrayLike) -> tuple[Floats, Floats]:
    def risks(true: Any, p: Any, weight: Any) -> Floats:
        return np.stack([risk_at(true, p, coverage=share, weight=weight) for share in POINTS], axis=-1)

    _, low, high = interval(risks, truth, probs, samples=SAMPLES)
    return low, high
