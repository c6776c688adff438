"""Items to be labelled: their names and their content, from a list, a file or a data frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Names
from crowdpilot.io.inference.column_names import ALIASES, WEAK_ALIASES, candidates, listed
from crowdpilot.io.table_columns import read_columns
from crowdpilot.names import is_missing, to_names

SCALARS = (str, int, float, np.generic)


class ItemColumns(NamedTuple):
    """Names of items, and further columns about them, such as a text or the address of an image.

    Columns of labels and true labels are not among them.
    """

    names: Names
    content: Mapping[str, Sequence[Any]]


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
    if _is_list_of_names(items):
        return _checked("items", to_names(list(items)), {})
    columns = read_columns(items)
    name = _name_column(columns, known)
    hidden = {name, "label", *candidates(columns, "gold")}  # nobody who answers may see an answer
    content = {other: values for other, values in columns.items() if other not in hidden}
    source = f"{items}" if isinstance(items, str) or hasattr(items, "__fspath__") else "items"
    return _checked(source, to_names(columns[name]), content)


def _is_list_of_names(items: Any) -> bool:
    if isinstance(items, (str, bytes, Mapping)) or hasattr(items, "columns") or not hasattr(items, "__len__"):
        return False
    return getattr(items, "ndim", 1) == 1 and all(isinstance(item, SCALARS) for item in items)


def _name_column(columns: Mapping[str, Sequence[Any]], known: Collection[str]) -> str:
    """The column with most of the known names; without any, the first that is called like a task."""
    usual = [*candidates(columns, "task"), *candidates(columns, "task", WEAK_ALIASES)]
    order = list(dict.fromkeys([*usual, *columns])) if known or len(columns) == 1 else usual
    unique = [name for name in order if len(set(columns[name])) == len(columns[name])]
    if not order:
        first = next(iter(ALIASES["task"]))
        raise ValueError(
            f"items have the columns {listed(list(columns))}; call that of their names '{first}'"
        )
    shared = {name: len(set(map(str, columns[name])).intersection(known)) for name in order}
    return max(unique or order, key=lambda name: shared[name])


def _checked(source: str, names: Names, content: Mapping[str, Sequence[Any]]) -> ItemColumns:
    listed_names = names.tolist()
    if not listed_names:
        raise ValueError(f"{source} has no item, expected one in every row")
    if missing := [n for n, name in enumerate(listed_names) if is_missing(name) or str(name).strip() == ""]:
        raise ValueError(f"{source}: item {missing[0] + 1} has no name, expected one of its own for each")
    texts = list(map(str, listed_names))
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise ValueError(f"{source} has the item {twice!r} twice, expected each once")
    return ItemColumns(names, content)
