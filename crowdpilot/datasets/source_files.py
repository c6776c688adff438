"""What the modules of downloaded data sets share: addresses, and tables of text."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from urllib.parse import quote

from crowdpilot.datasets.download import Remote

UNSTATED = "not stated"


def on_github(
    repository: str,
    commit: str,
    path: str,
    size: int | None = None,
    sha256: str | None = None,
    *,
    saved_as: str | None = None,
) -> Remote:
    """A file of a public repository as it was in a commit, so that it does not change."""
    url = f"https://raw.githubusercontent.com/{repository}/{commit}/{quote(path)}"
    return Remote(url, size, sha256, saved_as)


def read_text(path: Path) -> str:
    """The text of a file: UTF-8, or else Latin-1, in which every file can be read."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def read_rows(path: Path, least: int) -> list[list[str]]:
    """The rows of a file of comma-separated values, each of which has so many cells or more."""
    rows = [row for row in csv.reader(StringIO(read_text(path), newline="")) if row]
    for n, row in enumerate(rows, 1):
        if len(row) < least:
            raise ValueError(f"{path.name}: row {n} has {len(row)} cells, expected {least}")
    if not rows:
        raise ValueError(f"{path.name}: the file is empty")
    return rows


def number(names: Iterable[str]) -> dict[str, int]:
    """A number for each name, in the order in which they appear."""
    return {name: n for n, name in enumerate(dict.fromkeys(names))}


def to_int(names: Iterable[str]) -> list[int] | list[str]:
    """Names as numbers, if all of them are."""
    found = list(names)
    return [int(name) for name in found] if all(map(str.isdecimal, found)) else found
