from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from crowdpilot.reporting import plots
from crowdpilot.reporting.plots.style import BLUE, RED

NAN, INF = float("nan"), float("inf")
ROUNDS = {
    "ordinary": {"dasc": [2.5, 1.6, 1.4], "confidence": [2.5, 20.0, 31.0], "random": [2.5, 2.4, 2.6]},
    "nothing known": {"dasc": [NAN, NAN]},
    "no round": {"dasc": []},
    "nothing": {},
    "an empty class": {"confidence": [3.0, INF, 7.0]},
    "the base alone": {"random": [1.0]},
    "many ways with nasty names": {f"$x^{n}$ <b>with a long name": [1.0 + n, 1.5] for n in range(9)},
    "many rounds": {"dasc": list(np.linspace(1, 500, 200))},
}
DRAWN: dict[str, Callable[[Any], Any]] = {
    "imbalance": lambda curves: plots.imbalance_by_round(curves, votes=2.5, truth=1.2),
    "imbalance alone": plots.imbalance_by_round,
    "quality": lambda curves: plots.quality_by_round(curves, curves),
    "scores": plots.scores_by_round,
}


def lines(ax: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in ax.get_lines()}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("curves", ROUNDS.values(), ids=ROUNDS)
def test_whatever_happened_can_be_drawn_and_nothing_is_cut(draw: Callable[[Any], Any], curves: Any) -> None:
    figure = np.asarray(draw(curves), object).flat[0].figure
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0) > -0.01
    assert box.x1 < width + 0.01
    assert box.y1 < height + 0.01
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in figure.axes)


def test_each_round_is_where_it_belongs() -> None:
    drawn = lines(plots.imbalance_by_round(ROUNDS["ordinary"], votes=2.5, truth=1.2))
    assert drawn["dasc"].get_xydata().tolist() == [[0, 2.5], [1, 1.6], [2, 1.4]]
    assert set(drawn["real votes"].get_ydata()) == {2.5}
    assert set(drawn["true classes"].get_ydata()) == {1.2}


def test_what_is_not_known_leaves_a_gap() -> None:
    assert lines(plots.imbalance_by_round(ROUNDS["an empty class"]))["confidence"].get_xdata().tolist() == [
        0,
        2,
    ]


def test_large_ratios_are_drawn_on_a_logarithmic_scale() -> None:
    assert plots.imbalance_by_round(ROUNDS["ordinary"]).get_yscale() == "log"
    assert plots.imbalance_by_round({"dasc": [2.5, 1.4]}).get_yscale() == "linear"


def test_shares_are_drawn_in_percent_with_common_classes_left() -> None:
    left, right = plots.quality_by_round({"dasc": [NAN, 0.9]}, {"dasc": [NAN, 0.7]})
    assert lines(left)["dasc"].get_xydata().tolist() == [[1, 90]]
    assert lines(right)["dasc"].get_ydata().tolist() == [70]
    assert left.get_ylim() == right.get_ylim()


def test_the_base_is_a_line() -> None:
    drawn = lines(plots.scores_by_round({"dasc": [0.8, 0.9], "random": [0.8, 0.7]}))
    assert drawn["base"].get_ydata() == pytest.approx([80, 80])


def test_a_way_to_choose_looks_the_same_everywhere_and_unlike_the_others() -> None:
    for curves in ({"random": [1.0], "DASC": [1.0]}, {"dasc": [2.0]}):
        drawn = plots.scores_by_round(curves).get_lines()
        found = {line.get_label().lower(): (to_hex(line.get_color()), line.get_marker()) for line in drawn}
        assert found["dasc"] == (BLUE, "o")
    drawn = lines(plots.imbalance_by_round(ROUNDS["ordinary"]))
    assert drawn["confidence"].get_color() == RED
    assert len({line.get_marker() for line in drawn.values()}) == 3


def test_they_can_be_drawn_into_existing_axes() -> None:
    left, right = Figure().subplots(1, 2)
    assert plots.imbalance_by_round(ROUNDS["ordinary"], ax=left) is left
    assert plots.scores_by_round(ROUNDS["ordinary"], ax=right) is right


def test_plots_of_learning_do_not_load_torch() -> None:
    code = "import crowdpilot.reporting.plots.learning, sys; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
