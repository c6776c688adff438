"""Plots of labels against the truth: reliability of the confidence, and the confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from crowdpilot.arrays import Floats, divide
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.metrics.confidence_bins import equal_width
from crowdpilot.reporting.plots.confusion_matrices import draw_matrix
from crowdpilot.reporting.plots.style import BLUE, DASHES, INK, SOFT, add_legend, label_axes, new_axes
from crowdpilot.reporting.truth import Truth, match_truth

BINS = 10


def reliability(diagnosis: Diagnosis, truth: Truth, ax: Axes | None = None) -> Axes:
    """Accuracy of the labels at each confidence; on the diagonal the confidence is calibrated.

    Each point is a bin of the confidence with the number of its tasks and Wilson's 95 % interval.
    """
    ax = new_axes(ax, high=3.9)
    known = match_truth(diagnosis.result, truth)
    confidence, right = known.confidence, known.right
    bin_of = equal_width(confidence, BINS)
    size = np.bincount(bin_of, minlength=BINS)
    seen = size > 0
    x = np.bincount(bin_of, confidence, BINS)[seen] / size[seen]
    hits = np.bincount(bin_of, right, BINS)[seen].astype(np.float64)
    low, high = _wilson(hits, size[seen])
    y = hits / size[seen]
    ax.plot([0, 100], [0, 100], color=INK, linestyle=DASHES, linewidth=1, label="perfect calibration")
    ax.vlines(100 * x, 100 * low, 100 * high, color=SOFT, linewidth=1.2)
    ax.plot(
        100 * x,
        100 * y,
        "o-",
        color=BLUE,
        markersize=5,
        linewidth=1.2,
        label="labels (tasks)",
    )
    for a, b, n in zip(x, low, size[seen], strict=True):
        ax.annotate(
            f"{n:,}",
            (100 * a, 100 * b),
            (0, -3),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7,
            color=INK,
        )
    least = min(5, int(BINS * x.min() - 0.5)) * BINS
    ax.set(xlim=(least - 3, 103), ylim=(-9, 103), xticks=range(least, 101, 10))
    label_axes(ax, "confidence (%)", "right (%)")
    add_legend(ax)
    return ax


def _wilson(hits: Floats, size: Any, z: float = 1.96) -> tuple[Floats, Floats]:
    """Bounds of a share (Wilson, 1927)."""
    p = hits / size
    middle = (p + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(p * (1 - p) / size + z**2 / (4 * size**2))
    return middle - half, middle + half


def mistakes(diagnosis: Diagnosis, truth: Truth, ax: Axes | None = None) -> Axes:
    """Confusion matrix of the labels: their shares among the tasks of each true class."""
    known = match_truth(diagnosis.result, truth)
    K = len(known.classes)
    counts = np.zeros((K, K))
    np.add.at(counts, (known.truth, known.label), 1)
    rows = counts.sum(axis=1, keepdims=True)
    shares = divide(counts, rows)
    return draw_matrix(shares, known.classes, "true class", "labels against the truth", ax)
