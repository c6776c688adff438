"""Data frames for what is computed: those of polars for votes of a polars frame, else those of pandas."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from crowdpilot.arrays import Names
from crowdpilot.optional_packages import load

FrameLibrary = Literal["pandas", "polars"]


class Axis(NamedTuple):
    """What the rows or the columns of a frame are called, all together and each."""

    name: str
    names: Names


def library_of(source: Any) -> FrameLibrary:
    """The library whose frames go with a source of votes."""
    return "polars" if type(source).__module__.partition(".")[0] == "polars" else "pandas"


def installed(library: FrameLibrary) -> FrameLibrary:
    """The same library, but polars where pandas is not installed and polars is."""
    return "polars" if not find_spec("pandas") and find_spec("polars") else library


def data_frame(columns: Mapping[str, Any], library: FrameLibrary, what: str) -> Any:
    """A data frame of columns; if its library is not installed, an error says that `what` needs it."""
    if library == "pandas":
        return load("pandas", what).DataFrame(columns)
    polars = load("polars", what)
    return polars.DataFrame([polars.Series(name, values.tolist()) for name, values in columns.items()])


def values_by_name(values: Names, rows: Axis, name: str, library: FrameLibrary, what: str) -> Any:
    """A value for each row: a Series of pandas with the rows as its index, or two columns of polars."""
    if library == "polars":
        return data_frame({rows.name: rows.names, name: values}, library, what)
    pandas = load("pandas", what)
    return pandas.Series(values, pandas.Index(rows.names, name=rows.name), name=name)


def matrix_by_name(matrix: Any, rows: Axis, columns: Axis, library: FrameLibrary, what: str) -> Any:
    """A number for each row and column, in a frame; in polars the names of the rows are the first column."""
    if library == "polars":
        if rows.name in map(str, columns.names):
            raise ValueError(
                f"{what} cannot have two columns {rows.name!r}; rename that class, or use pandas"
            )
        polars = load("polars", what)
        head = polars.Series(rows.name, rows.names.tolist())
        body = [polars.Series(str(n), v) for n, v in zip(columns.names, matrix.T, strict=True)]
        return polars.DataFrame([head, *body])
    pandas = load("pandas", what)
    index, header = (pandas.Index(axis.names, name=axis.name) for axis in (rows, columns))
    return pandas.DataFrame(matrix, index, header)
