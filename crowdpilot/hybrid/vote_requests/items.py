"""Items to be labelled: their names and their content, from a list, a file or a data frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Names
from crowdpilot.io.inference.column_names import WEAK_ALIASES, candidates, listed
from crowdpilot.io.table_columns import read_columns, read_single_column
from crowdpilot.names import is_missing, to_names

SCALARS = (str, int, float, np.generic)


class ItemColumns(NamedTuple):
    """Names of items, and further columns about them, such as a text or the address of an image.

    Columns of labels and true labels are not among them. `column` is what the names are called.
    """

    names: Names
    content: Mapping[str, Sequence[Any]]
    column: str = "task"


def find_items(items: Any, known: Collection[str] = ()) -> ItemColumns:
    """Items of a list of names, or of a table with a column of names.

    Parameters
    ----------
    items
        A sequence of names, a path, a data frame, a dict of columns or records.
    known
        Names that items have elsewhere, by which their column is found; otherwise by its own name.

    Examples
    --------
    >>> find_items({"id": [1, 2], "text": ["an owl", "an eel"]}).content
    {'text': ['an owl', 'an eel']}
    """
    if isinstance(items, Iterator):
        items = list(items)
    if _is_list_of_names(items):
        return _checked("items", ItemColumns(to_names(list(items)), {}))
    source = f"{items}" if isinstance(items, str) or hasattr(items, "__fspath__") else "items"
    if (lines := read_single_column(items)) is not None:
        return _checked(source, _of_lines(source, lines, known))
    columns = read_columns(items)
    name = _name_column(source, columns, known)
    hidden = {name, "label", *candidates(columns, "gold")}  # nobody who answers may see an answer
    content = {other: values for other, values in columns.items() if other not in hidden}
    return _checked(source, ItemColumns(to_names(columns[name]), content, *_usual([name])[:1]))


def _is_list_of_names(items: Any) -> bool:
    if isinstance(items, (str, bytes, Mapping)) or hasattr(items, "columns") or not hasattr(items, "__len__"):
        return False
    return getattr(items, "ndim", 1) == 1 and all(isinstance(item, SCALARS) for item in items)


def _usual(columns: Iterable[str]) -> list[str]:
    """Columns that are called like tasks, the best name first."""
    names = list(columns)
    return [*candidates(names, "task"), *candidates(names, "task", WEAK_ALIASES)]


def _of_lines(source: str, lines: Sequence[str], known: Collection[str]) -> ItemColumns:
    """Items of a file with one column, whose first line may be an item or not."""
    first = lines[0] if lines else ""
    if first not in known and (usual := _usual([first])):
        return ItemColumns(to_names(lines[1:]), {}, usual[0])
    if first in known or source.endswith(".txt"):
        return ItemColumns(to_names(lines), {})
    if known:
        return ItemColumns(to_names(lines[1:]), {})
    raise ValueError(
        f"{source}: the first line is {first!r}, which may be an item; write 'task' above the items"
    )


def _name_column(source: str, columns: Mapping[str, Sequence[Any]], known: Collection[str]) -> str:
    """The column with most of the known names; without any, the first that is called like a task."""
    usual = _usual(columns)
    order = list(dict.fromkeys([*usual, *columns])) if known else usual
    if not order:
        raise ValueError(f"{source} has the columns {listed(list(columns))}; call that of the names 'task'")
    unique = [name for name in order if len(set(columns[name])) == len(columns[name])]
    shared = {name: len(set(map(str, columns[name])).intersection(known)) for name in order}
    return max(unique or order, key=lambda name: shared[name])


def _checked(source: str, items: ItemColumns) -> ItemColumns:
    names = items.names.tolist()
    if not names:
        raise ValueError(f"{source} has no item, expected one in every row")
    if missing := [n for n, name in enumerate(names) if is_missing(name) or str(name).strip() == ""]:
        raise ValueError(f"{source}: item {missing[0] + 1} has no name, expected one of its own for each")
    texts = list(map(str, names))
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise ValueError(f"{source} has the item {twice!r} twice, expected each once")
    return items
