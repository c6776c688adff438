"""Tables in one JSON value, laid out by columns, by rows or split, as pandas and others write them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from crowdpilot.io.inference.column_names import NAME_ROLES, find_columns

MIN_KNOWN_ROLES = 2  # so many names of columns are no coincidence


def records_of(document: Any) -> list[dict[str, Any]] | None:
    """The records of a table in one JSON value; None if it is laid out otherwise.

    Examples
    --------
    >>> records_of({"item": {"0": "a"}, "rater": {"0": "x"}}) == records_of(
    ...     {"columns": ["item", "rater"], "data": [["a", "x"]]}
    ... )
    True
    """
    if not isinstance(document, Mapping) or not document:
        return None
    return _split(document) or _by_column(document) or _by_row(document)


def _split(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    data, names = document.get("data"), document.get("columns")
    if not isinstance(data, list) or not document.keys() <= {"columns", "index", "data", "schema", "names"}:
        return None
    if isinstance(names, list) and all(isinstance(row, list) and len(row) == len(names) for row in data):
        return [dict(zip(map(str, names), row, strict=True)) for row in data]
    return data if "schema" in document and all(isinstance(row, dict) for row in data) else None


def _by_column(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    if not _are_columns(document):
        return None
    columns = list(document.values())
    if all(isinstance(column, list) for column in columns) and len(set(map(len, columns))) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*columns, strict=True)]
    if not all(isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns):
        return None
    return [{name: column[row] for name, column in document.items()} for row in columns[0]]


def _by_row(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    rows = list(document.values())
    are_records = all(isinstance(row, dict) and row.keys() == rows[0].keys() for row in rows)
    return rows if are_records and _are_columns(rows[0]) else None


def _are_columns(names: Collection[Any]) -> bool:
    return (
        all(isinstance(name, str) for name in names)
        and len(find_columns(names, NAME_ROLES)) >= MIN_KNOWN_ROLES
    )
