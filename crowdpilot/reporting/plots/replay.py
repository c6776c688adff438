"""Plots of replays: loss of each policy against votes or cost, and total costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.replay.run import ReplayResult
from crowdpilot.reporting.plots.style import (
    BLUE,
    HEIGHT,
    INK,
    LINE,
    LINE_COLORS,
    LINE_MARKS,
    ORANGE,
    PAPER,
    WIDTH,
    add_legend,
    label_axes,
    name_ticks,
    new_axes,
    short_name,
)

CURVE_POINTS = 200
MAX_POLICY_NAME = 28  # characters
AXES = {"votes": "votes per item", "spent": "cost per item"}
LOSSES = {"loss": "loss per item", "expected": "expected loss per item", "error": "error rate"}


def replay_curves(
    runs: Sequence[ReplayResult],
    *,
    against: Literal["votes", "spent"] = "votes",
    what: Literal["loss", "expected", "error"] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The loss of each policy against what it has used so far: mean over seeds, ± one standard deviation.

    A run that has ended keeps its loss. The mark is where runs end on average.

    Parameters
    ----------
    runs
        Of any number of policies and seeds.
    against
        Votes or money.
    what
        The loss, the error rate, or the loss that the campaign expected; if not given, the loss
        if the truth is known, else what was expected.
    ax
        Where to draw.
    """
    ax = new_axes(ax)
    what = what or ("loss" if is_known(runs) else "expected")
    for (policy, mine), (color, mark) in zip(by_policy(runs).items(), _line_styles(runs), strict=True):
        ends = np.array([[getattr(run, against)[-1], getattr(run, what)[-1]] for run in mine])
        grid = np.linspace(0, ends[:, 0].max(), CURVE_POINTS)
        curves = np.stack([np.interp(grid, getattr(run, against), getattr(run, what)) for run in mine])
        mean, off = curves.mean(axis=0), curves.std(axis=0, ddof=int(len(mine) > 1))
        ax.fill_between(grid, mean - off, mean + off, color=color, alpha=0.15, linewidth=0)
        ax.plot(grid, mean, color=color, linewidth=1.6, label=None)
        ax.plot(
            *ends.mean(axis=0), mark, color=color, markersize=7, markeredgecolor=PAPER, markeredgewidth=0.7,
            label=short_name(policy, MAX_POLICY_NAME), zorder=3,
        )  # fmt: skip
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    label_axes(ax, AXES[against], LOSSES[what])
    add_legend(ax, columns=1 if any(len(run.policy) > MAX_POLICY_NAME // 2 for run in runs) else 2)
    return ax


def total_costs(runs: Sequence[ReplayResult], *, ax: Axes | None = None) -> Axes:
    """Total cost of each policy per item: votes, and wrong decisions on top of them.

    The line is ± one standard deviation of the total over seeds; the diamond is the total that the
    campaign expected, without looking at the truth.
    """
    groups = by_policy(runs)
    ax = new_axes(ax, wide=1.5 * WIDTH, high=max(HEIGHT, 1.0 + 0.42 * len(groups)))
    spent, loss, expected = (
        [np.array([getattr(run, name)[-1] for run in mine]) for mine in groups.values()]
        for name in ("spent", "loss", "expected")
    )
    position = np.arange(len(groups))
    paid, lost = _means(spent), np.nan_to_num(_means(loss))
    ax.barh(position, paid, 0.6, color=BLUE, label="spent")
    ax.barh(position, lost, 0.6, paid, color=ORANGE, label="lost by errors")
    spread = [float((s + x).std(ddof=int(len(s) > 1))) for s, x in zip(spent, loss, strict=True)]
    ax.errorbar(paid + lost, position, xerr=np.nan_to_num(spread), fmt="none", ecolor=INK, elinewidth=1)
    ax.plot(
        paid + _means(expected),
        position,
        "D",
        color=PAPER,
        markeredgecolor=INK,
        markersize=5,
        label="expected total",
    )
    ax.set_xlim(left=0)
    ax.set_ylim(len(groups) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", color=LINE, linewidth=0.7)
    name_ticks(ax.yaxis, list(groups), length=MAX_POLICY_NAME)
    label_axes(ax, "cost per item", "")
    add_legend(ax, columns=3)
    return ax


def save_replay(path: Path, runs: Sequence[ReplayResult]) -> None:
    """Write both plots side by side to a file; without truth the first alone."""
    policies = len(by_policy(runs))
    high = max(HEIGHT, 1.6 + 0.3 * policies)
    if not is_known(runs):
        figure = Figure((1.3 * WIDTH, high), layout="constrained")
        replay_curves(runs, ax=figure.subplots())
    else:
        figure = Figure((2.4 * WIDTH, high), layout="constrained")
        left, right = figure.subplots(1, 2)
        replay_curves(runs, ax=left)
        total_costs(runs, ax=right)
    figure.savefig(path, dpi=200)


def by_policy(runs: Sequence[ReplayResult]) -> dict[str, list[ReplayResult]]:
    """The runs of each policy, in the order in which policies come."""
    return {
        name: [run for run in runs if run.policy == name] for name in dict.fromkeys(r.policy for r in runs)
    }


def is_known(runs: Sequence[ReplayResult]) -> bool:
    """Whether the truth is known."""
    return any(bool(np.isfinite(run.loss).any()) for run in runs)


def _line_styles(runs: Sequence[ReplayResult]) -> list[tuple[str, str]]:
    """A colour and a marker for each policy, different unless there are very many."""
    size = len(LINE_COLORS)
    return [(LINE_COLORS[n % size], LINE_MARKS[(n + n // size) % size]) for n in range(len(by_policy(runs)))]


def _means(values: list[Floats]) -> Floats:
    return np.array([v.mean() for v in values])
