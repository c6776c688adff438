"""Calibration error without bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct, idct
from scipy.sparse import csr_array

from crowdpilot.arrays import Floats, divide
from crowdpilot.metrics.binning import believe
from crowdpilot.metrics.compare import plain

GRID = 2048  # points between 0 and 1
HALVINGS = 20
FAINT = 1e-6  # of the highest density, below which nothing is said


class SmoothCurve(NamedTuple):
    """How often labels are right at each confidence, (points,)."""

    confidence: Floats  # from 0 to 1
    right: Floats  # NaN where nothing is near
    density: Floats  # of the tasks


def smooth_ece(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Calibration error after smoothing, with as much smoothing as there is error.

    The gaps [label is right] - confidence are smeared over the scale of confidence by a Gaussian
    of width sigma that is reflected at 0 and 1; their absolute value is integrated. It falls as
    sigma grows, and the result is where both are the same. So there are no bins to choose, and a
    small change of the probabilities changes the result by little.

    On a grid of 2048 points the reflected Gaussian multiplies cosines: frequency k becomes
    exp(-(pi k sigma)^2 / 2) of itself.

    References
    ----------
    Błasiok and Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR
    2024. https://arxiv.org/abs/2309.12236

    Examples
    --------
    >>> round(smooth_ece([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.25
    """
    believed = believe(truth, probs, weight)
    total = believed.weight.sum(axis=-1, keepdims=True)
    gaps = believed.weight @ _lay_out(believed.confidence, believed.gap) / total  # (..., GRID)
    waves = dct(gaps, norm="ortho", axis=-1)
    low, high = np.zeros(total.shape), np.ones(total.shape)
    for _ in range(HALVINGS):
        sigma = (low + high) / 2
        more = _smoothed(waves, sigma) > sigma
        low, high = np.where(more, sigma, low), np.where(more, high, sigma)
    return plain(_smoothed(waves, high)[..., 0])


def smooth_curve(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> SmoothCurve:
    """Share of right labels near each confidence: the confidence plus the gap as `smooth_ece` smooths it.

    So the distance between the curve and the diagonal, weighted by the density, is the smooth
    calibration error, but where the curve would leave the scale and is cut.

    Examples
    --------
    >>> curve = smooth_curve([0, 0, 1, 0], [[0.8, 0.2]] * 4)
    >>> round(float(curve.right[np.searchsorted(curve.confidence, 0.8)]), 2)
    0.75
    """
    believed = believe(truth, probs, weight)
    sigma = np.maximum(smooth_ece(truth, probs, weight=weight), 1 / GRID)
    kept = np.exp(-((np.pi * np.arange(GRID) * sigma) ** 2) / 2)
    mass, gap = (
        idct(dct(believed.weight @ _lay_out(believed.confidence, values), norm="ortho") * kept, norm="ortho")
        for values in (np.ones(len(believed.gap)), believed.gap)
    )
    enough = np.where(mass > FAINT * mass.max(), mass, 0)
    confidence = (np.arange(GRID) + 0.5) / GRID
    right = np.clip(confidence + divide(gap, enough), 0, 1)
    return SmoothCurve(confidence, right, GRID * mass / mass.sum())


def _lay_out(places: Floats, values: Floats) -> csr_array:
    """Sparse (tasks, GRID): each value shared by the two points of the grid beside its place."""
    at = places * GRID - 0.5
    left = np.floor(at).astype(np.int32)
    right_share = at - left
    columns = np.clip(np.stack([left, left + 1], axis=1), 0, GRID - 1)
    shares = np.stack([values * (1 - right_share), values * right_share], axis=1)
    return csr_array((shares.ravel(), columns.ravel(), 2 * np.arange(len(at) + 1)), (len(at), GRID))


def _smoothed(waves: Floats, sigma: Floats) -> Floats:
    """The sum of absolute gaps after smoothing, (..., 1)."""
    kept = np.exp(-((np.pi * np.arange(GRID) * sigma) ** 2) / 2)
    total: Floats = np.abs(idct(waves * kept, norm="ortho", axis=-1)).sum(axis=-1, keepdims=True)
    return total
