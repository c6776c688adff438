"""Detecting the format of a file by its content, its suffix or a name, and parsing it."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.io.columns import TableError
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.formats.wide import looks_wide, to_long
from crowdpilot.io.source import COMPRESSED, Source
from crowdpilot.io.sources.comments import without_comments
from crowdpilot.io.sources.opening import PATHS as PATHS
from crowdpilot.io.sources.opening import members_error, open_source
from crowdpilot.io.tables.in_memory import check_unnamed_columns, table_in_memory
from crowdpilot.io.votes_tables import from_frame
from crowdpilot.option_strings import did_you_mean

AnyPath = str | os.PathLike[str]
Formats = Mapping[str, Format]
Columns = Mapping[str, str | None]

BROKEN_FILE_ERRORS: tuple[type[Exception], ...] = (
    TableError,
    OSError,
    EOFError,
    zlib.error,
    RecursionError,
    AttributeError,
    TypeError,
    LookupError,
)


def parse_source(source: Any, formats: Formats, format: str | None, said: Source) -> VotesTable:
    """The table of votes in a file or in memory, in whatever format.

    Parameters
    ----------
    source
        A path, or a table in memory.
    formats
        Those that are tried.
    format
        The one of them that the user has named.
    said
        What the user says of the source: columns, question, encoding and the like; its path does not count.
    """
    file = open_source(source, replace(said, is_format_named=format is not None))
    if file is None:
        return _from_memory(source, formats, format, said)
    name = None if format is None else by_name(format, formats)
    try:
        _check_content(file)
        file = without_comments(file)
        detected = name or by_content(file, formats)
        if file.members and not formats[detected].sniff(file):
            raise members_error(file)
        table = _parse(file, formats, detected)
    except UnicodeDecodeError as error:
        raise file.not_utf8() from error
    except BROKEN_FILE_ERRORS as error:
        reason = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        raise file.error(f"cannot be read{f' as {name}' if name else ''} ({reason})") from error
    return replace(table, format=table.format or detected, notes=[*file.notes, *table.notes])


def _check_content(source: Source) -> None:
    if source.content is None and not source.path.exists():
        folder = source.path.parent
        names = os.listdir(folder) if folder.is_dir() else []
        hint = did_you_mean(source.path.name, names, otherwise="check its name")
        raise source.error(f"there is no such file or folder{hint}")
    if not source.path.is_dir() and not source.opening:
        raise source.error("the file is empty, expected votes below a line such as task,worker,label")


def _parse(source: Source, formats: Formats, name: str) -> VotesTable:
    format = formats[name]
    if source.question is not None and not format.has_questions:
        raise source.error(f"the format {name} has no questions to choose from")
    if source.columns and not format.has_columns:
        raise source.error(f"the format {name} has no columns to name")
    return format.parse(source)


def by_name(name: str, formats: Formats) -> str:
    """The format of this name, in small or capital letters."""
    key = name.lower().replace("-", "_")
    if key not in formats:
        raise ValueError(f"there is no format {name!r}{did_you_mean(key, formats)}")
    return key


def by_content(source: Source, formats: Formats) -> str:
    """The first format that recognises a file."""
    for name, format in formats.items():
        if format.sniff(source):
            return name
    if source.members:
        raise members_error(source)
    folder = source.path.is_dir()
    kind = "a folder without answers.json" if folder else "of no known format"
    then = "name a file in it" if folder else "if it is one of these, say so with format= (--format)"
    raise source.error(f"it is {kind}, expected one of {', '.join(formats)}; {then}")


def by_suffix(path: Path, formats: Formats) -> str:
    """The format in which a file of this name is written."""
    if path.exists() and not path.is_file():
        return "peerannot" if path.is_dir() else "csv"
    suffix = suffix_of(path)
    for name, format in formats.items():
        if suffix in format.suffixes:
            return name
    known = ", ".join(suffix for format in formats.values() for suffix in format.suffixes if suffix)
    raise ValueError(f"{path}: the suffix {suffix} is not known, expected {known} or a named format")


def suffix_of(path: Path) -> str:
    """The last suffix, without that of a compressed file."""
    return next((suffix for suffix in reversed(path.suffixes) if suffix not in COMPRESSED), "").lower()


def read_numpy(path: Path) -> dict[int, Any]:
    """Labels of a numpy file by the number of their task."""
    try:
        labels = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path}: cannot be read as a numpy file ({error})") from error
    if labels.ndim != 1:
        raise ValueError(f"{path}: found an array of shape {labels.shape}, expected one label for each task")
    return dict(enumerate(labels.tolist()))


def _from_memory(source: Any, formats: Formats, format: str | None, said: Source) -> VotesTable:
    columns, question = said.columns, said.question
    found = table_in_memory(source, columns, format)
    if question is not None:
        raise ValueError("a table in memory has no questions to choose from; leave out question=")
    if isinstance(found, VotesTable):
        return found
    if format not in (None, "wide"):
        raise ValueError(f"a table in memory has no format {format!r}, only wide or none")
    if format or ("wide" in formats and looks_wide(found, columns)):
        if not format and not columns:
            check_unnamed_columns(found, is_dict=isinstance(source, Mapping))
        frame = VotesTable(found, {}, columns.keys(), format="wide")
        return to_long(frame, columns, is_forced=format is not None)
    return from_frame(found, columns, said.required)
