"""Atomic writes: a file or folder is there when it is complete, and not before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from crowdpilot.io.columns import TableError


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, file or folder, which takes the place of `target` if all goes well.

    Folders above it are made where they are missing. If anything fails, nothing is left of it and what
    was there before is untouched. What is no plain file (a pipe, a terminal) is written to directly.
    """
    path = Path(os.path.realpath(target))
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path
        return
    folder = path.parent / f".{uuid4().hex}"
    missing = [parent for parent in path.parents if not parent.exists()]
    try:
        folder.mkdir(parents=True)
        yield folder / path.name
        _replace(folder / path.name, path)
    except (OSError, TableError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise ValueError(f"{target}: cannot be written ({reason}); choose another place") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # those that hold what was written stay
            for parent in missing:
                parent.rmdir()


def _replace(draft: Path, path: Path) -> None:
    if draft.is_dir() and path.is_dir():  # a folder keeps its other files
        for file in draft.iterdir():
            file.replace(path / file.name)
        return
    if path.is_file():
        shutil.copymode(path, draft)
    draft.replace(path)
