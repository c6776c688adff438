"""Smooth calibration error (smECE) and the smoothed reliability curve, without bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct, idct
from scipy.sparse import csr_array

from crowdpilot.arrays import Floats, divide
from crowdpilot.metrics.compare import plain
from crowdpilot.metrics.confidence_bins import top_labels

GRID_POINTS = 2048  # between 0 and 1
BISECTIONS = 20
MIN_RELATIVE_DENSITY = 1e-6  # share of the highest density below which the curve is undefined


class SmoothCurve(NamedTuple):
    """The smoothed reliability curve, (points,) each."""

    confidence: Floats  # from 0 to 1
    right: Floats  # accuracy near this confidence; NaN where there are no tasks
    density: Floats  # of the tasks


def smooth_ece(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Smooth calibration error: after kernel smoothing with as much width as there is error.

    The gaps [label is right] - confidence are smoothed over the scale of confidence by a Gaussian
    kernel of width sigma that is reflected at 0 and 1; their absolute value is integrated. It falls as
    sigma grows, and the result is where both are the same. So there are no bins to choose, and a
    small change of the probabilities changes the result by little.

    On a grid of 2048 points the kernel is applied by a discrete cosine transform, whose frequency k
    is multiplied by exp(-(pi k sigma)^2 / 2).

    References
    ----------
    Błasiok and Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR
    2024. https://arxiv.org/abs/2309.12236

    Examples
    --------
    >>> round(smooth_ece([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.25
    """
    top = top_labels(truth, probs, weight)
    total = top.weight.sum(axis=-1, keepdims=True)
    gaps = top.weight @ _on_grid(top.confidence, top.gap) / total  # (..., GRID_POINTS)
    spectrum = dct(gaps, norm="ortho", axis=-1)
    low, high = np.zeros(total.shape), np.ones(total.shape)
    for _ in range(BISECTIONS):
        sigma = (low + high) / 2
        more = _smoothed(spectrum, sigma) > sigma
        low, high = np.where(more, sigma, low), np.where(more, high, sigma)
    return plain(_smoothed(spectrum, high)[..., 0])


def smooth_curve(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> SmoothCurve:
    """Accuracy near each confidence: the confidence plus the gap as `smooth_ece` smooths it.

    So the distance between the curve and the diagonal, weighted by the density, is the smooth
    calibration error, but where the curve would leave the scale and is cut.

    Examples
    --------
    >>> curve = smooth_curve([0, 0, 1, 0], [[0.8, 0.2]] * 4)
    >>> round(float(curve.right[np.searchsorted(curve.confidence, 0.8)]), 2)
    0.75
    """
    top = top_labels(truth, probs, weight)
    sigma = np.maximum(smooth_ece(truth, probs, weight=weight), 1 / GRID_POINTS)
    kernel = _gaussian_kernel(sigma)
    mass, gap = (
        idct(dct(top.weight @ _on_grid(top.confidence, values), norm="ortho") * kernel, norm="ortho")
        for values in (np.ones(len(top.gap)), top.gap)
    )
    enough = np.where(mass > MIN_RELATIVE_DENSITY * mass.max(), mass, 0)
    confidence = (np.arange(GRID_POINTS) + 0.5) / GRID_POINTS
    right = np.clip(confidence + divide(gap, enough), 0, 1)
    return SmoothCurve(confidence, right, GRID_POINTS * mass / mass.sum())


def _on_grid(confidence: Floats, values: Floats) -> csr_array:
    """Sparse (tasks, GRID_POINTS): each value split between the two points beside its confidence."""
    at = confidence * GRID_POINTS - 0.5
    left = np.floor(at).astype(np.int32)
    right_share = at - left
    columns = np.clip(np.stack([left, left + 1], axis=1), 0, GRID_POINTS - 1)
    shares = np.stack([values * (1 - right_share), values * right_share], axis=1)
    return csr_array((shares.ravel(), columns.ravel(), 2 * np.arange(len(at) + 1)), (len(at), GRID_POINTS))


def _smoothed(spectrum: Floats, sigma: Floats) -> Floats:
    """The sum of absolute gaps after smoothing, (..., 1), from their cosine transform."""
    smoothed = idct(spectrum * _gaussian_kernel(sigma), norm="ortho", axis=-1)
    total: Floats = np.abs(smoothed).sum(axis=-1, keepdims=True)
    return total


def _gaussian_kernel(sigma: Floats) -> Floats:
    """Factors of the frequencies of a cosine transform for a Gaussian of this width, (..., GRID_POINTS)."""
    kernel: Floats = np.exp(-((np.pi * np.arange(GRID_POINTS) * sigma) ** 2) / 2)
    return kernel
