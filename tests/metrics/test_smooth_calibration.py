"""The smooth calibration error agrees with an integral and with relplot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from crowdpilot.metrics import smooth_curve, smooth_ece


def case(n: int, seed: int, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    confidence = (0.5 + 0.5 * rng.beta(2, 1, n)).round(3)
    right = rng.random(n) < confidence**power
    return confidence, right, np.ones(n)


def measure(confidence: np.ndarray, right: np.ndarray, weight: np.ndarray) -> float:
    return smooth_ece(1 - right.astype(int), np.stack([confidence, 1 - confidence], axis=1), weight=weight)


def by_integral(confidence: np.ndarray, right: np.ndarray, weight: np.ndarray) -> float:
    """Gaussians and their reflections, added on a fine grid; the fixed point by Brent's method."""
    t = (np.arange(2000) + 0.5) / 2000
    images = [2 * m + sign * confidence for m in (-1, 0, 1) for sign in (1, -1)]

    def smoothed(sigma: float) -> float:
        kernel = sum(np.exp(-(((t[:, None] - image) / sigma) ** 2) / 2) for image in images)
        total = np.abs(kernel @ (weight * (right - confidence))).mean()
        return float(total / weight.sum() / sigma / np.sqrt(2 * np.pi))

    return float(brentq(lambda sigma: smoothed(sigma) - sigma, 5e-3, 0.4, xtol=1e-6))


@pytest.mark.parametrize(("n", "seed", "power"), [(20, 0, 1), (50, 1, 3), (100, 2, 1), (40, 3, 0.2)])
def test_it_is_where_the_smoothed_error_equals_the_smoothing(n: int, seed: int, power: float) -> None:
    confidence, right, weight = case(n, seed, power)
    expected = by_integral(confidence, right, weight)
    assert measure(confidence, right, weight) == pytest.approx(expected, abs=2e-5)
    weight = np.random.default_rng(seed).uniform(0, 2, n)
    expected = by_integral(confidence, right, weight)
    assert measure(confidence, right, weight) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize(
    ("n", "seed", "power", "expected"),
    [
        (20, 0, 1, 0.09361534322340903),
        (100, 1, 3, 0.15791813025996304),
        (500, 2, 1, 0.024011503735410035),
        (2000, 3, 2, 0.11579416122027662),
    ],
)
def test_it_agrees_with_relplot(n: int, seed: int, power: float, expected: float) -> None:
    """Values of `relplot.smECE`, version 1.0.3, which finds the width to within a thousandth."""
    assert measure(*case(n, seed, power)) == pytest.approx(expected, abs=1e-3)


def test_a_small_change_of_the_probabilities_changes_it_by_little() -> None:
    """Around a half, where bins part: ECE jumps there, this does not."""
    right = np.repeat([True, False], 50)
    found = [measure(0.6 + shift * np.where(right, 1, -1), right, np.ones(100)) for shift in (0, 1e-6, 1e-4)]
    np.testing.assert_allclose(found, found[0], atol=3e-4)


@pytest.mark.parametrize(("power", "low", "high"), [(1, 0, 0.02), (2, 0.1, 0.2)])
def test_the_error_is_what_lies_between_the_curve_and_the_diagonal(
    power: float, low: float, high: float
) -> None:
    """Up to what is cut where the curve would leave the scale, far from the tasks."""
    confidence, right, weight = case(20_000, 6, power)
    curve = smooth_curve(1 - right.astype(int), np.stack([confidence, 1 - confidence], axis=1))
    assert curve.density.mean() == pytest.approx(1)
    area = np.nansum(np.abs(curve.right - curve.confidence) * curve.density) / len(curve.density)
    assert area == pytest.approx(measure(confidence, right, weight), abs=5e-4)
    assert low < area < high
