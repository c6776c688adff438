"""Data frames as tables of Arrow: pandas with its index, polars, duckdb, `datasets` and others."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from crowdpilot.io import plain
from crowdpilot.io.columns import Column, Table, TableError
from crowdpilot.io.engine import engine
from crowdpilot.io.inference.column_names import find_columns, is_known, listed
from crowdpilot.names import Encoded

INDEX_TASK = "task"  # what the index of a frame without a task is called


class UnreadableColumn(Column):
    """A column whose values are no names; an error only if it is needed."""

    def __init__(self, listed: list[Any], problem: str):
        self.listed = listed
        self.problem = problem

    @property
    def encoded(self) -> Encoded:
        raise TableError(self.problem)

    def __len__(self) -> int:
        return len(self.listed)

    def values(self, count: int | None = None) -> list[Any]:
        return self.listed[:count]


def is_frame(data: Any) -> bool:
    """Whether it is a data frame or a data set of any library."""
    known = ("__arrow_c_stream__", "__dataframe__", "collect_schema")
    return any(hasattr(data, name) for name in known) or library_name(data) in ("datasets", "pandas")


def frame_table(data: Any, columns: Mapping[str, str | None]) -> Table:
    """The table of a data frame; `columns` are those that the user has named."""
    if library_name(data) == "datasets":
        return _of_dataset(data)
    if library_name(data) == "pandas":
        return _of_pandas(data, columns)
    frame = data.collect() if hasattr(data, "collect") else data
    if library_name(frame) == "polars" and engine() is plain:
        return _table([(each.name, each.to_list()) for each in frame.get_columns()])
    return engine().as_table(frame)


def library_name(data: Any) -> str:
    """The package that an object comes from."""
    return type(data).__module__.partition(".")[0]


# Hugging Face --------------------------------------------------------------------------------


def only_split(splits: Mapping[str, Any]) -> Any:
    """The data set in a `DatasetDict` of one split."""
    if len(splits) == 1:
        return next(iter(splits.values()))
    first = next(iter(splits), "train")
    raise TableError(f"there are the splits {listed(list(splits))}; choose one, such as dataset[{first!r}]")


def _of_dataset(data: Any) -> Table:
    """Rows in the order of the data set; numbers of classes become their names."""
    import pyarrow as pa

    from crowdpilot.io.tables.class_labels import with_class_names

    if isinstance(data, Mapping):
        data = only_split(data)
    features = data.features or {}
    names = {name: kind.names for name, kind in features.items() if getattr(kind, "names", None)}
    is_stored = hasattr(data, "num_rows")
    table = data.with_format("arrow")[:] if is_stored else pa.Table.from_pylist(list(data))
    return engine().as_table(with_class_names(table, names))


# pandas --------------------------------------------------------------------------------------


def _of_pandas(data: Any, columns: Mapping[str, str | None]) -> Table:
    """The columns of a frame or a series, and its index where that means something."""
    frame = data.to_frame(data.name or "label") if data.ndim == 1 else data
    names = _column_names(frame.columns)
    index = _index(frame.index, names, columns)
    named = [*index.items(), *((name, frame.iloc[:, n]) for n, name in enumerate(names))]
    return _table(named)


def _table(named: list[tuple[str, Any]]) -> Table:
    """The table of columns with names; one that is known by its name and needs Arrow is an error without."""
    for name, values in named if engine() is plain else ():
        if is_known(name):
            with suppress(TypeError):
                plain.column(values)
    return Table([name for name, _ in named], [readable_column(values) for _, values in named])


def readable_column(values: Any) -> Column:
    """The column of these values; what is wrong with them is said when they are needed."""
    try:
        return engine().column(values)
    except (TypeError, ValueError, NotImplementedError) as error:
        return UnreadableColumn(list(values), str(error).partition("\n")[0].partition(", expected")[0])


def _column_names(columns: Any) -> list[str]:
    """Names as text; of several levels, those that differ."""
    if columns.nlevels == 1:
        return list(map(str, columns))
    levels = [n for n in range(columns.nlevels) if columns.get_level_values(n).nunique() > 1] or [-1]
    return [" ".join(str(name[n]) for n in levels) for name in columns]


def _index(index: Any, names: list[str], columns: Mapping[str, str | None]) -> dict[str, Any]:
    """The levels of the index that have a name or are text; one of no known name is the task."""
    if index.nlevels > 1:
        levels = {str(name or f"level {n}"): index.get_level_values(n) for n, name in enumerate(index.names)}
        return {name: values for name, values in levels.items() if name not in names}
    if index.name is None and index.inferred_type not in ("string", "mixed"):
        return {}
    name = "" if index.name is None else str(index.name)
    if is_known(name) or name in columns.values():
        return {} if name in names else {name: index}
    return {} if find_columns(names, ["task"]) or "task" in columns else {INDEX_TASK: index}
