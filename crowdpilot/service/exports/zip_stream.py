"""A zip archive that is written piece by piece, with one entry in memory at a time."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator

COMPRESSED = (".csv", ".md", ".txt", ".json")  # media are compressed already
EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of every entry, so that the same data makes the same archive


class _Pipe(io.RawIOBase):
    """What was written since the last look."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]  # a buffer of any type
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """All of it, once."""
        data, self._pieces = b"".join(self._pieces), []
        return data


def zip_stream(entries: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """The pieces of a zip archive of these entries: path and data."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:
        for path, data in entries:
            about = zipfile.ZipInfo(path, EPOCH)
            about.external_attr = 0o644 << 16
            about.compress_type = zipfile.ZIP_DEFLATED if path.endswith(COMPRESSED) else zipfile.ZIP_STORED
            archive.writestr(about, data)
            yield pipe.take()
    yield pipe.take()
