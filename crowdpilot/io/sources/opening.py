"""What is to be read as a `Source`: paths, standard input, streams, bytes, archives and workbooks."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile

from crowdpilot.arrays import need_arrow
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.source import COMPRESSED, Source
from crowdpilot.io.sources.excel import sheet_as_csv

PATHS = (str, os.PathLike)
STANDARD_INPUT = "-"
MAGIC_BYTES = 8
MAX_SHOWN_CHARACTERS = 30
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # a path has one slash, of https:// too
ZIP = b"PK\x03\x04"
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WORKBOOK = "xl/workbook.xml"
OPEN_DOCUMENT = "META-INF/manifest.xml"
DECOMPRESS: Mapping[bytes, Callable[[bytes], bytes]] = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress}
NEED_ARROW = {b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}


def open_source(origin: Any, said: Source) -> Source | None:
    """The file, folder or stream that is meant, unpacked; None for a table in memory.

    Parameters
    ----------
    origin
        A path, `-` for standard input, a stream of bytes or text, or bytes.
    said
        What the user says of it; its path does not count.
    """
    if isinstance(origin, PATHS):
        path = os.fsdecode(origin)
        if path == STANDARD_INPUT:
            return unpack(_of_stream(sys.stdin, replace(said, path=Path("standard input"), notes=[])))
        _check_path(path)
        return unpack(replace(said, path=Path(path), notes=[]))
    if isinstance(origin, (bytes, bytearray, memoryview)):
        return unpack(replace(said, path=Path("the bytes"), content=bytes(origin), notes=[]))
    if callable(getattr(origin, "read", None)):
        name = getattr(origin, "name", None)
        path = name if isinstance(name, str) and name else "the stream"
        return unpack(_of_stream(origin, replace(said, path=Path(path), notes=[])))
    return None


def _check_path(path: str) -> None:
    if "\n" in path or "\0" in path:
        shown = repr(path[:MAX_SHOWN_CHARACTERS])
        raise ValueError(
            f"found the text {shown}, expected a path; to read text itself, use io.StringIO(text)"
        )
    if ADDRESS.match(path) and not Path(path).exists():
        raise ValueError(f"{path}: addresses are not read; download the file and name it")


def _of_stream(stream: Any, source: Source) -> Source:
    """All that is left in a stream."""
    try:
        content = (stream.buffer if stream is sys.stdin and hasattr(stream, "buffer") else stream).read()
    except UnicodeDecodeError:
        raise source.error("found bytes that are not in its encoding; open it as bytes, with 'rb'") from None
    except (OSError, ValueError, AttributeError) as error:
        raise source.error(f"cannot be read ({str(error).partition(chr(10))[0]})") from error
    if isinstance(content, str):
        return replace(source, content=content.encode("utf-8", "surrogatepass"), encoding="utf-8")
    return replace(source, content=bytes(content or b""))


def unpack(source: Source) -> Source:
    """The file in an archive or a compressed stream, or the sheet in a workbook as CSV; else the source.

    An archive with several files becomes a source whose `members` are those.
    """
    try:
        if source.content is None and (source.path.is_fifo() or source.path.is_char_device()):
            source = replace(source, content=source.path.read_bytes())  # a pipe can be read only once
        start = _start(source)
    except OSError as error:
        raise source.error(f"cannot be read ({error.strerror})") from error
    if start == OLD_OFFICE:
        raise source.error("it is a workbook in an old or encrypted format; save it as .xlsx or CSV")
    if start.startswith(ZIP):
        return _unzip(source)
    is_named = source.content is None and source.path.suffix.lower() in COMPRESSED
    if not is_named and start[:3] != b"" and (whole := _decompress(source, start)) is not None:
        return unpack(replace(source, content=whole))
    if source.sheet is not None:
        raise source.error("it is no Excel workbook, so it has no sheets to choose from")
    return source


def _start(source: Source) -> bytes:
    """The first bytes as they are, without decompression; none of a folder or pipe."""
    if source.content is not None:
        return source.content[:MAGIC_BYTES]
    if not source.path.is_file():
        return b""
    with source.path.open("rb") as stream:
        return stream.read(MAGIC_BYTES)


def _whole(source: Source) -> bytes:
    return source.path.read_bytes() if source.content is None else source.content


def _decompress(source: Source, start: bytes) -> bytes | None:
    """The bytes of a compressed stream; None if it is not compressed."""
    try:
        for magic, decompress in DECOMPRESS.items():
            if start.startswith(magic):
                return decompress(_whole(source))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise source.error("it is compressed and broken or cut off, expected a whole file") from error
    if (kind := NEED_ARROW.get(start[:4])) is None:
        return None
    pa = need_arrow(f"{source.path}: a stream compressed as {kind}")
    try:
        return bytes(pa.input_stream(io.BytesIO(_whole(source)), compression=kind).read())
    except (OSError, pa.ArrowException) as error:
        raise source.error("it is compressed and broken or cut off, expected a whole file") from error


def _unzip(source: Source) -> Source:
    stream = io.BytesIO(_whole(source))
    try:
        with ZipFile(stream) as archive:
            names = [name for name in archive.namelist() if _is_data(name)]
            if WORKBOOK in names:
                return _sheet(source, stream)
            if OPEN_DOCUMENT in names:
                raise source.error("it is an OpenDocument file; save it as .xlsx or CSV")
            members = [replace(source, path=source.path / name, content=archive.read(name)) for name in names]
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error) as error:
        raise source.error("the archive is broken or encrypted, expected a whole zip file") from error
    if not members:
        raise source.error("the archive is empty, expected a file with votes")
    return unpack(members[0]) if len(members) == 1 else replace(source, members=members)


def _is_data(name: str) -> bool:
    """Whether it is a file, and none that a system adds."""
    parts = PurePosixPath(name).parts
    return not name.endswith("/") and "__MACOSX" not in parts and not parts[-1].startswith(".")


def _sheet(source: Source, stream: Any) -> Source:
    try:
        content, notes = sheet_as_csv(stream, source.sheet)
    except ValueError as error:
        raise source.error(str(error)) from error
    source.notes.extend(notes)
    return replace(source, content=content, known_delimiter=",", encoding="utf-8", sheet=None)


def members_error(source: Source) -> ValueError:
    """An archive of several files, none of which is meant more than the others."""
    names = listed([str(member.path.relative_to(source.path)) for member in source.members])
    return source.error(f"there are {len(source.members)} files in it ({names}); unpack it and name one")
