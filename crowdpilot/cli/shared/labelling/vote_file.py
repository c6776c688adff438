"""A file of votes to which single votes are appended, each safely on disk before the next is asked for."""

from __future__ import annotations

import csv
import errno
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdpilot.io import FORMATS
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.io.detect import parse_source, suffix_of
from crowdpilot.io.source import Source
from crowdpilot.io.sources.opening import open_source

TEXT_SUFFIXES = {".csv": ",", ".tsv": "\t", ".txt": ",", "": ","}
NEW_HEADER = ("task", "worker", "label")
ROW_FORMATS = ("csv", "tsv")  # with a row for each vote, to which rows can be appended
WIDE_ENCODINGS = ("utf-16", "utf-32")


@dataclass(eq=False)
class VoteFile:
    """Appends votes to a text file in its own layout, and takes back the last of them.

    Other rows are never changed, and others may append at the same time.

    Parameters
    ----------
    path
        Made with the first vote if it is not there.
    header
        All columns, in their order.
    roles
        Which column is the task, the worker and the label.
    delimiter, encoding, line_end
        Of the file.
    """

    path: Path
    header: Sequence[str] = NEW_HEADER
    roles: Mapping[str, str] = field(default_factory=lambda: {name: name for name in NEW_HEADER})
    delimiter: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"
    _own: list[bytes] = field(default_factory=list)
    _size: int = 0  # with all that is known of it

    def __post_init__(self) -> None:
        self.note_size()

    def note_size(self) -> None:
        """All that is in the file now is known."""
        self._size = self._size_now()

    @property
    def has_changed(self) -> bool:
        """Whether somebody else has added rows, or taken some away."""
        return self._size_now() != self._size

    def _size_now(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, task: str, worker: str, label: str) -> None:
        """Write one vote and wait until it is on disk; all of it or nothing."""
        values = {"task": task, "worker": worker, "label": label, "weight": "1"}
        cells = {column: values[role] for role, column in self.roles.items() if role in values}
        row = self._line([cells.get(name, "") for name in self.header])
        with _locked(self.path) as fd:
            end = os.lseek(fd, 0, os.SEEK_END)
            before = self._line(self.header) if end == 0 else self._missing_line_end(fd, end)
            _write_all(fd, before + row, end)
        self._own.append(row)
        self._size += len(before + row)

    def undo(self) -> None:
        """Remove the last vote that was appended here."""
        row = self._own.pop()
        with _locked(self.path) as fd:
            content = self.path.read_bytes()
            start = content.rfind(row)
            if start < 0:
                raise ValueError(f"{self.path} was changed by others, and the last vote is no longer in it")
            if start + len(row) == len(content):
                os.ftruncate(fd, start)
                os.fsync(fd)
            else:  # others have appended rows since
                with atomic_path(self.path) as draft:
                    draft.write_bytes(content[:start] + content[start + len(row) :])
        self._size -= len(row)

    def _line(self, cells: Sequence[str]) -> bytes:
        text = io.StringIO()
        csv.writer(text, delimiter=self.delimiter, lineterminator=self.line_end).writerow(cells)
        try:
            return text.getvalue().encode(self.encoding)
        except UnicodeEncodeError:
            row = text.getvalue().strip()
            raise ValueError(
                f"{self.path} is {self.encoding}, which cannot hold {row!r}; save it as UTF-8"
            ) from None

    def _missing_line_end(self, fd: int, end: int) -> bytes:
        os.lseek(fd, end - 1, os.SEEK_SET)
        return b"" if os.read(fd, 1) == b"\n" else self.line_end.encode(self.encoding)


def open_vote_file(path: Path, said: Mapping[str, Any]) -> VoteFile:
    """The file in its own layout; ValueError if single votes cannot be appended to it.

    `said` are arguments of `crowdpilot.read`.
    """
    suffix = suffix_of(path)
    if suffix not in TEXT_SUFFIXES or path.is_dir() or path.suffix.lower() != suffix:
        raise _not_appendable(path, f"{path.suffix or 'a folder'}")
    if not path.exists() or not path.stat().st_size:
        return VoteFile(path, delimiter=TEXT_SUFFIXES[suffix])
    about = Source(
        Path(), said["columns"], said["question"], header_names=said["header"], encoding=said["encoding"]
    )
    table = parse_source(path, FORMATS, said["format"], about)
    source = open_source(path, about)
    if source is None or source.content is not None or table.format not in ROW_FORMATS:
        raise _not_appendable(path, table.format)
    table.require(*NEW_HEADER)
    if source.text_encoding.startswith(WIDE_ENCODINGS):
        raise ValueError(f"{path} is {source.text_encoding}, to which votes are not added; save it as UTF-8")
    line_end = "\r\n" if b"\r\n" in source.head else "\n"
    return VoteFile(path, source.header, table.roles, source.delimiter, source.text_encoding, line_end)


def _not_appendable(path: Path, found: str) -> ValueError:
    return ValueError(
        f"{path} ({found}) is no file to which single votes can be added; use CSV with a row for each vote: "
        f"crowdpilot convert {path} single-votes.csv"
    )


def _write_all(fd: int, data: bytes, end: int) -> None:
    try:
        if os.write(fd, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(fd)
    except OSError:
        os.ftruncate(fd, end)
        raise


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, opened to append, which no other process that also locks it changes meanwhile."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        try:
            _lock(fd)
            if os.path.samestat(os.fstat(fd), os.stat(path)):  # not replaced meanwhile
                yield fd
                return
        finally:
            os.close(fd)


def _lock(fd: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    fcntl.flock(fd, fcntl.LOCK_EX)
