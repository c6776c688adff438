"""Figures as inline SVG with unique ids, and with colours that the page decides."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from crowdpilot.reporting.plots.style import BLUE, INK, LINE, PAPER, SOFT

SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.image_inline": True, "text.parse_math": True}
NO_METADATA = {"Date": None, "Creator": None}
COLOR_VARIABLES = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    PAPER: "var(--paper)",
    BLUE: "var(--mark)",
}
MAX_PIXELS_PER_INCH = 96  # of the page
RASTER_DPI = 200  # of what is drawn in pixels


def to_svg(axes: Any, name: str) -> str:
    """The figure of these axes as one `<svg>` element, the same for the same data.

    Parameters
    ----------
    axes
        What a plot returned.
    name
        Prefix of every id, so that several figures fit into one page.
    """
    figure: Figure = np.asarray(axes, object).flat[0].figure
    file = io.StringIO()
    with mpl.rc_context(SETTINGS | {"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from")  # the browser has other fonts
        figure.savefig(file, format="svg", dpi=RASTER_DPI, transparent=True, metadata=NO_METADATA)
    text = file.getvalue()
    head, body = re.split(r"(?<=>)", text[text.index("<svg") :], maxsplit=1)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, count=1, flags=re.DOTALL)
    box = re.search(r'viewBox="[^"]*"', head)
    shape = f'{box[0] if box else ""} style="max-width: {MAX_PIXELS_PER_INCH * figure.get_figwidth():.0f}px"'
    return f"<svg {shape}>{re.sub(r'<[^>]*>', lambda tag: _rename(tag[0], name), body.strip())}"


def _rename(tag: str, name: str) -> str:
    """The same tag with unique ids, and with colours that the page decides."""
    tag = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", tag)
    if not tag.startswith("<image"):
        for color, variable in COLOR_VARIABLES.items():
            tag = tag.replace(color, variable)
    return tag
