"""Ranges of bytes of a file that a request asks for (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

MAX_DIGITS = 15  # of a position; more is no size of a file
SINGLE = re.compile(rf"bytes[ \t]*=[ \t]*(\d{{0,{MAX_DIGITS}}})-(\d{{0,{MAX_DIGITS}}})[ \t]*", re.IGNORECASE)


class ByteRange(NamedTuple):
    """The bytes from `start` up to and without `end`."""

    start: int
    end: int


class UnsatisfiableRangeError(Exception):
    """A range that lies behind the end of the file."""


def is_unchanged(headers: Mapping[str, str], tag: str) -> bool:
    """Whether a request has the version of a file with this entity tag already, or any (If-None-Match).

    Examples
    --------
    >>> [is_unchanged({"if-none-match": has}, '"x"') for has in ("*", '"y", W/"x"', '"y"')]
    [True, True, False]
    """
    has = headers.get("if-none-match", "").strip()
    return has == "*" or tag in has


def requested_range(headers: Mapping[str, str], tag: str, size: int) -> ByteRange | None:
    """The one range that is asked for; None if it is the whole file.

    What is not valid, several ranges, and a range of another version of the file (If-Range) count as
    asking for the whole file, as the standard allows.

    Parameters
    ----------
    headers
        Of the request, by names in lower case.
    tag
        The entity tag of the file, with its quotes.
    size
        Of the file in bytes.

    Examples
    --------
    >>> requested_range({"range": "bytes=-3"}, '"x"', 10)
    ByteRange(start=7, end=10)
    """
    found = SINGLE.fullmatch(headers.get("range", "").strip())
    if found is None or headers.get("if-range", tag).strip() != tag:
        return None
    first, last = found.groups()
    if not first:
        return _last_bytes(last, size)
    start, end = int(first), min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return None
    if start >= size:
        raise UnsatisfiableRangeError
    return ByteRange(start, end)


def _last_bytes(count: str, size: int) -> ByteRange | None:
    if not count:
        return None
    if int(count) == 0 or size == 0:
        raise UnsatisfiableRangeError
    return ByteRange(max(0, size - int(count)), size)
