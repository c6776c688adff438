"""Pictures of the votes: how many, on what, by whom, how fast, how much at odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting.formatting import about, count
from crowdpilot.reporting.plots.axes import (
    BLUE,
    DASHES,
    INK,
    LINE,
    LONG_TAIL,
    RED,
    SKY,
    SMALL,
    bars,
    fresh,
    key,
    label,
    log_edges,
    log_ticks,
    name_ticks,
    whole_bars,
    whole_ticks,
)
from crowdpilot.votes import Votes

MANY_CLASSES = 40  # above this classes are a curve, not bars


def effort(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """How many votes each task has: a histogram with its mean."""
    ax = fresh(ax)
    votes = diagnosis.tasks["votes"]
    whole_bars(ax, votes)
    whole_ticks(ax)
    _mark_mean(ax, float(votes.mean()))
    label(ax, "votes per task", "tasks")
    return ax


def load(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """How many votes each worker gave: a histogram with its mean, logarithmic if the loads differ much."""
    ax = fresh(ax)
    votes = np.asarray(diagnosis.workers["votes"])
    votes = votes[votes > 0]
    if tail := votes.max() / votes.min() > LONG_TAIL:
        edges = _whole_log_edges(votes)
        bars(ax, edges, np.histogram(votes, edges)[0])
        ax.set_xscale("log")
        log_ticks(ax.xaxis, edges[0], edges[-1])
    else:
        whole_bars(ax, votes)
    whole_ticks(ax)
    _mark_mean(ax, float(votes.mean()))
    label(ax, f"votes per worker{' (log scale)' if tail else ''}", "workers")
    return ax


def _whole_log_edges(values: Any) -> Floats:
    """Like `log_edges`, but between whole numbers."""
    edges = np.unique(np.floor(log_edges(values, 20))) - 0.5
    return np.append(edges[:-1], float(np.max(values)) + 0.5)


def _mark_mean(ax: Axes, mean: float) -> None:
    ax.axvline(mean, color=INK, linestyle=DASHES, linewidth=1.1, label=f"mean {about(mean)}")
    key(ax)


def entropy(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """How much the votes of a task are at odds, and how much doubt the model leaves."""
    ax = fresh(ax)
    edges = np.linspace(0, 1, 21)
    votes, belief = (_count(diagnosis.tasks[name], edges) for name in ("vote_entropy", "entropy"))
    bars(ax, edges, votes, color=SKY, label="votes")
    ax.stairs(belief, edges, color=INK, linewidth=1.3, label="label, after the model")
    ax.set_xlim(-0.01, 1.01)
    whole_ticks(ax)
    label(ax, "entropy (0: all agree, 1: all classes alike)", "tasks")
    key(ax)
    return ax


def confidence(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """How sure the labels are: a histogram with the target."""
    ax = fresh(ax)
    edges = np.linspace(0, 1, 21)
    bars(ax, 100 * edges, _count(diagnosis.tasks["confidence"], edges))
    target = 100 * diagnosis.rules.target
    ax.axvline(target, color=INK, linestyle=DASHES, linewidth=1.1, label=f"target {about(target)} %")
    ax.set_xlim(-1, 101)
    whole_ticks(ax)
    label(ax, "confidence of the label (%)", "tasks")
    key(ax)
    return ax


def _count(values: Floats, edges: Floats) -> Floats:
    known = values[np.isfinite(values)]
    return np.histogram(np.clip(known, 0, 1), edges)[0].astype(np.float64)


def class_balance(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """The share of each class among the votes and among the labels, with the imbalance ratio."""
    votes = diagnosis.votes
    K = len(votes.classes)
    given = np.bincount(votes.label, minlength=K)
    found = np.bincount(diagnosis.result.codes, minlength=K)
    shares = [100 * n / max(n.sum(), 1) for n in (given, found)]
    names = [f"votes, {imbalance(given)}", f"labels, {imbalance(found)}"]
    if K > MANY_CLASSES:
        return _balance_curve(fresh(ax), votes, shares, names)
    ax = fresh(ax, high=max(2.2, 0.8 + 0.26 * K))
    for shift, share, name, color in zip((-0.19, 0.19), shares, names, (SKY, BLUE), strict=True):
        ax.barh(np.arange(K) + shift, share, 0.36, label=name, color=color)
    name_ticks(ax.yaxis, votes.classes, most=MANY_CLASSES)
    ax.tick_params(axis="y", labelsize=SMALL)
    ax.set_ylim(K - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color=LINE, linewidth=0.7)
    label(ax, "share (%)", "class")
    key(ax, columns=1)
    return ax


def _balance_curve(ax: Axes, votes: Votes, shares: list[Floats], names: list[str]) -> Axes:
    order = np.argsort(-shares[1], kind="stable")
    place = np.arange(len(order))
    ax.plot(place, shares[0][order], color=SKY, marker=".", linestyle="", label=names[0])
    ax.plot(place, shares[1][order], color=BLUE, linewidth=1.6, label=names[1])
    name_ticks(ax.xaxis, votes.classes[order])
    ax.set_ylim(bottom=0)
    label(ax, "class, the most frequent label first", "share (%)")
    key(ax, columns=1)
    return ax


def imbalance(counts: NDArray[Any]) -> str:
    """The imbalance ratio, of the largest class to the smallest, in words."""
    if len(counts) < 2:
        return "one class"
    if empty := int((counts == 0).sum()):
        return count(empty, "empty class", "empty classes")
    return f"imbalance {about(counts.max() / counts.min())} : 1"


def seconds(diagnosis: Diagnosis, ax: Axes | None = None) -> Axes:
    """How long votes took, on a logarithmic scale, those of workers who are too fast apart."""
    ax = fresh(ax)
    votes = diagnosis.votes
    if votes.seconds is None:
        raise ValueError("the votes have no seconds, so how long they took cannot be drawn")
    known = np.isfinite(votes.seconds) & (votes.seconds > 0)
    took = votes.seconds[known]
    fast = diagnosis.who("too fast")[votes.worker][known]
    edges = log_edges(took, 30)
    all_, quick = np.histogram(took, edges)[0], np.histogram(took[fast], edges)[0]
    bars(ax, edges, all_, color=SKY, label="all votes")
    if fast.any():
        bars(ax, edges, quick, color=RED, hatch="////", label="of workers who are too fast")
    ax.set_xscale("log")
    log_ticks(ax.xaxis, edges[0], edges[-1])
    whole_ticks(ax)
    label(ax, "seconds per vote (log scale)", "votes")
    key(ax)
    return ax
