"""Charts as SVG, drawn on the server, each with a description and a table for screen readers.

Drawings are stretched to the width of the page at a fixed height, so all texts are outside of them:
ticks are spread evenly, and their labels by the stylesheet likewise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from markupsafe import Markup, escape

T = TypeVar("T")
Point = tuple[float, float]
MAX_TABLE_ROWS = 12


class Axis(NamedTuple):
    """What stands at one side of a chart: from 0 to `top`, with evenly spread labels."""

    top: float
    labels: list[str]


class Bar(NamedTuple):
    """One row of a bar chart; `share` of the full width."""

    name: str
    share: float
    words: str


def axis(most: float, *, whole: bool = False, steps: int = 4) -> Axis:
    """Round numbers from 0 to at least this.

    Examples
    --------
    >>> axis(37, whole=True)
    Axis(top=40.0, labels=['0', '10', '20', '30', '40'])
    """
    step = _round_up(max(most, 1e-9) / steps)
    if whole:
        step = float(max(1, math.ceil(step)))
    count = max(1, math.ceil(most / step - 1e-9))
    return Axis(step * count, [number(step * n) for n in range(count + 1)])


def _round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= value * (1 - 1e-9))


def number(value: float) -> str:
    """A number as short as it can be read.

    Examples
    --------
    >>> number(12500), number(0.25), number(3)
    ('12,500', '0.25', '3')
    """
    if value and abs(value) < 0.001:
        return f"{value:.0e}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3f}".rstrip("0").rstrip(".")


def line(
    name: str,
    points: Sequence[Point],
    *,
    x: str,
    y: str,
    whole: tuple[bool, bool] = (True, True),
    band: Sequence[tuple[float, float, float]] = (),
    mark: Point | None = None,
) -> Markup:
    """A curve, perhaps with a band (x, low, high) behind it and a mark on it.

    Parameters
    ----------
    name
        What it shows.
    points
        Of the curve, from left to right.
    x, y
        What is at the bottom and at the left.
    whole
        Whether these are counts.
    band, mark
        What may be, and where we are.
    """
    marks = [mark] if mark is not None else []
    across = axis(max([p[0] for p in (*points, *band, *marks)], default=1), whole=whole[0])
    heights = [*(p[1] for p in (*points, *marks)), *(b[2] for b in band)]
    up = axis(max(heights, default=1), whole=whole[1])
    parts = [_grid(across, up)]
    if band:
        edge = [(b[0], b[2]) for b in band] + [(b[0], b[1]) for b in reversed(band)]
        parts.append(f'<polygon class="chart-band" points="{_path(edge, across, up)}"/>')
    parts.append(f'<polyline class="chart-line" points="{_path(points, across, up)}"/>')
    if marks:
        at = _path(marks, across, up).replace(",", " ")
        parts.append(f'<path class="chart-dot" d="M{at}h0"/>')
    rows = [(number(a), number(b)) for a, b in thin(points)]
    last = f"{number(points[-1][1])} at {number(points[-1][0])} {x}" if points else "nothing yet"
    return _figure(name, "".join(parts), across, up, (x, y), rows, f"{y} over {x}; at the end {last}")


def areas(
    name: str, points: Sequence[tuple[float, float, float]], *, x: str, y: str, names: tuple[str, str]
) -> Markup:
    """Two areas on top of each other, from points (x, lower, upper) from left to right, with a legend."""
    across = axis(max([p[0] for p in points], default=1), whole=True)
    up = axis(max([p[2] for p in points], default=1), whole=True)
    end = points[-1][0] if points else 0.0
    upper, lower = ([(p[0], p[k]) for p in points] for k in (2, 1))
    parts = [_grid(across, up)]
    for kind, edge in (("b", upper), ("a", lower)):
        corners = _path([*edge, (end, 0.0), (0.0, 0.0)], across, up)
        parts.append(f'<polygon class="chart-area--{kind}" points="{corners}"/>')
    parts.append(f'<polyline class="chart-line" points="{_path(upper, across, up)}"/>')
    rows = [
        (number(a), f"{number(low)} {names[0]}, {number(high - low)} {names[1]}") for a, low, high in points
    ]
    every = max(1, -(-len(rows) // MAX_TABLE_ROWS))
    last = points[-1] if points else (0.0, 0.0, 0.0)
    words = f"{y} over {x}; at the end {number(last[1])} {names[0]}, {number(last[2] - last[1])} {names[1]}"
    legend = Markup("").join(
        Markup('<span class="legend-entry"><i class="legend-mark legend-mark--{}"></i>{}</span>').format(
            *pair
        )
        for pair in zip("ab", names, strict=True)
    )
    figure = _figure(name, "".join(parts), across, up, (x, y), rows[::-1][::every][::-1], words)
    return Markup('{}<p class="legend small muted" aria-hidden="true">{}</p>').format(figure, legend)


def stacked(name: str, shares: Sequence[float], words: str) -> Markup:
    """Shares of a whole beside each other in one bar, the first the strongest."""
    drawn, x = Markup(""), 0.0
    for kind, share in zip("abc", shares, strict=False):
        wide = 100 * min(max(share, 0.0), 1.0)
        drawn += Markup('<rect class="bar-part--{}" x="{}" width="{}" height="1"/>').format(
            kind, f"{x:.2f}", f"{wide:.2f}"
        )
        x += wide
    return Markup(
        '<svg class="bar bar--tall" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" '
        'aria-label="{}"><title>{}</title>{}</svg>'
    ).format(f"{name}: {words}", name, drawn)


def columns(name: str, counts: Sequence[float], labels: Sequence[str], *, x: str, y: str) -> Markup:
    """One column for each count; only the first and the last label are written below."""
    up, n = axis(max([*counts, 1]), whole=True), max(len(counts), 1)
    across = Axis(n, [labels[0], labels[-1]] if len(labels) > 1 else list(labels))
    width, gap = 100 / n, 100 / n * 0.15
    parts = [_grid(Axis(n, [""]), up)]
    for i, count in enumerate(counts):
        tall = 100 * count / up.top
        parts.append(
            f'<rect class="chart-column" x="{i * width + gap / 2:.2f}" y="{100 - tall:.2f}" '
            f'width="{width - gap:.2f}" height="{tall:.2f}"/>'
        )
    rows = [(label, number(count)) for label, count in thin(list(zip(labels, counts, strict=True)))]
    words = f"{y} by {x}; {number(sum(counts))} in all, at most {number(max([*counts, 0]))} at once"
    return _figure(name, "".join(parts), across, up, (x, y), rows, words)


def bars(name: str, rows: Sequence[Bar]) -> Markup:
    """Named bars below each other, with their numbers in words beside them."""
    drawn = Markup("").join(
        Markup(
            '<li class="bars-row"><span class="bars-name" dir="auto">{}</span>'
            '<span class="bars-words">{}</span>{}</li>'
        ).format(row.name, row.words, _track(row.share))
        for row in rows
    )
    return Markup('<ul class="bars" aria-label="{}">{}</ul>').format(name, drawn)


def span(low: float, value: float, high: float) -> Markup:
    """A share from 0 to 1 as a tick, with its interval as a bar; the words are for its surroundings."""
    a, b = (100 * min(max(v, 0.0), 1.0) for v in (low, high))
    at = 100 * min(max(value, 0.0), 1.0)
    return Markup(
        '<svg class="span" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="span-ground" x="0" y="4" width="100" height="2"/>'
        '<rect class="span-range" x="{}" y="3" width="{}" height="4"/>'
        '<rect class="span-value" x="{}" y="0" width="1.6" height="10"/></svg>'
    ).format(f"{a:.1f}", f"{b - a:.1f}", f"{min(max(at - 0.8, 0), 98.4):.1f}")


def against(name: str, value: float, low: float, middle: float, high: float, words: str) -> Markup:
    """What is so far as a bar, before the interval in which the end is expected."""
    top = max(high, value, 1e-9) * 1.05
    positions = {"low": low, "wide": max(high - low, 0.004 * top), "middle": middle, "value": value}
    a = {key: f"{100 * v / top:.2f}" for key, v in positions.items()}
    drawn = Markup(
        '<svg class="against" viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="span-ground" x="0" y="0" width="100" height="20"/>'
        '<rect class="chart-band" x="{}" y="0" width="{}" height="20"/>'
        '<rect class="bar-part--a" x="0" y="6" width="{}" height="8"/>'
        '<rect class="span-value" x="{}" y="0" width="0.5" height="20"/></svg>'
    ).format(f"{name}: {words}", a["low"], a["wide"], a["value"], a["middle"])
    return Markup(
        '<div class="against-row"><p class="row row--between"><strong>{}</strong><span>{}</span></p>{}</div>'
    ).format(name, words, drawn)


def thin(rows: Sequence[tuple[T, float]]) -> list[tuple[T, float]]:
    """At most a table's worth of rows, the last among them."""
    every = max(1, -(-len(rows) // MAX_TABLE_ROWS))
    return list(rows[::-1][::every][::-1])


def _track(share: float) -> Markup:
    return Markup(
        '<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bar-part--a" width="{}" height="1"/></svg>'
    ).format(f"{100 * min(max(share, 0.0), 1.0):.2f}")


def _path(points: Sequence[Point], across: Axis, up: Axis) -> str:
    return " ".join(f"{100 * a / across.top:.2f},{100 - 100 * b / up.top:.2f}" for a, b in points)


def _grid(across: Axis, up: Axis) -> str:
    n, m = len(up.labels) - 1, len(across.labels) - 1
    ys = [100 * i / n for i in range(n)] if n else []
    xs = [100 * i / m for i in range(1, m)] if m > 1 else []
    flat = "".join(f"M0 {y:.2f}H100" for y in ys)
    steep = "".join(f"M{x:.2f} 0V100" for x in xs)
    return f'<path class="chart-grid" d="{flat}{steep}"/><path class="chart-ground" d="M0 100H100"/>'


def _figure(
    name: str,
    inside: str,
    across: Axis,
    up: Axis,
    axes: tuple[str, str],
    rows: Sequence[tuple[str | float, str]],
    words: str,
) -> Markup:
    """The drawing with its axes, and the same as a table."""
    ticks = [
        Markup("").join(Markup("<span>{}</span>").format(label) for label in labels)
        for labels in (up.labels[::-1], across.labels)
    ]
    cells = Markup("").join(Markup("<tr><td>{}</td><td>{}</td></tr>").format(*row) for row in rows)
    head = Markup("<tr><th scope='col'>{}</th><th scope='col'>{}</th></tr>").format(*axes)
    drawing = Markup(
        '<svg class="chart-svg" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="{}">'
        "<title>{}</title><desc>{}</desc>{}</svg>"
    ).format(f"{name}: {words}", name, words, Markup(inside))
    return Markup(
        '<div class="chart"><p class="chart-name" aria-hidden="true">{}</p>'
        '<div class="chart-y" aria-hidden="true">{}</div>'
        '<div class="chart-in">{}</div><div class="chart-x" aria-hidden="true">{}</div>'
        '<p class="chart-under" aria-hidden="true">{}</p>'
        '<div class="sr"><table><caption>{}</caption><thead>{}</thead><tbody>{}</tbody></table></div></div>'
    ).format(axes[1], ticks[0], drawing, ticks[1], axes[0], escape(name), head, cells)
