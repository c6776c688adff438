"""From a path or an object to the format that can read it."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.io.errors import failures
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.formats.wide import looks_wide, melt
from crowdpilot.io.source import PACKED, Source, hint
from crowdpilot.io.tables import as_table, from_frame

AnyPath = str | os.PathLike[str]
PATHS = (str, os.PathLike)
Formats = Mapping[str, Format]
Columns = Mapping[str, str | None]

MALFORMED: tuple[type[Exception], ...] = (
    OSError,
    EOFError,
    zlib.error,
    RecursionError,
    AttributeError,
    TypeError,
    LookupError,
)


def find(
    source: Any, formats: Formats, format: str | None, columns: Columns, question: str | None = None
) -> Raw:
    """What the source holds, in whatever format."""
    if not isinstance(source, PATHS):
        return _from_memory(source, formats, format, columns, question)
    place = Source(Path(source), columns, question)
    name = None if format is None else by_name(format, formats)
    try:
        _check_content(place)
        return _parse(place, formats, name or by_content(place, formats))
    except UnicodeDecodeError as error:
        raise place.not_utf8() from error
    except failures(*MALFORMED) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        raise place.error(f"cannot be read{f' as {name}' if name else ''} ({reason})") from error


def _check_content(source: Source) -> None:
    if not source.path.exists():
        raise source.error(f"there is no such file or folder; {_near(source.path)}")
    if not source.path.is_dir() and not source.opening:
        raise source.error("the file is empty, expected votes below a line such as task,worker,label")


def _near(path: Path) -> str:
    """What else may have been meant by the name of a file that is not there."""
    names = os.listdir(path.parent) if path.parent.is_dir() else []
    found = get_close_matches(path.name, names, n=1)
    return f"did you mean {path.parent / found[0]}?" if found else "check its name"


def _parse(source: Source, formats: Formats, name: str) -> Raw:
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
        raise ValueError(f"there is no format {name!r}{hint(key, list(formats))}")
    return key


def by_content(source: Source, formats: Formats) -> str:
    """The first format that recognises a file."""
    for name, format in formats.items():
        if format.sniff(source):
            return name
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
    """The last suffix, without that of a packed file."""
    return next((suffix for suffix in reversed(path.suffixes) if suffix not in PACKED), "").lower()


def read_numpy(path: Path) -> dict[int, Any]:
    """Labels by the place of their task."""
    try:
        labels = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path}: cannot be read as a numpy file ({error})") from error
    if labels.ndim != 1:
        raise ValueError(f"{path}: found an array of shape {labels.shape}, expected one label for each task")
    return dict(enumerate(labels.tolist()))


def _from_memory(
    source: Any, formats: Formats, format: str | None, columns: Columns, question: str | None
) -> Raw:
    raw = from_frame(as_table(source), columns)
    if question is not None:
        raise raw.error("a table in memory has no questions to choose from")
    if format not in (None, "wide"):
        raise raw.error(f"a table in memory has no format {format!r}, only wide or none")
    return melt(raw, columns) if format or ("wide" in formats and looks_wide(raw.table, columns)) else raw
