from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from crowdpilot.hybrid import ReplayResult
from crowdpilot.reporting import plots
from crowdpilot.reporting.plots.replay import save_replay


def run(policy: str, seed: int, votes: list[float], loss: list[float]) -> ReplayResult:
    used = np.array(votes, float)
    lost = np.array(loss, float)
    return ReplayResult(policy, seed, used, 0.1 * used, lost, lost / 2, np.full(len(used), 0.05))


RUNS = [
    run("value", 0, [0, 1, 2], [0.5, 0.3, 0.1]),
    run("value", 1, [0, 1], [0.5, 0.2]),
    run("fixed[votes=3]", 0, [0, 2, 3], [0.5, 0.4, 0.2]),
]
UNKNOWN = [run("value", 0, [0, 1], [np.nan, np.nan])]
ODD = {
    "ordinary": RUNS,
    "no truth": UNKNOWN,
    "nothing asked": [run("value", 0, [0], [0.5])],
    "nothing lost": [run("value", 0, [0, 1], [0.0, 0.0])],
    "many with nasty names": [run(f"$x^{n}$[{'long' * 20}]", 0, [0, n], [0.5, 0.1]) for n in range(1, 12)],
}


def marks(ax: Any) -> dict[str, tuple[float, float]]:
    drawn = (line for line in ax.get_lines() if not str(line.get_label()).startswith("_"))
    return {line.get_label(): tuple(line.get_xydata()[0].tolist()) for line in drawn}


@pytest.mark.parametrize("draw", [plots.replay_curves, plots.total_costs])
@pytest.mark.parametrize("runs", ODD.values(), ids=ODD)
def test_whatever_happened_can_be_drawn_and_nothing_is_cut(draw: Any, runs: list[ReplayResult]) -> None:
    figure = draw(runs).figure
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0) > -0.01
    assert box.x1 < width + 0.01
    assert box.y1 < height + 0.01


def test_a_curve_is_the_mean_over_seeds_and_a_run_that_ended_keeps_its_loss() -> None:
    ax = plots.replay_curves(RUNS)
    value = next(line for line in ax.get_lines() if len(line.get_xdata()) > 1).get_xydata()
    for votes, loss in ((0, 0.5), (1, (0.3 + 0.2) / 2), (2, (0.1 + 0.2) / 2)):
        assert np.interp(votes, *value.T) == pytest.approx(loss, abs=0.002)
    assert marks(ax)["value"] == pytest.approx((1.5, 0.15))
    assert marks(ax)["fixed[votes=3]"] == pytest.approx((3, 0.2))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("votes per item", "loss per item")


def test_other_measures_can_be_drawn_against_money() -> None:
    ax = plots.replay_curves(RUNS, against="spent", what="error")
    assert marks(ax)["fixed[votes=3]"] == pytest.approx((0.3, 0.1))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("cost per item", "error rate")


def test_without_truth_the_expected_loss_is_drawn() -> None:
    ax = plots.replay_curves(UNKNOWN)
    assert ax.get_ylabel() == "expected loss per item"
    assert marks(ax)["value"] == pytest.approx((1, 0.05))


def test_bars_end_at_the_total_and_the_diamond_is_what_was_expected() -> None:
    ax = plots.total_costs(RUNS)
    paid, lost = ([bar.get_width() for bar in bars] for bars in ax.containers[:2])
    assert paid == pytest.approx([0.15, 0.3])
    assert lost == pytest.approx([0.15, 0.2])
    diamonds = next(line for line in ax.get_lines() if line.get_label() == "expected total")
    assert diamonds.get_xdata() == pytest.approx([0.2, 0.35])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["value", "fixed[votes=3]"]


def test_they_can_be_drawn_into_existing_axes() -> None:
    left, right = Figure().subplots(1, 2)
    assert plots.replay_curves(RUNS, ax=left) is left
    assert plots.total_costs(RUNS, ax=right) is right


@pytest.mark.parametrize("runs", ODD.values(), ids=ODD)
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_file_has_both_pictures(tmp_path: Path, runs: list[ReplayResult], suffix: str) -> None:
    save_replay(tmp_path / f"it{suffix}", runs)
    assert (tmp_path / f"it{suffix}").stat().st_size > 1000
