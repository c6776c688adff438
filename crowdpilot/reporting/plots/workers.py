"""Plots of the workers: skill with intervals, ranking by a score, and drift of skill."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.plots.style import (
    BLUE,
    DASHES,
    FLAG_MARKS,
    INK,
    LOG_SCALE_RATIO,
    MAX_VECTOR_MARKS,
    PAPER,
    SOFT,
    TEXT_POINTS,
    add_legend,
    draw_flagged,
    label_axes,
    log_ticks,
    name_ticks,
    new_axes,
    new_figure,
    short_name,
    style_axes,
)


class Score(NamedTuple):
    """A column of the worker table that can be plotted: the label and the unit of its axis."""

    name: str
    axis: str
    scale: float = 1.0
    bounds: tuple[float, float] | None = None


SHARE: tuple[float, float] = (0, 100)
SCORES = {
    score.name: score
    for score in (
        Score("skill", "skill (%)", 100, SHARE),
        Score("trace", "trace (%)", 100, SHARE),
        Score("spam_score", "spammer score"),
        Score("spam_distance", "spammer distance"),
        Score("spam_probability", "P(spammer) (%)", 100, SHARE),
        Score("ability", "GLAD ability"),
        Score("consensus", "consensus (%)", 100, SHARE),
        Score("peers", "peers (%)", 100, SHARE),
        Score("gold_accuracy", "gold tasks (%)", 100, SHARE),
        Score("trap_accuracy", "traps (%)", 100, SHARE),
        Score("median_seconds", "median seconds"),
        Score("drift", "drift (points)", 100),
        Score("top_share", "top answer (%)", 100, SHARE),
    )
}
MAX_NAMED_WORKERS = 30


def scores_of(diagnosis: Diagnosis) -> list[str]:
    """The names of the scores that at least one worker has."""
    columns = diagnosis.workers
    return [name for name in SCORES if name in columns and np.isfinite(columns[name]).any()]


def values_of(diagnosis: Diagnosis, score: str) -> Floats:
    """A score of the workers in the unit of its axis, (workers,)."""
    if score not in SCORES or score not in diagnosis.workers:
        raise ValueError(f"there is no score {score!r}, expected one of {', '.join(scores_of(diagnosis))}")
    return np.asarray(diagnosis.workers[score], np.float64) * SCORES[score].scale


def skill(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """The skill of each worker against their number of votes, with its interval and flags."""
    ax = new_axes(ax, wide=8.7, high=4.6)
    low, value, high = (100 * diagnosis.workers[name] for name in ("skill_low", "skill", "skill_high"))
    load = np.asarray(diagnosis.workers["votes"], np.float64)
    known = np.isfinite(value) & (load > 0)
    load = load + _offsets(load, value)
    dense = known.sum() > MAX_VECTOR_MARKS
    ax.vlines(load[known], low[known], high[known], color=SOFT, linewidth=0.6, alpha=0.45, rasterized=dense)
    chance = 100 / max(len(diagnosis.votes.classes), 1)
    ax.axhline(chance, color=INK, linestyle=DASHES, linewidth=1, label="guessing")
    left = known.copy()
    for flag, (color, marker) in FLAG_MARKS.items():
        mine = left & diagnosis.flagged_as(flag)
        left &= ~mine
        if mine.any():
            _dots(ax, load[mine], value[mine], color, marker, f"{flag} ({mine.sum():,})")
    _dots(ax, load[left], value[left], BLUE, "o", f"no flag ({left.sum():,})", dense)
    scale = _scale_loads(ax, load[known])
    ax.set_ylim(-3, 103)
    label_axes(ax, f"votes per worker{scale}", f"skill (%), {100 * diagnosis.rules.level:.3g} % interval")
    add_legend(ax, columns=4)
    return ax


def _offsets(load: Floats, value: Floats) -> Floats:
    """Horizontal offsets of workers with equally many votes, so that they stand side by side, (workers,)."""
    order = np.lexsort((value, load))
    _, which, count = np.unique(load[order], return_inverse=True, return_counts=True)
    first = np.cumsum(count) - count
    offset = np.empty(len(load))
    offset[order] = (np.arange(len(load)) - first[which] - (count[which] - 1) / 2) / count[which]
    return 0.8 * offset


def _dots(ax: Axes, x: Floats, y: Floats, color: str, marker: str, name: str, dense: bool = False) -> None:
    small = marker == "o"
    ax.scatter(
        x, y, s=14 if small else 34, color=color, marker=marker, label=name, alpha=0.75 if small else 1,
        edgecolors=PAPER if small else INK, linewidths=0.4 if small else 0.6, zorder=3 if small else 4,
        rasterized=dense,
    )  # fmt: skip


def _scale_loads(ax: Axes, load: Floats) -> str:
    """Set a logarithmic scale if the numbers differ much; return the addition to the axis label."""
    low, high = (float(load.min()), float(load.max())) if len(load) else (1.0, 1.0)
    if high <= LOG_SCALE_RATIO * low:
        room = 0.04 * (high - low) + 0.5
        ax.set_xlim(low - room, high + room)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        return ""
    room = (high / low) ** 0.04
    ax.set_xscale("log")
    ax.set_xlim(low / room, high * room)
    log_ticks(ax.xaxis, low / room, high * room)
    return " (log scale)"


def ranking(diagnosis: Diagnosis, score: str = "skill", ax: Axes | None = None) -> Axes:
    """The workers sorted by a score, the flagged ones marked; few workers are named."""
    ax = new_axes(ax)
    values = values_of(diagnosis, score)
    order = np.argsort(values, kind="stable")
    order = order[np.isfinite(values[order])]
    position = np.arange(len(order))
    bad = diagnosis.flagged[order]
    y = values[order]
    dense = len(order) > MAX_VECTOR_MARKS
    ax.plot(position[~bad], y[~bad], ".", color=BLUE, markersize=4, rasterized=dense)
    if bad.any():
        draw_flagged(ax, position[bad], y[bad], size=5.5, name=f"flagged ({bad.sum():,})", dense=dense)
        add_legend(ax)
    if bounds := SCORES[score].bounds:
        ax.set_ylim(bounds[0] - 3, bounds[1] + 3)
    _rank_ticks(ax, diagnosis.votes.workers[order])
    label_axes(ax, "workers, the lowest first", SCORES[score].axis)
    return ax


def _rank_ticks(ax: Axes, names: Any) -> None:
    n = len(names)
    ax.set_xlim(-0.03 * n - 0.5, 1.03 * n - 0.5)
    if n <= MAX_NAMED_WORKERS:
        name_ticks(ax.xaxis, names, length=9)
        return
    ax.xaxis.set_major_formatter(lambda position, _: f"{position + 1:,.0f}")
    ranks = np.asarray(MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(0, n))
    ax.set_xticks(np.append(0, ranks[(ranks > 1) & (ranks <= n)] - 1))


def drift(diagnosis: Diagnosis, max_workers: int = 9) -> NDArray[Any]:
    """Skill over time of the drifting workers: one small plot each, the strongest drift first."""
    if diagnosis.windows is None or not (workers := _drifters(diagnosis, max_workers)).size:
        raise ValueError("no worker drifts, so there is nothing to draw")
    across = min(3, len(workers))
    down = -(-len(workers) // across)
    figure = new_figure(2.8 * across + 0.3, 1.9 * down + 0.3, layout="constrained")
    axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    seconds_per_unit, unit = _time_unit(diagnosis.windows["time"])
    start = np.nanmin(diagnosis.windows["time"])
    for ax, w in zip(axes.flat, workers, strict=False):
        time, right = (diagnosis.windows[name][w] for name in ("time", "skill"))
        seen = np.isfinite(right) & np.isfinite(time)
        style_axes(ax)
        passed = (time[seen] - start) / seconds_per_unit
        ax.plot(passed, 100 * right[seen], "o-", color=BLUE, linewidth=1.3, markersize=4)
        label_axes(ax, "", "", short_name(diagnosis.votes.workers[w], 22))
    for ax in axes.flat[len(workers) :]:
        ax.set_axis_off()
    axes[0, 0].set_ylim(-3, 103)
    figure.supxlabel(f"{unit} since the first vote", color=INK, fontsize=TEXT_POINTS)
    figure.supylabel("skill (%)", color=INK, fontsize=TEXT_POINTS)
    return axes


def _drifters(diagnosis: Diagnosis, max_workers: int) -> NDArray[np.intp]:
    workers = np.flatnonzero(diagnosis.flagged_as("drifting"))
    change = np.abs(diagnosis.workers["drift"][workers])
    return workers[np.argsort(-change, kind="stable")][:max_workers]


def _time_unit(time: Floats) -> tuple[float, str]:
    """The unit in seconds, and its name, that suits the time from the first vote to the last."""
    span = float(np.nanmax(time) - np.nanmin(time))
    units = ((86_400 * 3, 86_400, "days"), (3 * 3600, 3600, "hours"), (180, 60, "minutes"))
    return next(((float(size), name) for least, size, name in units if span >= least), (1.0, "seconds"))
