"""Values of any type to text, as Arrow writes them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np

from crowdpilot.arrays import Names
from crowdpilot.io.errors import Malformed

PLAIN = 1e-6, 1e10  # between them, numbers are written without an exponent


def text_array(values: Names) -> Names:
    """Values of one type as texts."""
    if values.dtype.kind == "M":
        return np.char.replace(np.datetime_as_string(values), "T", " ").astype(object)
    return np.fromiter(map(text_of, values.tolist()), object, len(values))


def text_of(value: Any) -> str:
    """The text of one value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ", "microseconds")
    if isinstance(value, (int, datetime.date, datetime.timedelta, Decimal)):
        return str(value)
    raise Malformed(f"found values of type {type(value).__name__}")


def number_text(number: float) -> str:
    """The shortest text that is read as this number again.

    Examples
    --------
    >>> [number_text(number) for number in (1.0, 0.25, 0.00001, 1e-9, 12345678901.0)]
    ['1', '0.25', '0.00001', '1e-9', '1.2345678901e+10']
    """
    text = repr(number)
    low, high = PLAIN
    if not np.isfinite(number) or ("e" not in text and abs(number) < high):
        return text.removesuffix(".0")
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    if low <= abs(number) < high:
        return f"{Decimal(text):f}"
    first, rest = digits[0], "".join(map(str, digits[1:]))
    power = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{first}{f'.{rest}' if rest else ''}e{power:+d}"
