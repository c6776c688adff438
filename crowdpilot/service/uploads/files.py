"""Files that requesters send: zip archives are unpacked within limits, and folders keep their paths."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

ZIP_SIGNATURES = b"PK\x03\x04", b"PK\x05\x06"  # with entries, and empty
ENTRY_SIGNATURE = b"PK\x01\x02"  # of each entry in the directory of an archive
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those whose entries can be read piece by piece
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
MAX_UNPACKED_FILES = 5_000
MAX_ENTRIES_PER_FILE = 4  # folders and hidden files included
MAX_UNPACKED_BYTES = 256 << 20  # of all archives of a request together
MAX_RATIO = 200  # of the size of an entry to its compressed size
RATIO_FREE_BYTES = 1 << 20  # below which the ratio of an entry does not matter
CHUNK_BYTES = 1 << 20
IGNORED_NAMES = ["thumbs.db"], ["desktop.ini"]
IGNORED_FOLDERS = ("__macosx",)
T = TypeVar("T")


class File(NamedTuple):
    """A file that was sent; its name may have folders."""

    name: str
    data: bytes


def unpack(files: Sequence[File]) -> list[File]:
    """The same files, with what is in zip archives in place of these, without hidden files.

    A `ValueError` says which archive is broken, encrypted, too large, compressed by another method than
    Deflate, or has names that lead out of it.
    """
    found: list[File] = []
    budget = _Budget()
    for file in files:
        if file.data.startswith(ZIP_SIGNATURES):
            found.extend(_entries(file, budget))
        elif not is_ignored(parts_of(file.name)):
            found.append(file)
    return found


def parts_of(path: str) -> list[str]:
    r"""The folders and the name of a path; a `ValueError` if it leads out of its folder.

    Examples
    --------
    >>> parts_of("./birds\\owl/1.png")
    ['birds', 'owl', '1.png']
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError(f"the path {path[:60]!r} leads out of its folder; leave '..' out")
    return parts


def is_ignored(parts: Sequence[str]) -> bool:
    """Whether a file is hidden, or written by a system for itself."""
    names = [part.casefold() for part in parts]
    is_hidden = any(name.startswith(".") for name in names)
    return is_hidden or any(name in IGNORED_FOLDERS for name in names[:-1]) or names[-1:] in IGNORED_NAMES


class _Budget:
    """How much may still be unpacked."""

    def __init__(self) -> None:
        self.files, self.bytes = MAX_UNPACKED_FILES, MAX_UNPACKED_BYTES

    def take(self, archive: str, *, files: int = 0, bytes: int = 0) -> None:
        """Count what is unpacked; a `ValueError` if it is too much."""
        self.files -= files
        self.bytes -= bytes
        if self.files < 0:
            raise _too_many(archive)
        if self.bytes < 0:
            raise ValueError(
                f"{archive!r} is larger than {MAX_UNPACKED_BYTES >> 20} MiB when it is unpacked; "
                "send it in parts"
            )


def _too_many(archive: str) -> ValueError:
    return ValueError(f"{archive!r} has more than {MAX_UNPACKED_FILES:,} files; send them in parts")


def _entries(archive: File, budget: _Budget) -> Iterator[File]:
    name = parts_of(archive.name)[-1:] or ["the archive"]
    # The number that an archive gives for its entries is not what `ZipFile` goes by.
    if archive.data.count(ENTRY_SIGNATURE) > MAX_ENTRIES_PER_FILE * MAX_UNPACKED_FILES:
        raise _too_many(name[0])
    with _or_broken(name[0], lambda: zipfile.ZipFile(io.BytesIO(archive.data))) as opened:
        entries = [entry for entry in opened.infolist() if not entry.filename.endswith("/")]  # no folders
        budget.take(name[0], files=len(entries))
        for entry in entries:
            parts = parts_of(entry.filename)
            if is_ignored(parts) or stat.S_ISLNK(entry.external_attr >> 16):
                continue
            yield File("/".join(parts), _read_entry(opened, entry, name[0], budget))


def _or_broken(archive: str, what: Callable[[], T]) -> T:
    """The result; whatever `zipfile` says of an archive that it cannot read is one sentence."""
    try:
        return what()
    except UNREADABLE as error:
        raise ValueError(
            f"{archive!r} is broken, or no zip archive that can be read; make it anew"
        ) from error


def _read_entry(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, archive: str, budget: _Budget) -> bytes:
    """The data of an entry, which may be larger than it says."""
    if entry.flag_bits & 0x1:
        raise ValueError(f"{archive!r} is encrypted; send it without a password")
    if entry.compress_type not in METHODS:
        raise ValueError(
            f"{entry.filename[:60]!r} in {archive!r} is compressed by a method other than Deflate; make the "
            "archive anew with the usual settings"
        )
    most = max(RATIO_FREE_BYTES, MAX_RATIO * entry.compress_size)
    data = bytearray()
    with _or_broken(archive, lambda: opened.open(entry)) as source:
        while piece := _or_broken(archive, lambda: source.read(CHUNK_BYTES)):
            budget.take(archive, bytes=len(piece))
            data += piece
            if len(data) > most:
                raise ValueError(
                    f"{entry.filename[:60]!r} in {archive!r} grows more than {MAX_RATIO} times when it is "
                    "unpacked; send it as it is"
                )
    return bytes(data)
