"""Histogram binning is the share of a class in bins of equally many tasks."""

from __future__ import annotations

import numpy as np

from crowdpilot.calibration import Histogram
from tests.calibration.conftest import honest
from tests.calibration.test_linear_scaling import P, Y, both


def test_levels_are_the_shares_in_equal_parts() -> None:
    mapped = Histogram(bins=4, smoothing=0).fit(both(P), Y)(both(P))
    shares = np.repeat(np.reshape(Y, (4, 5)).mean(axis=1), 5)
    np.testing.assert_allclose(mapped[:, 1], shares)


def test_imaginary_tasks_are_like_the_average_task() -> None:
    mapped = Histogram(bins=4, smoothing=2).fit(both(P), Y)(both(P))
    usual = (sum(Y) + 1) / (20 + 2)
    shares = np.repeat((np.reshape(Y, (4, 5)).sum(axis=1) + 2 * usual) / 7, 5)
    np.testing.assert_allclose(mapped[:, 1], shares)


def test_edges_lie_half_way_between_tasks() -> None:
    fitted = Histogram(bins=2, smoothing=0).fit(both([0.1, 0.2, 0.6, 0.7]), [0, 0, 1, 1])
    assert (fitted(both([0.0, 0.39, 0.41, 1.0]))[:, 1] > 0.5).tolist() == [False, False, True, True]


def test_equal_probabilities_share_a_bin() -> None:
    p = np.array([0.2] * 10 + [0.9] * 2)
    mapped = Histogram(bins=5, smoothing=0).fit(both(p), [0] * 6 + [1] * 6)(both(p))
    np.testing.assert_allclose(mapped[:, 1], [0.4] * 10 + [1] * 2, atol=1e-9)


def test_bins_of_each_class_hold_equally_many_tasks() -> None:
    probs, truth = honest(1000, 3)
    fitted = Histogram(bins=8).fit(probs, truth)
    for p, edges in zip(probs.T, fitted.edges, strict=True):
        assert np.bincount(np.searchsorted(edges, p)).tolist() == [125] * 8


def test_more_bins_than_tasks_are_as_many_as_tasks() -> None:
    mapped = Histogram(bins=50, smoothing=0).fit(both([0.1, 0.5, 0.9]), [0, 1, 0])(both([0.1, 0.5, 0.9]))
    np.testing.assert_allclose(mapped[:, 1], [0, 1, 0], atol=1e-9)
