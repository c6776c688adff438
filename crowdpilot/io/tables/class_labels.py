"""Columns that Hugging Face `datasets` keeps as numbers of named classes, with their names instead."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crowdpilot.io.columns import TableError

METADATA = b"huggingface"


def class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """The names of the classes of each such column, as files of `datasets` list them."""
    try:
        features = json.loads((schema.metadata or {}).get(METADATA, b"{}"))["info"]["features"]
        return {
            name: list(feature["names"])
            for name, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        }
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}


def with_class_names(table: pa.Table, names: Mapping[str, Sequence[str]] | None = None) -> pa.Table:
    """The same table; below zero there is no class."""
    for column, classes in (class_names(table.schema) if names is None else names).items():
        position = table.column_names.index(column) if column in table.column_names else -1
        if position >= 0 and pa.types.is_integer(table.schema.field(position).type):
            named = _named(column, table.column(position), classes)
            table = table.set_column(position, column, named)
    return table


def _named(name: str, codes: pa.ChunkedArray, classes: Sequence[str]) -> Any:
    if (highest := pc.max(codes).as_py()) is not None and highest >= len(classes):
        raise TableError(f"found the class {highest} in column {name!r}, but only {len(classes)} have a name")
    known = pc.if_else(pc.less(codes, 0), pa.scalar(None, codes.type), codes).cast(pa.int32())
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(chunk, pa.array(classes, pa.string())) for chunk in known.chunks],
        pa.dictionary(pa.int32(), pa.string()),
    )
