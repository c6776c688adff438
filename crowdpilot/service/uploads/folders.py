"""Folders of files: names of items from paths, and known classes from folders called like classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crowdpilot.service.uploads.files import File, parts_of

MAX_FILE_NAME_CHARACTERS = 255  # as in most file systems


class NamedFile(NamedTuple):
    """A file with the name its item gets, its path below the common folder, and its known class if any."""

    name: str
    path: str
    label: str | None
    data: bytes


def name_files(files: Sequence[File], spec: Mapping[str, Any]) -> list[NamedFile]:
    """The same files with names: without folders where that is clear, else with them.

    Examples
    --------
    >>> spec = {"classes": ["crow", "owl"], "criteria": []}
    >>> files = [File("birds/Owl/1.png", b""), File("birds/crow/1.png", b"")]
    >>> [(file.name, file.label) for file in name_files(files, spec)]
    [('Owl/1.png', 'owl'), ('crow/1.png', 'crow')]
    """
    paths = [parts_of(file.name) for file in files]
    common = _common_folders(paths)
    short = Counter(parts[-1] for parts in paths if parts)
    classes = {} if spec["criteria"] else {name.casefold(): name for name in spec["classes"]}
    named = []
    for parts, file in zip(paths, files, strict=True):
        if not parts:
            raise ValueError("a file has no name; give it one")
        _check_name(parts[-1])
        path = "/".join(parts[common:])
        label = classes.get(parts[-2].casefold()) if len(parts) > 1 else None
        named.append(NamedFile(parts[-1] if short[parts[-1]] == 1 else path, path, label, file.data))
    return named


def _common_folders(paths: Sequence[Sequence[str]]) -> int:
    """How many folders all paths begin with."""
    folders = [parts[:-1] for parts in paths]
    return next(
        (n for n, level in enumerate(zip(*folders, strict=False)) if len({*level}) > 1),
        min(map(len, folders), default=0),
    )


def _check_name(name: str) -> None:
    if len(name) > MAX_FILE_NAME_CHARACTERS or not name.isprintable():
        raise ValueError(
            f"the name of the file {name[:60]!r} is longer than {MAX_FILE_NAME_CHARACTERS} characters or has "
            "some that are not shown; rename it"
        )
