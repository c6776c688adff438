"""HTML that notebooks show: small tables and spark lines without script, in the colours of the page.

Everything that is passed in is plain text or numbers; it is escaped here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FIRST_ROWS, LAST_ROWS = 5, 3  # of a table
MAX_BARS = 24  # of a spark line
MAX_CHARACTERS = 48  # of a name
WIDTH, HEIGHT = 132, 30  # pixels of a spark line
UNKNOWN = "–"
PANEL_STYLE = "flex:1 1 100%;font-size:13px;line-height:1.45;margin:2px 0"
ROW_STYLE = "display:flex;flex-wrap:wrap;gap:4px 36px;margin:6px 0;align-items:flex-start"
FACTS_STYLE = (
    "display:grid;grid-template-columns:repeat(auto-fill,190px);gap:0 16px;font-size:12px;margin:6px 0"
)
TABLE_STYLE = "border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums;margin:6px 0 2px"
CELL_STYLE = "padding:1px 14px 1px 0;border:none;background:none"
SVG_STYLE = "display:block;opacity:.75;max-width:none"
FAINT = "opacity:.65"


def panel(title: str, summary: str, *tables: str, sparks: Sequence[str] = ()) -> str:
    """One element: a title and a summary in a line, spark lines side by side, and tables below them.

    Examples
    --------
    >>> panel("Votes", "1 vote of <ann>")
    '<div class="crowdpilot" style="..."><b>Votes</b> 1 vote of &lt;ann&gt;</div>'
    """
    head = f"<b>{escape(title)}</b> {escape(summary)}"
    rows = [f'<div style="{ROW_STYLE}">{row}</div>' for row in ("".join(sparks), "".join(tables)) if row]
    return f'<div class="crowdpilot" style="{PANEL_STYLE}">{head}{"".join(rows)}</div>'


def votes_html(votes: Any) -> str:
    """What a notebook shows of `Votes`: counts, the shares of classes, and the first and last votes."""
    coded = {"task": votes.tasks, "worker": votes.workers, "label": votes.classes}
    per_task, per_worker, per_class = (
        np.bincount(getattr(votes, column), minlength=len(names)) for column, names in coded.items()
    )
    sparks = [
        histogram(per_task, "votes per task"),
        histogram(per_worker, "votes per worker"),
        bars(per_class, votes.classes, "votes per class"),
    ]
    known = f", {int((votes.gold >= 0).sum()):,} gold labels" if votes.gold is not None else ""
    dropped = f", {votes.dropped:,} rows without a vote" if votes.dropped else ""
    return panel("Votes", repr(votes)[6:-1] + known + dropped, table(votes.columns()), sparks=sparks)


def table(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> str:
    """The first and the last rows of columns of the same length; nothing if there are no rows."""
    length = min(map(len, columns.values()), default=0)
    if not length:
        return ""
    rows = _shown_rows(length)
    sides = ["right" if _is_number(values[0]) else "left" for values in columns.values()]
    cells = [_cell_texts([values[n] for n in rows]) for values in columns.values()]
    head = _row("th", list(map(str, columns)), sides)
    body = [_row("td", row, sides) for row in zip(*cells, strict=True)]
    if len(rows) < length:
        more = f"… {length - len(rows):,} more rows"
        body.insert(FIRST_ROWS, _row("td", [more], ["left"], f' colspan="{len(columns)}"', FAINT))
    return _table(f"<thead>{head}</thead><tbody>{''.join(body)}</tbody>")


def facts(values: Mapping[str, Any]) -> str:
    """Names with a value each, in as many columns as there is room for."""
    texts = {name: _cell_texts([value])[0] for name, value in values.items()}
    pairs = [
        f'<div><span style="{FAINT}">{escape(name)}</span> {escape(text)}</div>'
        for name, text in texts.items()
    ]
    return f'<div style="width:100%;{FACTS_STYLE}">{"".join(pairs)}</div>' if pairs else ""


def histogram(values: ArrayLike, name: str) -> str:
    """A spark line of how often values occur, with the smallest, the largest and the median below."""
    numbers = np.asarray(values).ravel()
    numbers = numbers if numbers.dtype.kind in "iub" else numbers[np.isfinite(numbers)]
    if not len(numbers):
        return ""
    low, middle, high = (float(value) for value in (numbers.min(), np.median(numbers), numbers.max()))
    spread = f"{number(low)} to {number(high)}, median {number(middle)}"
    return spark(name, _bars(_counts(numbers)), spread if low < high else f"all {number(low)}")


def bars(counts: ArrayLike, names: Sequence[Any] | NDArray[Any], name: str) -> str:
    """A spark line with a bar for each of the most frequent names, and the shares of the first two."""
    sizes = np.asarray(counts, np.float64)
    if not sizes.sum() > 0:
        return ""
    order = np.argsort(-sizes, kind="stable")
    shares = [f"{one_line(names[n], 16)} {100 * sizes[n] / sizes.sum():.0f} %" for n in order[:2]]
    more = [f"{len(sizes) - 2:,} more"] if len(sizes) > 2 else []
    return spark(name, _bars(sizes[order[:MAX_BARS]]), ", ".join(shares + more))


def curve(x: ArrayLike, y: ArrayLike, name: str) -> str:
    """A spark line of y over x, from zero up, with its first and last value; nothing for one point."""
    across, up = np.asarray(x, np.float64), np.asarray(y, np.float64)
    known = np.isfinite(across) & np.isfinite(up)
    across, up = across[known], up[known]
    if len(up) < 2:
        return ""
    left, low = across.min(), min(up.min(), 0.0)
    points = zip(
        2 + (across - left) / (across.max() - left or 1) * (WIDTH - 4),
        HEIGHT - 2 - (up - low) / (up.max() - low or 1) * (HEIGHT - 4),
        strict=True,
    )
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    line = f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    return spark(name, line, f"{number(up[0])} → {number(up[-1])}")


def spark(name: str, drawing: str, note: str) -> str:
    """A small drawing, given as elements of SVG, with its name above and a note below."""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    svg = f'<svg {size} role="img" aria-label="{escape(name)}" style="{SVG_STYLE}">{drawing}</svg>'
    below = f'<div style="font-size:11px;{FAINT}">{escape(note)}</div>'
    return f'<div><div style="font-size:12px">{escape(name)}</div>{svg}{below}</div>'


def number(value: float) -> str:
    """A number with three significant digits, or all digits of a large one; a dash if it is unknown.

    Examples
    --------
    >>> number(0.12345), number(-1234.5), number(7.0), number(float("nan"))
    ('0.123', '−1,234', '7', '–')
    """
    if not np.isfinite(value):
        return UNKNOWN if np.isnan(value) else "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"
    return text.replace("-", "−")


def one_line(value: Any, length: int = MAX_CHARACTERS) -> str:
    """Any value as text on one line, cut if it is long."""
    printable = (c if c.isprintable() else " " for c in str(value)[: 4 * length])
    text = " ".join("".join(printable).split())
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _shown_rows(length: int) -> list[int]:
    if length <= FIRST_ROWS + LAST_ROWS + 1:
        return [*range(length)]
    return [*range(FIRST_ROWS), *range(length - LAST_ROWS, length)]


def _cell_texts(values: Sequence[Any]) -> list[str]:
    """The values of a column as text; shares have three digits each."""
    are_shares = all(isinstance(v, float | np.floating) and not abs(float(v)) > 1 for v in values)
    return [_cell_text(value, are_shares) for value in values]


def _cell_text(value: Any, is_share: bool) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.3f}" if is_share and np.isfinite(value) else number(float(value))
    return one_line(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _table(inner: str) -> str:
    return f'<table class="crowdpilot" style="{TABLE_STYLE}">{inner}</table>'


def _row(tag: str, texts: Sequence[str], sides: Sequence[str], attributes: str = "", style: str = "") -> str:
    cells = zip(texts, sides, strict=True)
    return _tr("".join(_cell(tag, text, side, attributes, style) for text, side in cells))


def _tr(cells: str) -> str:
    return f'<tr style="background:none">{cells}</tr>'  # some pages have stripes


def _cell(tag: str, text: str, side: str = "left", attributes: str = "", style: str = "") -> str:
    style = f"font-weight:normal;{FAINT}" if tag == "th" else style
    return f'<{tag}{attributes} style="{CELL_STYLE};text-align:{side};{style}">{escape(text)}</{tag}>'


def _counts(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """How many values are in each of some bins; whole numbers close together have a bin each."""
    if numbers.dtype.kind in "iub" and int(numbers.max()) - int(numbers.min()) < MAX_BARS:
        return np.bincount(numbers.astype(np.int64) - int(numbers.min()))
    halves = numbers.astype(np.float64) / 2  # so that no difference overflows
    share = (halves - halves.min()) / (np.ptp(halves) or 1)
    return np.bincount(np.minimum(MAX_BARS * share, MAX_BARS - 1).astype(np.int64), minlength=MAX_BARS)


def _bars(heights: NDArray[Any]) -> str:
    """Bars side by side above a thin line; one that is not zero can always be seen."""
    step = min(WIDTH / len(heights), WIDTH / 6)
    high = np.maximum(heights / heights.max() * (HEIGHT - 1), (heights > 0) * 1.5)
    drawn = "".join(
        f"M{n * step:.1f} {HEIGHT}v{-h:.1f}h{0.8 * step:.1f}v{h:.1f}z" for n, h in enumerate(high)
    )
    line = f'<path d="M0 {HEIGHT - 0.25}h{step * len(heights):.1f}" stroke="currentColor" stroke-width=".5"/>'
    return f'<path d="{drawn}" fill="currentColor"/>{line}'
