"""Style of all plots: colours, axes, ticks, legends and short names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from crowdpilot.arrays import Floats
from crowdpilot.reporting.formatting import shorten, width

INK, SOFT, LINE, PAPER = "#1c2733", "#5b6875", "#d8dee5", "#ffffff"
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9"
SHARE_COLORMAP = LinearSegmentedColormap.from_list("shades", ["#f5f8fb", "#a9cbe4", "#3d86b8", "#08304f"])
LINE_COLORS, LINE_MARKS = (BLUE, RED, ORANGE, GREEN, PURPLE, SKY, SOFT), "oXsDvP^"  # of curves, in this order
FLAG_MARKS = {  # colour and marker of each flag; Okabe and Ito's colours can be told apart by everybody
    "spammer": (RED, "X"),
    "colluding": (PURPLE, "D"),
    "drifting": (ORANGE, "v"),
    "too fast": (GREEN, ">"),
    "same answer": (INK, "s"),
    "fails gold": (SKY, "P"),
    "fails trap": (SKY, "P"),
}
WIDTH, HEIGHT = 4.0, 2.9  # inches
MAX_DECADE_TICKS = 6  # of a logarithmic scale, with a tick each
MAX_SEPARATE_BARS = 12  # above this bars have no gaps
MAX_LARGE_MARKS = 60  # above this marks are small
LOG_SCALE_RATIO = 20  # of the largest value to the smallest, above which a scale is logarithmic
MAX_VECTOR_MARKS = 300  # above this marks are drawn as pixels
TEXT_POINTS, SMALL_TEXT_POINTS = 9.0, 8.0  # points
DASHES = (0, (4, 2))
_is_known_to_pyplot = ContextVar("is_known_to_pyplot", default=True)


def new_figure(wide: float, high: float, **settings: Any) -> Figure:
    """A figure of this size in inches that pyplot knows: a notebook shows it, and so does `plt.show()`."""
    make = plt.figure if _is_known_to_pyplot.get() else Figure
    return make(figsize=(wide, high), **settings)


@contextmanager
def figures_for_files() -> Iterator[None]:
    """A context in which pyplot does not know new figures: nothing shows or keeps them."""
    token = _is_known_to_pyplot.set(False)
    try:
        yield
    finally:
        _is_known_to_pyplot.reset(token)


def new_axes(ax: Axes | None, *, wide: float = WIDTH, high: float = HEIGHT) -> Axes:
    """These axes, or those of a new figure of this size in inches, in the common style."""
    if ax is None:
        ax = new_figure(wide, high, layout="constrained").subplots()
    style_axes(ax)
    return ax


def style_axes(ax: Axes) -> None:
    """Apply the common style: thin lines, small ticks, a light grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(SOFT)
    ax.tick_params(which="both", color=SOFT, labelcolor=INK, labelsize=SMALL_TEXT_POINTS, length=3, width=0.7)
    ax.grid(axis="y", color=LINE, linewidth=0.7)
    ax.set_axisbelow(True)


def label_axes(ax: Axes, x: str, y: str, title: str = "") -> None:
    """Set the labels of both axes, and the title if there is one."""
    ax.set_xlabel(x, color=INK, fontsize=TEXT_POINTS)
    ax.set_ylabel(y, color=INK, fontsize=TEXT_POINTS)
    if title:
        ax.set_title(title, loc="left", color=INK, fontsize=TEXT_POINTS, fontweight="bold")


def add_legend(ax: Axes, *, columns: int = 2) -> None:
    """Add a legend above the plot, where it hides nothing."""
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, frameon=False,
        fontsize=SMALL_TEXT_POINTS, labelcolor=INK, borderaxespad=0, borderpad=0.2, columnspacing=1.4,
        handletextpad=0.5,
    )  # fmt: skip


def draw_bars(ax: Axes, edges: Floats, counts: Floats, **settings: Any) -> None:
    """Draw bars between edges (n + 1,) with heights (n,)."""
    all_settings: dict[str, Any] = {"color": BLUE, "edgecolor": PAPER, "linewidth": 0.6} | settings
    some = counts > 0
    ax.bar(edges[:-1][some], counts[some], np.diff(edges)[some], align="edge", **all_settings)


def draw_count_bars(ax: Axes, values: Any, max_bars: int = 30) -> None:
    """Draw a histogram of whole numbers, with at most so many bars."""
    low, high = int(np.min(values)), int(np.max(values))
    step = -(-(high - low + 1) // max_bars)
    edges = np.arange(low, high + step + 1, step, dtype=np.float64) - 0.5
    counts = np.histogram(values, edges)[0]
    if len(counts) <= MAX_SEPARATE_BARS:
        ax.bar(np.arange(low, high + 1), counts, 0.8, color=BLUE)
        ax.set_xlim(min(low - 0.7, (low + high) / 2 - 2), max(high + 0.7, (low + high) / 2 + 2))
    else:
        draw_bars(ax, edges, counts)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def log_edges(values: Any, bins: int = 30) -> Floats:
    """Edges of bins that are equally wide on a logarithmic scale."""
    low, high = (float(np.min(values)), float(np.max(values))) if len(values) else (1.0, 1.0)
    if high <= low:
        low, high, bins = low / 1.5, high * 1.5, 1
    return np.geomspace(low, high, bins + 1)


def count_ticks(ax: Axes) -> None:
    """Ticks at whole numbers from zero up."""
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Plain numbers at 1, 2 and 5 of each decade, fewer if the decades are many."""
    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= 3 else (1, 3) if len(decades) <= 4 else (1,)
    decades = decades[:: -(-len(decades) // MAX_DECADE_TICKS)]
    ticks = np.sort([m * 10.0**d for d in decades for m in steps])
    axis.set_ticks(ticks[(ticks >= low * 0.999) & (ticks <= high * 1.001)])
    axis.set_ticks([], minor=True)
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def draw_flagged(ax: Axes, x: Any, y: Any, *, size: float, name: str = "", dense: bool = False) -> None:
    """Draw the marks of flagged workers; many of them are smaller."""
    many = len(x) > MAX_LARGE_MARKS
    ax.plot(
        x, y, "X", color=RED, markersize=size * (0.7 if many else 1), markeredgecolor=RED if many else INK,
        markeredgewidth=0 if many else 0.5, label=name or None, rasterized=dense,
    )  # fmt: skip


def name_ticks(axis: Axis, names: Any, *, max_names: int = 25, length: int = 14, shift: float = 0) -> None:
    """One tick for each name, or for every n-th if there are too many; long names are shortened."""
    ticks = np.arange(0, len(names), -(-len(names) // max_names) or 1)
    shown = [short_name(names[n], length) for n in ticks]
    size = float(np.clip(TEXT_POINTS * 16 / max(len(shown), 1), 5.5, SMALL_TEXT_POINTS))
    crowded = sum(map(width, shown)) > 45 or (len(shown) > 15 and max(map(width, shown)) > 1)
    upright: dict[str, Any] = {"rotation": 90, "ha": "right", "va": "center", "rotation_mode": "anchor"}
    turn = upright if axis is axis.axes.xaxis and crowded else {}
    axis.set_ticks(ticks + shift, shown, fontsize=size, **turn)


def short_name(name: Any, length: int = 18) -> str:
    """A name of at most this width for matplotlib, with room for wide characters and dollars as they are."""
    text = shorten(name, length)
    wide = width(text) - len(text)
    # matplotlib measures wide characters as narrow ones: blanks make up for it.
    return "\N{NO-BREAK SPACE}" * round(1.3 * wide) + text.replace("$", r"\$")
