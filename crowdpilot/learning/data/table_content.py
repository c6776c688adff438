"""What a table says about tasks: their names, and numbers or a text for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from crowdpilot.arrays import Floats, Names
from crowdpilot.io.arrow.encoding import encode_column
from crowdpilot.io.arrow.numbers import to_floats
from crowdpilot.io.column_names import find_columns

TEXT = "text"  # the column that holds text, even if it looks like numbers
INDEX = ("id", "index")  # names of a first column that holds tasks
ANSWERS = ("label", "gold", "truth")  # columns that no classifier may see

Error = Callable[[str], ValueError]  # from a problem to a sentence that says where it is


def split_table(
    table: pa.Table, error: Error, *, is_text: bool = False
) -> tuple[Names | None, Floats | list[str]]:
    """The names of the tasks, None if no column has them, and their content.

    Parameters
    ----------
    table
        Perhaps a column for the task, which may be called "id" if it is the first, and numbers in all
        other columns or a single column of text.
    error
        Makes the error that says where the table is from.
    is_text
        Numbers are written as text.
    """
    first = next((name for name in table.column_names[:1] if name.casefold() in INDEX), None)
    role = find_columns(table.column_names, ["task"]).get("task", first)
    columns = [name for name in table.column_names if name != role]
    if answers := [name for name in columns if _is_answer(name)]:
        raise error(f"column {answers[0]!r} is no content of a task; leave it out, so that it is not learned")
    if not columns or not table.num_rows:
        raise error("there is nothing but names in it, expected numbers or a text for each task")
    names = None if role is None else _names(table[role], role, error, is_text)
    return names, _content(table.select(columns), error, is_text)


def _is_answer(name: str) -> bool:
    return name.casefold() in ANSWERS or bool(find_columns([name], ["worker"]))


def _names(column: pa.ChunkedArray, role: str, error: Error, is_text: bool) -> Names:
    codes, names = encode_column(column, is_text)
    if (codes < 0).any():
        raise error(f"row {int(np.argmax(codes < 0)) + 1} has no name in column {role!r}")
    if len(names) < len(codes):
        twice = names.item(np.argmax(np.bincount(codes) > 1))
        raise error(f"task {twice!r} has several rows, expected one")
    return names[codes]


def _content(table: pa.Table, error: Error, is_text: bool) -> Floats | list[str]:
    """The numbers of all columns, or the text of the only one."""
    names = table.column_names
    numbers: list[Floats] = []
    for name in names:
        try:
            numbers.append(_floats(table[name], name, is_text))
        except (ValueError, pa.ArrowException) as problem:
            if len(names) == 1 and _is_string(table[name].type):
                return [text or "" for text in table[name].cast(pa.string()).to_pylist()]
            reason = str(problem).partition("\n")[0]
            raise error(
                f"column {name!r} is not numbers ({reason}); expected numbers in all columns but the task, "
                "or a single column of text"
            ) from problem
    return np.column_stack(numbers)


def _floats(column: pa.ChunkedArray, name: str, is_text: bool) -> Floats:
    if name.casefold() == TEXT or (_is_string(column.type) and not is_text):
        raise ValueError("it holds text")
    return to_floats(column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column)


def _is_string(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
