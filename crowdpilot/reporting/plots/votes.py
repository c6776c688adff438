"""Plots of the votes: per task, per worker, entropy, confidence, class balance, and seconds per vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.formatting import about, count
from crowdpilot.reporting.plots.style import (
    BLUE,
    DASHES,
    INK,
    LINE,
    LOG_SCALE_RATIO,
    RED,
    SKY,
    SMALL_TEXT_POINTS,
    add_legend,
    count_ticks,
    draw_bars,
    draw_count_bars,
    label_axes,
    log_edges,
    log_ticks,
    name_ticks,
    new_axes,
)
from crowdpilot.votes import Votes

MAX_CLASS_BARS = 40  # above this classes are a curve


def effort(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """Histogram of the votes per task, with the mean."""
    ax = new_axes(ax)
    votes = diagnosis.tasks["votes"]
    draw_count_bars(ax, votes)
    count_ticks(ax)
    _mark_mean(ax, float(votes.mean()))
    label_axes(ax, "votes per task", "tasks")
    return ax


def load(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """Histogram of the votes per worker, with the mean; logarithmic if the numbers differ much."""
    ax = new_axes(ax)
    votes = np.asarray(diagnosis.workers["votes"])
    votes = votes[votes > 0]
    if tail := votes.max() / votes.min() > LOG_SCALE_RATIO:
        edges = _whole_log_edges(votes)
        draw_bars(ax, edges, np.histogram(votes, edges)[0])
        ax.set_xscale("log")
        log_ticks(ax.xaxis, edges[0], edges[-1])
    else:
        draw_count_bars(ax, votes)
    count_ticks(ax)
    _mark_mean(ax, float(votes.mean()))
    label_axes(ax, f"votes per worker{' (log scale)' if tail else ''}", "workers")
    return ax


def _whole_log_edges(values: Any) -> Floats:
    """Like `log_edges`, but between whole numbers."""
    edges = np.unique(np.floor(log_edges(values, 20))) - 0.5
    return np.append(edges[:-1], float(np.max(values)) + 0.5)


def _mark_mean(ax: Axes, mean: float) -> None:
    ax.axvline(mean, color=INK, linestyle=DASHES, linewidth=1.1, label=f"mean {about(mean)}")
    add_legend(ax)


def entropy(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """Histograms of the entropy of the votes and of the posterior of each task."""
    ax = new_axes(ax)
    edges = np.linspace(0, 1, 21)
    votes, posterior = (_count(diagnosis.tasks[name], edges) for name in ("vote_entropy", "entropy"))
    draw_bars(ax, edges, votes, color=SKY, label="votes")
    ax.stairs(posterior, edges, color=INK, linewidth=1.3, label="posterior")
    ax.set_xlim(-0.01, 1.01)
    count_ticks(ax)
    label_axes(ax, "entropy (0: one class, 1: uniform)", "tasks")
    add_legend(ax)
    return ax


def confidence(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """Histogram of the confidence of the labels, with the target."""
    ax = new_axes(ax)
    edges = np.linspace(0, 1, 21)
    draw_bars(ax, 100 * edges, _count(diagnosis.tasks["confidence"], edges))
    target = 100 * diagnosis.rules.target
    ax.axvline(target, color=INK, linestyle=DASHES, linewidth=1.1, label=f"target {about(target)} %")
    ax.set_xlim(-1, 101)
    count_ticks(ax)
    label_axes(ax, "confidence of the label (%)", "tasks")
    add_legend(ax)
    return ax


def _count(values: Floats, edges: Floats) -> Floats:
    known = values[np.isfinite(values)]
    return np.histogram(np.clip(known, 0, 1), edges)[0].astype(np.float64)


def class_balance(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """The share of each class among the votes and among the labels, with the imbalance ratio."""
    votes = diagnosis.votes
    K = len(votes.classes)
    vote_counts = np.bincount(votes.label, minlength=K)
    label_counts = np.bincount(diagnosis.result.codes, minlength=K)
    shares = [100 * n / max(n.sum(), 1) for n in (vote_counts, label_counts)]
    names = [f"votes, {imbalance(vote_counts)}", f"labels, {imbalance(label_counts)}"]
    if K > MAX_CLASS_BARS:
        return _balance_curve(new_axes(ax), votes, shares, names)
    ax = new_axes(ax, high=max(2.2, 0.8 + 0.26 * K))
    for shift, share, name, color in zip((-0.19, 0.19), shares, names, (SKY, BLUE), strict=True):
        ax.barh(np.arange(K) + shift, share, 0.36, label=name, color=color)
    name_ticks(ax.yaxis, votes.classes, max_names=MAX_CLASS_BARS)
    ax.tick_params(axis="y", labelsize=SMALL_TEXT_POINTS)
    ax.set_ylim(K - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color=LINE, linewidth=0.7)
    label_axes(ax, "share (%)", "class")
    add_legend(ax, columns=1)
    return ax


def _balance_curve(ax: Axes, votes: Votes, shares: list[Floats], names: list[str]) -> Axes:
    order = np.argsort(-shares[1], kind="stable")
    position = np.arange(len(order))
    ax.plot(position, shares[0][order], color=SKY, marker=".", linestyle="", label=names[0])
    ax.plot(position, shares[1][order], color=BLUE, linewidth=1.6, label=names[1])
    name_ticks(ax.xaxis, votes.classes[order])
    ax.set_ylim(bottom=0)
    label_axes(ax, "class, the most frequent label first", "share (%)")
    add_legend(ax, columns=1)
    return ax


def imbalance(counts: NDArray[Any]) -> str:
    """The imbalance ratio, of the largest class to the smallest, in words."""
    if len(counts) < 2:
        return "one class"
    if empty := int((counts == 0).sum()):
        return count(empty, "empty class", "empty classes")
    return f"imbalance {about(counts.max() / counts.min())} : 1"


def seconds(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """Histogram of the seconds per vote, on a logarithmic scale; votes of too fast workers are marked."""
    ax = new_axes(ax)
    votes = diagnosis.votes
    if votes.seconds is None:
        raise ValueError("the votes have no seconds, so how long they took cannot be drawn")
    known = np.isfinite(votes.seconds) & (votes.seconds > 0)
    took = votes.seconds[known]
    fast = diagnosis.flagged_as("too fast")[votes.worker][known]
    edges = log_edges(took, 30)
    all_counts, fast_counts = np.histogram(took, edges)[0], np.histogram(took[fast], edges)[0]
    draw_bars(ax, edges, all_counts, color=SKY, label="all votes")
    if fast.any():
        draw_bars(ax, edges, fast_counts, color=RED, hatch="////", label="of workers who are too fast")
    ax.set_xscale("log")
    log_ticks(ax.xaxis, edges[0], edges[-1])
    count_ticks(ax)
    label_axes(ax, "seconds per vote (log scale)", "votes")
    add_legend(ax)
    return ax
