"""The content of tasks from files and folders."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crowdpilot.arrays import Floats, Names
from crowdpilot.io.columns import find_columns, listed
from crowdpilot.io.delimited import read_columns
from crowdpilot.io.encoding import encode_column
from crowdpilot.io.finding import suffix_of
from crowdpilot.io.numbers import to_floats
from crowdpilot.io.source import Source
from crowdpilot.learn.pictures import find_pictures

TEXT = "text"  # the column that holds text, even if it looks like numbers
ANSWERS = ("label", "gold", "truth")  # columns that no classifier may see
KINDS = ".npy, .npz, .csv, .tsv, .parquet or a folder of pictures"


def read_x(path: str | PathLike[str]) -> tuple[Names | None, Any]:
    """The names of tasks and what is known of each: numbers, texts, or the paths of pictures.

    Parameters
    ----------
    path
        `.npy`, a row for each task; `.npz` with the arrays `task` and `x`, or with a single array;
        `.csv`, `.tsv` or `.parquet` with a column for the task (without one, row *i* is task *i*)
        and either numbers in all other columns or a single column of text; or a folder of pictures.

    Returns
    -------
    names, X
        The task of each row, None if the file does not say; an array, a list of texts or a list of
        paths.
    """
    place = Path(path)
    if not place.exists():
        raise ValueError(f"{place}: there is no such file or folder")
    if place.is_dir():
        return find_pictures(place)
    suffix = suffix_of(place)
    if suffix in (".npy", ".npz"):
        return _read_numpy(place)
    if suffix in (".csv", ".tsv", ".txt"):
        return _read_text(place)
    if suffix in (".parquet", ".pq"):
        return _read_parquet(place)
    raise ValueError(f"{place}: the content of tasks is not read from {suffix or 'such'} files, only {KINDS}")


def _read_numpy(path: Path) -> tuple[Names | None, Any]:
    try:
        found = np.load(path, allow_pickle=False)
        arrays = {"x": found} if isinstance(found, np.ndarray) else dict(found)
    except (OSError, ValueError, EOFError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path}: cannot be read as numbers of numpy ({reason})") from error
    if arrays.keys() == {"task", "x"}:
        names, x = arrays["task"], arrays["x"]
        if names.ndim != 1 or x.ndim == 0 or len(names) != len(x):
            raise ValueError(
                f"{path}: task is {names.shape} and x is {x.shape}, expected a row for each task"
            )
        return names if names.dtype.kind in "iu" else np.asarray(names.tolist(), object), x
    if len(arrays) != 1:
        has = listed(list(arrays))
        raise ValueError(f"{path}: there are the arrays {has}, expected 'task' and 'x' or a single array")
    return None, next(iter(arrays.values()))


def _read_text(path: Path) -> tuple[Names | None, Any]:
    source = Source(path)
    try:
        if not source.opening:
            raise source.error("the file is empty, expected the content of tasks")
        table = read_columns(source, source.header)
    except UnicodeDecodeError as error:
        raise source.not_utf8() from error
    except (pa.ArrowException, OSError) as error:
        raise source.error(f"cannot be read ({str(error).partition(chr(10))[0]})") from error
    return _from_table(table, source, is_text=True)


def _read_parquet(path: Path) -> tuple[Names | None, Any]:
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path}: cannot be read as a Parquet file ({reason})") from error
    return _from_table(table, Source(path), is_text=False)


def _from_table(table: pa.Table, source: Source, *, is_text: bool) -> tuple[Names | None, Any]:
    role = find_columns(table.column_names, ["task"]).get("task")
    columns = [name for name in table.column_names if name != role]
    if answers := [
        name for name in columns if name.casefold() in ANSWERS or find_columns([name], ["worker"])
    ]:
        raise source.error(
            f"column {answers[0]!r} is no content of a task; leave it out, so that it is not learned"
        )
    if not columns or not table.num_rows:
        raise source.error(
            "there is nothing but names in it, expected a row of numbers or a text for each task"
        )
    return _names(table, role, source, is_text), _content(table.select(columns), source)


def _names(table: pa.Table, role: str | None, source: Source, is_text: bool) -> Names | None:
    if role is None:
        return None
    codes, names = encode_column(table[role], is_text)
    if (codes < 0).any():
        raise source.error(f"row {int(np.argmax(codes < 0)) + 1} has no name in column {role!r}")
    if len(names) < len(codes):
        twice = names[np.argmax(np.bincount(codes) > 1)]
        raise source.error(f"task {twice!r} has several rows, expected one")
    return names[codes]


def _content(table: pa.Table, source: Source) -> Floats | list[str]:
    """The numbers of all columns, or the text of the only one."""
    names = table.column_names
    numbers: list[Floats] = []
    for name in names:
        try:
            if name.casefold() == TEXT:
                raise ValueError("it holds text")
            numbers.append(to_floats(table[name]))
        except (ValueError, pa.ArrowException) as error:
            if len(names) == 1:
                return [text or "" for text in table[name].cast(pa.string()).to_pylist()]
            reason = str(error).partition("\n")[0]
            raise source.error(
                f"column {name!r} is not numbers ({reason}); expected numbers in all columns but the task, "
                "or a single column of text"
            ) from error
    return np.column_stack(numbers)
