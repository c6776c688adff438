"""Reading votes from files of any format and writing them; the only room that parses files."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from crowdpilot.callers import caller_level
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.io.detect import AnyPath, by_name, by_suffix, parse_source, read_numpy, suffix_of
from crowdpilot.io.format import Format
from crowdpilot.io.formats import (
    appen,
    argilla,
    arrow_file,
    csv,
    datasets_folder,
    doccano,
    hugging_face,
    jsonl,
    label_studio,
    label_studio_csv,
    matrix,
    mturk,
    parquet,
    peerannot,
    peerannot_inverse,
    prodigy,
    qualtrics,
    soft,
    toloka,
    tsv,
    wide,
    zooniverse,
)
from crowdpilot.io.formats.soft import from_shares
from crowdpilot.io.reading import Reading, ReadingWarning, read_table
from crowdpilot.io.source import Source
from crowdpilot.io.sources.opening import PATHS
from crowdpilot.io.text_writing import delimited, write_delimited, write_jsonl
from crowdpilot.io.votes_tables import as_table, labels_from_table
from crowdpilot.votes import Repeats, Votes

__all__ = [
    "FORMATS", "TABLES", "Reading", "ReadingWarning", "as_labels", "as_votes", "explain", "from_shares",
    "read", "read_labels", "write", "write_table",
]  # fmt: skip

LOG = logging.getLogger(__name__)
FORMATS: Mapping[str, Format] = {  # the first one that recognises a file reads it
    "peerannot": peerannot.FORMAT,
    "peerannot_inverse": peerannot_inverse.FORMAT,
    "datasets": datasets_folder.FORMAT,
    "hugging_face": hugging_face.FORMAT,
    "argilla": argilla.FORMAT,
    "parquet": parquet.FORMAT,
    "arrow": arrow_file.FORMAT,
    "label_studio": label_studio.FORMAT,
    "prodigy": prodigy.FORMAT,
    "doccano": doccano.FORMAT,
    "jsonl": jsonl.FORMAT,
    "label_studio_csv": label_studio_csv.FORMAT,
    "mturk": mturk.FORMAT,
    "toloka": toloka.FORMAT,
    "zooniverse": zooniverse.FORMAT,
    "appen": appen.FORMAT,
    "qualtrics": qualtrics.FORMAT,
    "matrix": matrix.FORMAT,
    "soft": soft.FORMAT,
    "wide": wide.FORMAT,
    "tsv": tsv.FORMAT,
    "csv": csv.FORMAT,
}
READ_OPTIONS = (
    "format", "columns", "question", "sheet", "header", "encoding", "classes", "abstain", "repeats",
)  # fmt: skip
LABEL_TYPES = (str, int, float, np.generic, type(None))
LABEL_FORMATS = ("datasets", "parquet", "arrow", "jsonl", "tsv", "csv")
TABLES: Mapping[str, Callable[[Any, Path], None]] = {
    ".csv": partial(write_delimited, delimiter=","),
    ".tsv": partial(write_delimited, delimiter="\t"),
    ".parquet": parquet.write_parquet,
    ".jsonl": write_jsonl,
}


def read(
    source: Any,
    *,
    format: str | None = None,
    columns: Mapping[str, str | None] | None = None,
    question: str | None = None,
    sheet: str | None = None,
    header: Sequence[str] | None = None,
    encoding: str | None = None,
    classes: Sequence[Any] | None = None,
    abstain: Iterable[Any] = (),
    repeats: Repeats = "last",
) -> Votes:
    """Votes from a file, a folder, a stream, a data frame, or any other table in memory.

    What was assumed and may be wrong is a `ReadingWarning`; what has two plausible readings is an error that
    names both. `explain` says how the votes were read.

    Parameters
    ----------
    source
        A path, `-` for standard input, an open file, or a table in memory: a data frame of pandas, polars,
        duckdb or Hugging Face, a dict of columns, a list of records, `{task: {worker: label}}`, or an array
        (tasks, workers).
    format
        One of `FORMATS`; found by the content if not given.
    columns
        Which column is which, for example `{"task": "url", "label": "answer"}`; the roles are task,
        worker, label, weight, seconds, time and gold. None as a name leaves a column out.
    question
        Which one, if the workers were asked several.
    sheet
        Which one of a workbook.
    header
        The names of the columns, if the first line is a vote already.
    encoding
        Of the text; detected if not given.
    classes
        All classes in the order wanted; otherwise those that occur, in natural order.
    abstain
        Labels that mean "can't tell": such a row is no vote, and neither is a missing label.
    repeats
        What counts when a worker labels a task again: the last vote, the first, all of them, or
        an error; by time, if the votes have one, else in the order of the source.

    Examples
    --------
    >>> read({"item": ["a", "a", "b"], "rater": ["x", "y", "x"], "rating": [1, 2, 1]})
    Votes(3 votes, 2 tasks, 2 workers, 2 classes)
    """
    reading = explain(
        source, format=format, columns=columns, question=question, sheet=sheet, header=header,
        encoding=encoding, classes=classes, abstain=abstain, repeats=repeats,
    )  # fmt: skip
    for note in reading.notes:
        warnings.warn(f"{reading.name}: {note}", ReadingWarning, stacklevel=caller_level())
    LOG.info("%s", reading)
    return reading.votes


def explain(
    source: Any,
    *,
    format: str | None = None,
    columns: Mapping[str, str | None] | None = None,
    question: str | None = None,
    sheet: str | None = None,
    header: Sequence[str] | None = None,
    encoding: str | None = None,
    classes: Sequence[Any] | None = None,
    abstain: Iterable[Any] = (),
    repeats: Repeats = "last",
) -> Reading:
    """The same votes, and how they were read: `print(explain(source))` is one line that says it.

    Parameters are those of `read`. What `read` would warn about is in `notes`.

    Examples
    --------
    >>> print(explain({"item": ["a", "a", "b"], "rater": ["x", "y", "x"], "rating": [1, 2, 1]}))
    the table: columns, task from 'item', worker from 'rater', label from 'rating'; 3 votes on 2 tasks by 2
    workers, 2 classes (1, 2)
    """
    said = Source(
        Path(), columns or {}, question, sheet=sheet, header_names=header, encoding=encoding,
    )  # fmt: skip
    return read_table(parse_source(source, FORMATS, format, said), classes, abstain, repeats)


def as_votes(source: Any) -> Votes:
    """Votes of anything: `source` itself if it is `Votes`, else what `read` makes of it.

    Examples
    --------
    >>> as_votes([("a", "x", "cat"), ("a", "y", "dog")])
    Votes(2 votes, 1 tasks, 2 workers, 2 classes)
    """
    if isinstance(source, Votes):
        return source
    try:
        return read(source)
    except ValueError as error:
        if (named := re.search(rf"\b({'|'.join(READ_OPTIONS)})=", str(error))) is None:
            raise
        call = f"crowdpilot.read(source, {named[1]}=...)"
        raise ValueError(f"{error}; give votes from {call}, which takes it") from error


def read_labels(
    source: Any, *, format: str | None = None, columns: Mapping[str, str | None] | None = None
) -> dict[Any, Any]:
    """The label of each task, from a table with one row for each or from a numpy file.

    Examples
    --------
    >>> read_labels({"task": ["a", "b"], "truth": ["cat", None]})
    {'a': 'cat'}
    """
    if isinstance(source, PATHS) and Path(source).suffix == ".npy":
        return read_numpy(Path(source))
    known = {name: FORMATS[name] for name in LABEL_FORMATS}
    said = Source(Path(), columns or {}, required=("task",))
    return labels_from_table(parse_source(source, known, format, said))


def as_labels(source: Any) -> Mapping[Any, Any]:
    """Labels of anything: of a mapping or a Series from tasks to labels, else what `read_labels` finds.

    Examples
    --------
    >>> as_labels({"a": "cat"}), as_labels({"task": ["a"], "truth": ["cat"]})
    ({'a': 'cat'}, {'a': 'cat'})
    """
    if isinstance(source, Mapping) and all(isinstance(value, LABEL_TYPES) for value in source.values()):
        return source
    is_series = hasattr(source, "index") and hasattr(source, "to_frame")
    return read_labels({"task": list(source.index), "label": list(source)} if is_series else source)


def write(votes: Any, path: AnyPath, *, format: str | None = None) -> None:
    """Write votes of any kind in a format, which the suffix of the path decides if it is not named.

    The file is there when it is complete, and not before. Without a suffix it is a folder. A result, or
    whatever else has `columns()`, is written as a table.
    """
    if not isinstance(votes, Votes) and callable(columns := getattr(votes, "columns", None)):
        write_table(columns(), path)
        return
    votes = as_votes(votes)
    name = by_suffix(Path(path), FORMATS) if format is None else by_name(format, FORMATS)
    writer = FORMATS[name].write
    if writer is None:
        known = ", ".join(name for name, kind in FORMATS.items() if kind.write)
        raise ValueError(f"the format {name} can be read but not written; there are {known}")
    with atomic_path(path) as draft:
        writer(votes, draft)


def write_table(table: Any, target: AnyPath | TextIO) -> None:
    """Write a table to a file by its suffix (.csv, .tsv, .parquet, .jsonl), or as CSV to a stream."""
    if not isinstance(target, PATHS):
        for piece in delimited(as_table(table), ","):
            target.write(piece)
        return
    suffix = suffix_of(Path(target)) or ".csv"
    if suffix not in TABLES:
        raise ValueError(f"{target}: the suffix {suffix} is not known, expected {', '.join(TABLES)}")
    with atomic_path(target) as draft:
        TABLES[suffix](table if suffix == ".parquet" else as_table(table), draft)
