"""Plot of a forecast: loss or error rate against cost, with its interval."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crowdpilot.hybrid.forecast.curves import Forecast
from crowdpilot.reporting.plots.style import (
    BLUE,
    DASHES,
    GREEN,
    HEIGHT,
    INK,
    RED,
    WIDTH,
    add_legend,
    label_axes,
    new_axes,
)

NAMES = {"loss": "loss per item", "error": "error rate (%)"}


def forecast_curve(
    forecast: Forecast,
    *,
    measure: Literal["loss", "error"] = "loss",
    target: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Loss or error rate against cost, with the interval at each cost, and where the campaign ends by itself.

    Parameters
    ----------
    forecast
        What `forecast` or `forecast_design` has found.
    measure
        The loss, or the share of wrong decisions.
    target
        Drawn as a line.
    ax
        Where to draw.
    """
    ax = new_axes(ax)
    scale = 100 if measure == "error" else 1
    cost, low, median, high = forecast.band(measure)
    level = f"{100 * forecast.level:.0f} %"
    ax.fill_between(cost, scale * low, scale * high, color=BLUE, alpha=0.18, linewidth=0, label=level)
    ax.plot(cost, scale * median, color=BLUE, linewidth=1.8, label="median")
    if target is not None:
        ax.axhline(scale * target, color=RED, linestyle=DASHES, linewidth=1, label="target")
    ends = forecast.end("spent")
    height = scale * float(np.interp(ends.median, cost, median))
    ax.errorbar(
        ends.median, height, xerr=[[ends.median - ends.low], [ends.high - ends.median]], fmt="D", color=GREEN,
        ecolor=INK, elinewidth=1, capsize=2.5, markersize=5, label="ends by itself", zorder=3,
    )  # fmt: skip
    wide = max(float(cost[-1] - cost[0]), 1e-9)
    ax.set_xlim(cost[0] - 0.02 * wide, cost[-1] + 0.03 * wide)
    ax.set_ylim(0, max(1.06 * scale * float(max(high.max(), target or 0)), 1e-9))
    label_axes(ax, "cost per item", NAMES[measure])
    add_legend(ax)
    return ax


def save_forecast(
    path: Path, forecast: Forecast, measure: Literal["loss", "error"], target: float | None
) -> None:
    """Write the plot to a file."""
    figure = Figure((1.3 * WIDTH, 1.2 * HEIGHT), layout="constrained")
    forecast_curve(forecast, measure=measure, target=target, ax=figure.subplots())
    figure.savefig(path, dpi=200)
