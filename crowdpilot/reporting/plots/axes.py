"""What all plots share: paper, ink, colours that everybody can tell apart, and names that fit."""

from __future__ import annotations

from typing import Any

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
SHADES = LinearSegmentedColormap.from_list("shades", ["#f5f8fb", "#a9cbe4", "#3d86b8", "#08304f"])
MARKS = {  # colour and marker of each flag: Okabe and Ito's colours, and shapes for those who see none
    "spammer": (RED, "X"),
    "colluding": (PURPLE, "D"),
    "drifting": (ORANGE, "v"),
    "too fast": (GREEN, ">"),
    "same answer": (INK, "s"),
    "fails gold": (SKY, "P"),
    "fails trap": (SKY, "P"),
}
WIDTH, HEIGHT = 4.0, 2.9  # inches
DECADES = 6  # that have a tick each
FEW = 12  # bars that stand apart
MANY = 60  # marks above this are small and plain
LONG_TAIL = 20  # from the smallest to the largest, above which a scale is logarithmic
DENSE = 300  # artists above this are pixels inside the drawing
TEXT, SMALL = 9.0, 8.0  # points
DASHES = (0, (4, 2))


def fresh(ax: Axes | None, *, wide: float = WIDTH, high: float = HEIGHT) -> Axes:
    """The axes given, or those of a new figure, dressed as all plots are."""
    if ax is None:
        ax = Figure((wide, high), layout="constrained").subplots()
    dress(ax)
    return ax


def dress(ax: Axes) -> None:
    """Thin lines, quiet ticks, a light grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(SOFT)
    ax.tick_params(which="both", color=SOFT, labelcolor=INK, labelsize=SMALL, length=3, width=0.7)
    ax.grid(axis="y", color=LINE, linewidth=0.7)
    ax.set_axisbelow(True)


def label(ax: Axes, x: str, y: str, title: str = "") -> None:
    """Name both axes, and the plot if it needs a name."""
    ax.set_xlabel(x, color=INK, fontsize=TEXT)
    ax.set_ylabel(y, color=INK, fontsize=TEXT)
    if title:
        ax.set_title(title, loc="left", color=INK, fontsize=TEXT, fontweight="bold")


def key(ax: Axes, *, columns: int = 2) -> None:
    """A legend above the plot, where it hides nothing."""
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, frameon=False,
        fontsize=SMALL, labelcolor=INK, borderaxespad=0, borderpad=0.2, columnspacing=1.4, handletextpad=0.5,
    )  # fmt: skip


def bars(ax: Axes, edges: Floats, counts: Floats, **look: Any) -> None:
    """Bars between edges, a hair apart."""
    settings: dict[str, Any] = {"color": BLUE, "edgecolor": PAPER, "linewidth": 0.6} | look
    some = counts > 0
    ax.bar(edges[:-1][some], counts[some], np.diff(edges)[some], align="edge", **settings)


def whole_bars(ax: Axes, values: Any, most: int = 30) -> None:
    """How often each whole number occurs; if there are too many, how often those of each range."""
    low, high = int(np.min(values)), int(np.max(values))
    step = -(-(high - low + 1) // most)
    edges = np.arange(low, high + step + 1, step, dtype=np.float64) - 0.5
    counts = np.histogram(values, edges)[0]
    if len(counts) <= FEW:
        ax.bar(np.arange(low, high + 1), counts, 0.8, color=BLUE)
        ax.set_xlim(min(low - 0.7, (low + high) / 2 - 2), max(high + 0.7, (low + high) / 2 + 2))
    else:
        bars(ax, edges, counts)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def log_edges(values: Any, bins: int = 30) -> Floats:
    """Edges of bins that are equally wide on a logarithmic scale."""
    low, high = (float(np.min(values)), float(np.max(values))) if len(values) else (1.0, 1.0)
    if high <= low:
        low, high, bins = low / 1.5, high * 1.5, 1
    return np.geomspace(low, high, bins + 1)


def whole_ticks(ax: Axes) -> None:
    """Counts from zero up, with ticks at whole numbers only."""
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Plain numbers at 1, 2 and 5 of each decade, fewer if the decades are many."""
    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= 3 else (1, 3) if len(decades) <= 4 else (1,)
    decades = decades[:: -(-len(decades) // DECADES)]
    ticks = np.sort([m * 10.0**d for d in decades for m in steps])
    axis.set_ticks(ticks[(ticks >= low * 0.999) & (ticks <= high * 1.001)])
    axis.set_ticks([], minor=True)
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def crosses(ax: Axes, x: Any, y: Any, *, size: float, name: str = "", dense: bool = False) -> None:
    """Marks of flagged workers; many of them are smaller."""
    many = len(x) > MANY
    ax.plot(
        x, y, "X", color=RED, markersize=size * (0.7 if many else 1), markeredgecolor=RED if many else INK,
        markeredgewidth=0 if many else 0.5, label=name or None, rasterized=dense,
    )  # fmt: skip


def name_ticks(axis: Axis, names: Any, *, most: int = 25, length: int = 14, shift: float = 0) -> None:
    """One tick for each name, or for every n-th if there are too many; long names are shortened."""
    places = np.arange(0, len(names), -(-len(names) // most) or 1)
    shown = [plain(names[n], length) for n in places]
    size = float(np.clip(TEXT * 16 / max(len(shown), 1), 5.5, SMALL))
    crowded = sum(map(width, shown)) > 45 or (len(shown) > 15 and max(map(width, shown)) > 1)
    upright: dict[str, Any] = {"rotation": 90, "ha": "right", "va": "center", "rotation_mode": "anchor"}
    turn = upright if axis is axis.axes.xaxis and crowded else {}
    axis.set_ticks(places + shift, shown, fontsize=size, **turn)


def plain(name: Any, length: int = 18) -> str:
    """A short name that shows as it is written, in the room that it needs."""
    text = shorten(name, length)
    wide = width(text) - len(text)
    # The font that measures has no wide signs and takes them for narrow: blanks make up for it.
    return "\N{NO-BREAK SPACE}" * round(1.3 * wide) + text.replace("$", r"\$")
