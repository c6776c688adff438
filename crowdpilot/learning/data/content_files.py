"""Content of tasks from files (npy, npz, CSV, TSV, Parquet) and folders of images."""

from __future__ import annotations

from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from crowdpilot.arrays import Names
from crowdpilot.io.arrow import as_table, table_errors
from crowdpilot.io.columns import TableError
from crowdpilot.io.csv_reading import read_columns
from crowdpilot.io.detect import suffix_of
from crowdpilot.io.image_folders import find_images
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.source import Source
from crowdpilot.learning.data.table_content import split_table

FORMATS = ".npy, .npz, .csv, .tsv, .parquet or a folder of images"


def read_x(path: str | PathLike[str]) -> tuple[Names | None, Any]:
    """The names of tasks and the content of each: numbers, texts, or paths of images.

    Parameters
    ----------
    path
        `.npy`, a row for each task; `.npz` with the arrays `task` and `x`, or with a single array;
        `.csv`, `.tsv` or `.parquet` with a column for the task (without one, row *i* is task *i*)
        and either numbers in all other columns or a single column of text; or a folder of images.

    Returns
    -------
    names, X
        The task of each row, None if the file does not say; an array, a list of texts or a list of
        paths.
    """
    source = Path(path)
    if not source.exists():
        raise ValueError(f"{source}: there is no such file or folder")
    if source.is_dir():
        return find_images(source)
    suffix = suffix_of(source)
    if suffix in (".npy", ".npz"):
        return _read_numpy(source)
    if suffix in (".csv", ".tsv", ".txt"):
        return _read_text(source)
    if suffix in (".parquet", ".pq"):
        return _read_parquet(source)
    raise ValueError(
        f"{source}: the content of tasks is not read from {suffix or 'such'} files, only {FORMATS}"
    )


def _read_numpy(path: Path) -> tuple[Names | None, Any]:
    try:
        loaded = np.load(path, allow_pickle=False)
        with nullcontext({"x": loaded}) if isinstance(loaded, np.ndarray) else loaded as opened:
            arrays = dict(opened)
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
    source = Source(path, encoding="utf-8")
    try:
        if not source.opening:
            raise source.error("the file is empty, expected the content of tasks")
        table = read_columns(source, source.header)
    except UnicodeDecodeError as error:
        raise source.not_utf8() from error
    except (TableError, OSError) as error:
        raise source.error(f"cannot be read ({str(error).partition(chr(10))[0]})") from error
    return split_table(table, source.error, is_text=True)


def _read_parquet(path: Path) -> tuple[Names | None, Any]:
    try:
        with table_errors():
            table = as_table(pq.read_table(path))
    except (TableError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path}: cannot be read as a Parquet file ({reason})") from error
    return split_table(table, Source(path).error)
