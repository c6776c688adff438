"""Pictures of labels and their confidence against the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from crowdpilot.arrays import Floats, divide
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.plots.axes import BLUE, DASHES, INK, SOFT, fresh, key, label
from crowdpilot.reporting.plots.confusion_matrices import draw_matrix
from crowdpilot.reporting.truth import Truth, compare

BINS = 10


def reliability(diagnosis: Diagnosis, truth: Truth, ax: Axes | None = None) -> Axes:
    """How often labels of each confidence are right; on the diagonal the confidence can be believed.

    Each point is a tenth of the scale with the number of its tasks and the 95 % interval of Wilson.
    """
    ax = fresh(ax, high=3.9)
    known = compare(diagnosis.result, truth)
    sure, right = known.confidence, known.right
    which = np.clip(np.ceil(sure * BINS).astype(int) - 1, 0, BINS - 1)
    size = np.bincount(which, minlength=BINS)
    seen = size > 0
    x = np.bincount(which, sure, BINS)[seen] / size[seen]
    hits = np.bincount(which, right, BINS)[seen].astype(np.float64)
    low, high = _wilson(hits, size[seen])
    y = hits / size[seen]
    ax.plot([0, 100], [0, 100], color=INK, linestyle=DASHES, linewidth=1, label="as it should be")
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
    label(ax, "confidence (%)", "right (%)")
    key(ax)
    return ax


def _wilson(hits: Floats, size: Any, z: float = 1.96) -> tuple[Floats, Floats]:
    """Bounds of a share (Wilson, 1927)."""
    p = hits / size
    middle = (p + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(p * (1 - p) / size + z**2 / (4 * size**2))
    return middle - half, middle + half


def mistakes(diagnosis: Diagnosis, truth: Truth, ax: Axes | None = None) -> Axes:
    """Which labels the tasks of each true class have."""
    known = compare(diagnosis.result, truth)
    K = len(known.classes)
    counts = np.zeros((K, K))
    np.add.at(counts, (known.truth, known.label), 1)
    rows = counts.sum(axis=1, keepdims=True)
    shares = divide(counts, rows)
    return draw_matrix(shares, known.classes, "true class", "labels against the truth", ax)
