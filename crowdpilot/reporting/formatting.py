"""Formatting of counts, percentages, lists and names for people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

BLANK = "\N{NO-BREAK SPACE}"


def count(n: int, noun: str, plural: str = "") -> str:
    """A number with its noun, as in "no votes", "1 vote", "1,200 votes"."""
    return f"{f'{n:,}' if n else 'no'} {noun if n == 1 else plural or f'{noun}s'}"


def percent(share: float) -> str:
    """A share in percent; 0 % and 100 % only if it is exactly so."""
    if not np.isfinite(share):
        return "an unknown share"
    if 0 < share < 0.0005:
        return f"under 0.1{BLANK}%"
    if 0.9995 <= share < 1:
        return f"over 99.9{BLANK}%"
    return f"{100 * share:.1f}".removesuffix(".0") + f"{BLANK}%"


def about(value: float) -> str:
    """A number with three significant digits, or all digits of a large one."""
    digits = max(0, 2 - int(np.floor(np.log10(abs(value))))) if value else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Parts joined by commas and a last "and"."""
    return " ".join(filter(None, [", ".join(parts[:-1]), last if len(parts) > 1 else "", *parts[-1:]]))


def shorten(name: Any, length: int) -> str:
    """A name on one line, with the middle left out if it is longer than this width."""
    text = "".join(character if character.isprintable() else " " for character in str(name))
    text = re.sub(r"\s+", " ", text).strip() or "(blank)"
    if width(text) <= length:
        return text
    return f"{_fit(text, length // 2)}…{_fit(text[::-1], length - length // 2 - 1)[::-1]}"


def width(text: str) -> int:
    """Width of a text in narrow characters."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _fit(text: str, length: int) -> str:
    """The start of a text, up to this width."""
    ends = np.cumsum([width(character) for character in text[:length]])
    return text[: int((ends <= length).sum())]
