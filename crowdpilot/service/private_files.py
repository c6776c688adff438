"""Private files: only their owner can read them, and they are there when they are complete, not before."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


@contextmanager
def private_file(path: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """A file to write and read, which takes this path once it is on the disk.

    Parameters
    ----------
    path
        Its folder exists. Links are followed.
    replace
        Whether a file that is there by then is replaced; else a `FileExistsError` is raised.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{uuid4().hex}")
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            draft.replace(target)
        else:
            _rename_to_new(draft, target)
        _sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def _rename_to_new(draft: Path, target: Path) -> None:
    """Rename a file; a `FileExistsError` where one is already, which a rename would replace."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: an empty file is there for a moment
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        draft.replace(target)


def others_can_read(path: Path) -> bool:
    """Whether anybody but the owner of a file may read or write it."""
    return os.name == "posix" and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk; systems other than POSIX cannot open folders."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
