"""Names of files and folders that every system takes, made from names of items and classes."""

from __future__ import annotations

import re
from itertools import count
from pathlib import PurePosixPath

MAX_CHARACTERS = 120
UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # of Windows
SUFFIXES = {  # by media type
    "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
    "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "audio/aac": ".aac", "audio/wav": ".wav", "audio/ogg": ".ogg",
    "audio/flac": ".flac", "audio/webm": ".weba", "video/mp4": ".mp4", "video/webm": ".webm",
    "video/ogg": ".ogv", "text/plain": ".txt",
}  # fmt: skip


def safe_name(name: str) -> str:
    """A name without folders, signs that some system refuses, or dots at its ends.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("a:b?"), safe_name("..."), safe_name("con")
    ('_.._etc_passwd', 'a_b_', '_', '_con')
    """
    shown = "".join(character if character.isprintable() else "_" for character in name)
    plain = UNSAFE.sub("_", shown).strip(". ")[:MAX_CHARACTERS].strip(". ")
    return f"_{plain}" if not plain or RESERVED.fullmatch(plain) else plain


class Names:
    """Names in folders, each of which occurs once, also where capital letters do not count."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next_number: dict[str, int] = {}  # by the path without a number, so that none is tried twice

    def take(self, folder: str, name: str, suffix: str = "") -> str:
        """The path of a new file: a name that is taken gets a number."""
        plain = safe_name(name)
        stem = plain[: -len(suffix)] if suffix and plain.casefold().endswith(suffix) else plain
        stem = stem if suffix else PurePosixPath(plain).name
        begin = f"{folder}{stem or '_'}"
        key = f"{begin}{suffix}".casefold()
        for n in count(self._next_number.get(key, 1)):
            path = f"{begin}{f' ({n})' if n > 1 else ''}{suffix}"
            if path.casefold() not in self._used:
                break
        self._used.add(path.casefold())
        self._next_number[key] = n + 1
        return path
