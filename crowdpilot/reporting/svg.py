"""Drawings inside the page: SVG whose names clash with no other and whose ink follows the page."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from crowdpilot.reporting.plots.axes import BLUE, INK, LINE, PAPER, SOFT

SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.image_inline": True, "text.parse_math": True}
NOTHING = {"Date": None, "Creator": None}
INKS = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    PAPER: "var(--paper)",
    BLUE: "var(--mark)",
}
SCALE = 96  # pixels of the page to an inch of the drawing, at most
FINE = 200  # pixels to an inch of what is drawn in pixels


def to_svg(axes: Any, name: str) -> str:
    """The figure of these axes as one `<svg>` element, the same for the same data.

    Parameters
    ----------
    axes
        What a plot returned.
    name
        Begins every id inside, so that several drawings can stand in one page.
    """
    figure: Figure = np.asarray(axes, object).flat[0].figure
    file = io.StringIO()
    with mpl.rc_context(SETTINGS | {"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from")  # the browser has other fonts
        figure.savefig(file, format="svg", dpi=FINE, transparent=True, metadata=NOTHING)
    text = file.getvalue()
    head, body = re.split(r"(?<=>)", text[text.index("<svg") :], maxsplit=1)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, count=1, flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]*"', head)
    shape = f'{box[0] if box else ""} style="max-width: {SCALE * figure.get_figwidth():.0f}px"'
    return f"<svg {shape}>{re.sub(r'<[^>]*>', lambda tag: _rename(tag[0], name), body.strip())}"


def _rename(tag: str, name: str) -> str:
    """The same tag with ids of its own, and with ink that the page decides."""
    tag = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", tag)
    if not tag.startswith("<image"):
        for color, variable in INKS.items():
            tag = tag.replace(color, variable)
    return tag
