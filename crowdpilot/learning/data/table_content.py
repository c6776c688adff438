"""Content of tasks from a table: task names, and numeric columns or one column of text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdpilot.arrays import Floats, Names
from crowdpilot.io.columns import Column, Table, encode_column
from crowdpilot.io.inference.column_names import find_columns

TEXT_COLUMN = "text"  # holds text, even if it looks like numbers
TASK_COLUMNS = ("id", "index")  # names of a first column that holds tasks
LABEL_COLUMNS = ("label", "gold", "truth")  # which no classifier may see

MakeError = Callable[[str], ValueError]  # from a problem to an error that says where it is


def split_table(
    table: Table, error: MakeError, *, is_text: bool = False
) -> tuple[Names | None, Floats | list[str]]:
    """The names of the tasks, None if no column has them, and their content.

    Parameters
    ----------
    table
        Perhaps a column for the task, which may be called "id" if it is the first, and numbers in all
        other columns or a single column of text.
    error
        Makes the error, which says where the table is from.
    is_text
        Whether numbers are written as text.
    """
    role = _task_column(table.column_names)
    columns = content_columns(table.column_names)
    if labels := [name for name in columns if _is_label(name)]:
        raise error(f"column {labels[0]!r} is no content of a task; leave it out, so that it is not learned")
    if not columns or not len(table):
        raise error("there is nothing but names in it, expected numbers or a text for each task")
    names = None if role is None else _names(table[role], role, error, is_text)
    return names, _content(table.select(columns), error, is_text)


def content_columns(names: list[str]) -> list[str]:
    """The columns of a table but the one with the names of tasks."""
    return [name for name in names if name != _task_column(names)]


def _task_column(names: list[str]) -> str | None:
    first = next((name for name in names[:1] if name.casefold() in TASK_COLUMNS), None)
    return find_columns(names, ["task"]).get("task", first)


def _is_label(name: str) -> bool:
    return name.casefold() in LABEL_COLUMNS or bool(find_columns([name], ["worker"]))


def _names(column: Column, role: str, error: MakeError, is_text: bool) -> Names:
    codes, names = encode_column(column, is_text)
    if (codes < 0).any():
        raise error(f"row {int(np.argmax(codes < 0)) + 1} has no name in column {role!r}")
    if len(names) < len(codes):
        twice = names.item(np.argmax(np.bincount(codes) > 1))
        raise error(f"task {twice!r} has several rows, expected one")
    return names[codes]


def _content(table: Table, error: MakeError, is_text: bool) -> Floats | list[str]:
    """The numbers of all columns, or the text of the only one."""
    names = table.column_names
    numbers: list[Floats] = []
    for name in names:
        try:
            numbers.append(_floats(table[name], name, is_text))
        except ValueError as problem:
            if len(names) == 1 and table[name].is_text:
                return [text or "" for text in table[name].values()]
            reason = str(problem).partition("\n")[0]
            raise error(
                f"column {name!r} is not numbers ({reason}); expected numbers in all columns but the task, "
                "or a single column of text"
            ) from problem
    return np.column_stack(numbers)


def _floats(column: Column, name: str, is_text: bool) -> Floats:
    if name.casefold() == TEXT_COLUMN or (column.is_text and not is_text):
        raise ValueError("it holds text")
    codes, values = column.encoded
    if values.dtype == bool:
        return np.append(values.astype(np.float64), np.nan)[codes]
    return column.floats()
