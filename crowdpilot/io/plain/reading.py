"""Files of text to tables, without Arrow."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Encoded, need_arrow
from crowdpilot.io.errors import Malformed
from crowdpilot.io.plain.columns import Table, objects

LONGEST = (1 << 31) - 1  # characters in a field
ROWS = 1 << 9  # read at once, few enough to stay in the cache
UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


def open(path: Path) -> Any:
    """The bytes of a file as a stream; a packed file is unpacked on the way."""
    return _opener(path)(path, "rb")


def create(path: Path) -> Any:
    """A stream into a new file, which is packed if its suffix says so."""
    return _opener(path)(path, "wb")


def _opener(path: Path) -> Callable[..., Any]:
    if path.suffix in (".zst", ".lz4"):
        need_arrow(f"{path.name}: a file packed as {path.suffix}")
    return UNPACK.get(path.suffix, io.open)


class Numbering(dict[str, int]):
    """The number of each text, in the order in which they are asked for."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


def read_text(
    stream: Any, delimiter: str, header: Sequence[str], names: Sequence[str] | None
) -> tuple[Table, str]:
    """Some columns of a text file (None: all by their place), and the last value in it."""
    places = [*range(len(header))] if names is None else [*map(header.index, names)]
    wanted = list(dict.fromkeys([*places, len(header) - 1]))
    texts = {place: Numbering() for place in wanted}
    codes = {place: array("i") for place in wanted}
    last = header[-1] if names is None else ""
    with long_fields(), io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="") as lines:
        rows = filter(None, csv.reader(lines, delimiter=delimiter))
        _check_header(next(rows, []), header, wanted)
        while chunk := list(islice(rows, ROWS)):
            columns = _turn(chunk, len(header))
            for place in wanted:
                codes[place].extend(map(texts[place].__getitem__, columns[place]))
            last = columns[-1][-1]
    made = {place: _column(codes[place], texts[place]) for place in wanted}
    return Table(list(header if names is None else names), [made[place] for place in places]), last


@contextmanager
def long_fields() -> Iterator[None]:
    """No limit to the length of a field."""
    limit = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _check_header(found: list[str], header: Sequence[str], wanted: list[int]) -> None:
    if [found[place : place + 1] for place in wanted] != [[header[place]] for place in wanted]:
        raise Malformed("the header is no text")


def _turn(rows: list[list[str]], width: int) -> list[tuple[str, ...]]:
    """Rows to columns."""
    try:
        columns = list(zip(*rows, strict=True))
    except ValueError as error:
        raise Malformed("rows have different lengths") from error
    if len(columns) != width:
        raise Malformed(f"rows have {len(columns)} fields, expected {width}")
    return columns


def _column(codes: array[int], texts: Numbering) -> Encoded:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise Malformed("found bytes that are not UTF-8") from error
    return Encoded(np.array(codes, np.int32), objects(list(texts)))


def read_json(source: object) -> None:
    """There is no quick way."""
