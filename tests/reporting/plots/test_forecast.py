from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdpilot.hybrid.forecast.curves import Forecast
from crowdpilot.reporting.plots import forecast_curve
from crowdpilot.reporting.plots.forecast import save_forecast


def made(simulations: int, points: int, top: float = 0.4) -> Forecast:
    rng = np.random.default_rng(0)
    cost = np.linspace(0.02, 0.1, points) if points > 1 else np.array([0.02])
    loss = top * np.sort(rng.random((simulations, points)), axis=1)[:, ::-1]
    ends = rng.uniform(0.05, 0.1, simulations) if points > 1 else np.full(simulations, 0.02)
    return Forecast(100, 0.9, cost, loss, loss / 2, np.zeros((2, simulations)), 50 * ends, ends)


CASES = {
    "ordinary": made(40, 60),
    "one way": made(1, 60),
    "over already": made(5, 1),
    "no errors": made(5, 10, 0.0),
    "dear errors": made(5, 10, 2000.0),
}


@pytest.mark.parametrize("measure", ["loss", "error"])
@pytest.mark.parametrize("target", [None, 0.02])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_any_forecast_can_be_drawn_and_nothing_is_cut(
    case: Forecast, measure: str, target: float | None
) -> None:
    ax = forecast_curve(case, measure=measure, target=target)  # type: ignore[arg-type] # either of two
    figure = ax.figure
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0) > -0.01
    assert box.x1 < width + 0.01
    assert box.y1 < height + 0.01
    assert ax.get_xlabel() == "cost per item"
    assert ax.get_ylabel()


def test_the_band_is_the_interval_and_the_line_the_median() -> None:
    found = CASES["ordinary"]
    ax = forecast_curve(found, measure="error", target=0.1)
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_allclose(lines["median"].get_ydata(), 100 * found.band("error").median)
    assert set(np.atleast_1d(lines["target"].get_ydata())) == {10.0}
    edges = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.max() == pytest.approx(100 * found.band("error").high.max())
    assert edges.min() == pytest.approx(100 * found.band("error").low.min())


def test_a_picture_is_saved(tmp_path: Path) -> None:
    save_forecast(tmp_path / "f.svg", CASES["ordinary"], "loss", 0.1)
    assert (tmp_path / "f.svg").read_text().lstrip().startswith("<?xml")
