"""Plot of a comparison of strategies: their accuracy beside that of majority voting."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crowdpilot.aggregation.accuracy.comparison import Comparison
from crowdpilot.reporting.plots.style import (
    DASHES,
    GREEN,
    INK,
    LINE,
    RED,
    SOFT,
    add_legend,
    label_axes,
    new_axes,
)

COLORS = {"better": GREEN, "same": SOFT, "worse": RED, "baseline": INK}
MARKS = {"better": "o", "same": "o", "worse": "X", "baseline": "D"}
LABELS = {
    "better": "reliably better", "same": "may be chance", "worse": "reliably worse", "baseline": "majority",
}  # fmt: skip
INCHES_PER_ROW, FRAME_INCHES, WIDE_INCHES = 0.2, 1.0, 5.4
PICTURE_DPI = 200


def strategy_accuracy(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """The gain of each strategy over majority voting in points, with its interval, and its accuracy.

    An interval that does not reach the line is more than chance if the strategy were the only one that is
    looked at; colours allow for all of them.
    """
    rows = comparison.rows[::-1]
    ax = new_axes(ax, wide=WIDE_INCHES, high=_high(comparison))
    ax.axvline(0, color=INK, linestyle=DASHES, linewidth=1)
    for verdict, label in LABELS.items():
        if shown := {n: row for n, row in enumerate(rows) if row.than_majority == verdict}:
            below = [100 * (row.difference - row.difference_low) for row in shown.values()]
            above = [100 * (row.difference_high - row.difference) for row in shown.values()]
            ax.errorbar(
                [100 * row.difference for row in shown.values()], list(shown), xerr=[below, above],
                fmt=MARKS[verdict], color=COLORS[verdict], elinewidth=1, capsize=2, markersize=4.5,
                label=label,
            )  # fmt: skip
    ax.set_yticks(range(len(rows)), [f"{row.strategy}  {100 * row.accuracy:.1f} %" for row in rows])
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color=LINE, linewidth=0.7)
    label_axes(ax, f"points above majority voting on {comparison.tasks} tasks", "")
    add_legend(ax, columns=4)
    return ax


def save_comparison(path: Path, comparison: Comparison) -> None:
    """Write the plot to a file: .svg, .png or .pdf."""
    figure = Figure((WIDE_INCHES, _high(comparison)), layout="constrained")
    strategy_accuracy(comparison, figure.subplots())
    figure.savefig(path, dpi=PICTURE_DPI)


def _high(comparison: Comparison) -> float:
    return FRAME_INCHES + INCHES_PER_ROW * len(comparison.rows)
