from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from crowdpilot.metrics import ece, risk_coverage
from crowdpilot.reporting.plots import reliability_diagram, risk_coverage_curve


def predict(n: int, sharp: float = 1, K: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(K), n)
    truth = (probs.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    probs = probs**sharp
    return truth, probs / probs.sum(axis=1, keepdims=True)


CASES = {
    "ordinary": predict(500, 3),
    "few tasks": predict(7),
    "one task": (np.array([1]), np.array([[0.2, 0.8]])),
    "all certain and right": (np.array([0, 1]), np.eye(2)),
    "all certain and wrong": (np.array([1, 0]), np.eye(2)),
    "one confidence": (np.array([0, 1, 0, 0]), np.full((4, 2), 0.5)),
    "many classes": predict(300, 1, 40),
    "truth that is not known": (np.array([0, -1, 1]), np.array([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]])),
}


@pytest.mark.parametrize("plot", [reliability_diagram, risk_coverage_curve])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_whatever_is_predicted_can_be_drawn_and_nothing_is_cut(plot: Any, case: Any) -> None:
    figure = np.asarray(plot(*case), object).flat[0].figure
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0) > -0.01
    assert box.x1 < width + 0.01
    assert box.y1 < height + 0.01
    assert all(ax.get_ylabel() for ax in figure.axes)
    assert figure.axes[-1].get_xlabel()


def lines(ax: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in ax.get_lines()}


def test_every_task_is_in_a_bar_and_every_bin_has_a_point() -> None:
    truth, probs = CASES["ordinary"]
    upper, lower = reliability_diagram(truth, probs, bins=10)
    assert sum(bar.get_height() for bar in lower.patches) == 500
    assert len(lines(upper)["bins, 95 %"].get_xdata()) == len(lower.patches)


def test_the_points_are_the_bins_of_ece() -> None:
    truth, probs = CASES["ordinary"]
    upper, lower = reliability_diagram(truth, probs)
    x, y = lines(upper)["bins, 95 %"].get_data()
    share = np.array([bar.get_height() for bar in lower.patches]) / 500
    assert share @ np.abs(x - y) / 100 == pytest.approx(ece(truth, probs))


def test_the_smooth_curve_of_overconfident_predictions_lies_below_the_diagonal() -> None:
    upper, _ = reliability_diagram(*CASES["ordinary"])
    x, y = lines(upper)["smooth"].get_data()
    drawn = np.isfinite(y) & (x > 70)
    assert (y[drawn] < x[drawn]).all()


def test_the_intervals_hold_their_points() -> None:
    upper, _ = reliability_diagram(*CASES["ordinary"])
    points = lines(upper)["bins, 95 %"].get_ydata()
    bounds = [np.asarray(segment)[:, 1] for segment in upper.collections[-1].get_segments()]
    assert all(low <= y <= high for y, (low, high) in zip(points, bounds, strict=True))


def test_the_curve_is_that_of_the_measure_and_ends_at_the_share_of_wrong_labels() -> None:
    truth, probs = CASES["ordinary"]
    ax = Figure().subplots()
    assert risk_coverage_curve(truth, probs, ax=ax) is ax
    drawn = lines(ax)
    curve = risk_coverage(truth, probs)
    np.testing.assert_allclose(drawn["by confidence"].get_ydata(), 100 * curve.risk)
    np.testing.assert_allclose(drawn["random order"].get_ydata(), 100 * curve.risk[-1])
    assert drawn["best order"].get_ydata()[-1] == pytest.approx(100 * curve.risk[-1])
