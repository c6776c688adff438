"""Files of text and JSON to tables of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json

from crowdpilot.io.engine import Records
from crowdpilot.io.source import Source

BLOCK = 1 << 23  # bytes read at once; no row may be longer
SUSPECT = (b"\nn", b"\n ", b"\n\t", b"\rn", b"\r ", b"\r\t")
NAMED = ("task", "worker", "label", "gold")
FAITHFUL = (pa.string(), pa.int64(), pa.bool_(), pa.null())  # types whose values come back as written


def open(path: Path) -> Any:
    """The bytes of a file as a stream; a packed file is unpacked on the way."""
    return pa.input_stream(str(path), compression="detect")


def create(path: Path) -> Any:
    """A stream into a new file, which is packed if its suffix says so."""
    return pa.output_stream(str(path), compression="detect")


def read_text(
    stream: Any, delimiter: str, header: Sequence[str], names: Sequence[str] | None
) -> tuple[pa.Table, str]:
    """Some columns of a text file (None: all by their place), and the last value in it."""
    places = [str(place) for place in range(len(header))] if names is None else None
    included = list(dict.fromkeys(places or [*(names or ()), header[-1]]))
    table = arrow_csv.read_csv(
        stream,
        arrow_csv.ReadOptions(block_size=BLOCK, column_names=places),
        arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(include_columns=included, column_types=dict.fromkeys(included, pa.string())),
    )
    last = str(table[places[-1] if places else header[-1]][-1]) if table.num_rows else ""
    return (table.slice(1).rename_columns(list(header)) if places else table.select(list(names or ()))), last


def read_json(source: Source) -> Records | None:
    """None if the values of a column differ in type, or if Arrow would change how they are written."""
    if source.opening != "{" or not _are_records(source):
        return None
    try:
        with source.open() as stream:
            table = arrow_json.read_json(stream, arrow_json.ReadOptions(block_size=BLOCK))
        roles = source.roles(table.column_names)
        for name in roles.values():
            table[name].validate(full=True)  # bytes that are no text are found only here
    except pa.ArrowException:
        return None
    is_plain = all(table[name].type in FAITHFUL for role, name in roles.items() if role in NAMED)
    return (table.column_names, table.column) if is_plain else None


def _are_records(source: Source) -> bool:
    """Whether no line begins otherwise than a record: Arrow does not survive a block of nulls."""
    last = b"\n"
    with source.open() as stream:
        while chunk := stream.read(BLOCK):
            text = last + chunk
            if any(start in text for start in SUSPECT):
                return False
            last = text[-1:]
    return True
