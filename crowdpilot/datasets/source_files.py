"""Source files of downloaded data sets: their addresses on GitHub, and tables of text in them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from pathlib import Path
from urllib.parse import quote

from crowdpilot.datasets.data import Data
from crowdpilot.datasets.download import Remote
from crowdpilot.datasets.registry import Counts, Dataset

UNSTATED = "not stated"


def on_github(
    repository: str, commit: str, path: str, size: int | None = None, sha256: str | None = None
) -> Remote:
    """A file of a public repository as it was in a commit, so that it does not change."""
    return Remote(f"https://raw.githubusercontent.com/{repository}/{commit}/{quote(path)}", size, sha256)


def parse_manifest(text: str) -> dict[str, tuple[int | None, str | None]]:
    """Size and sha256 of files by their path, from lines of sha256, bytes and path; `-` is not known.

    Examples
    --------
    >>> parse_manifest("- 549 bluebird/truth.csv")
    {'bluebird/truth.csv': (549, None)}
    """
    rows = (line.split(maxsplit=2) for line in text.strip().splitlines())
    return {
        path: (None if size == "-" else int(size), None if sha256 == "-" else sha256)
        for sha256, size, path in rows
    }


def read_text(path: Path) -> str:
    """The text of a file: UTF-8, or else Latin-1, in which every file can be read."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def read_rows(path: Path, min_cells: int) -> list[list[str]]:
    """The rows of a file of comma-separated values, each of which has so many cells or more."""
    rows = [row for row in csv.reader(StringIO(read_text(path), newline="")) if row]
    for n, row in enumerate(rows, 1):
        if len(row) < min_cells:
            raise ValueError(f"{path.name}: row {n} has {len(row)} cells, expected {min_cells}")
    if not rows:
        raise ValueError(f"{path.name}: the file is empty")
    return rows


def number(names: Iterable[str]) -> dict[str, int]:
    """A number for each name, in the order in which they appear."""
    return {name: n for n, name in enumerate(dict.fromkeys(names))}


def to_int(names: Iterable[str]) -> list[int] | list[str]:
    """Names as numbers, if all of them are."""
    texts = list(names)
    return [int(text) for text in texts] if all(map(str.isdecimal, texts)) else texts


def votes_dataset(
    name: str,
    description: str,
    counts: Counts,
    paper: str,
    *,
    repository: str,
    licence: str,
    make: Callable[[Mapping[str, Path]], Data],
    files: Iterable[Remote],
) -> Dataset:
    """The entry of a set without content, which a repository on GitHub has collected from a paper."""
    source = f"{paper}, as collected in https://github.com/{repository}"
    return Dataset(
        name=name, description=description, counts=counts, kind="votes", licence=licence, source=source,
        make=make, files=tuple(files),
    )  # fmt: skip
