"""Encodings of text: named by the user or detected by the bytes, and turned into UTF-8."""

from __future__ import annotations

import codecs
import encodings.aliases
import re
from collections.abc import Callable
from typing import Any

from crowdpilot.option_strings import did_you_mean

UTF8 = "utf-8"
WESTERN = "cp1252"  # latin-1 with printed characters where that has control characters
BLOCK_BYTES = 1 << 22  # looked at once
WIDE_SAMPLE_BYTES = 1 << 12  # looked at to recognise UTF-16 without a byte order mark
BYTE_ORDER_MARKS = {  # UTF-32 first: its mark begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
CONTROL_BYTES = re.compile(rb"[\0-\x08\x0b\x0e-\x1f]")
CONTROL_CHARACTERS = re.compile(r"[\0-\x08\x0b\x0e-\x1f]")
HIGH_BYTES = re.compile(rb"[\x80-\xff]+")
FOREIGN_WORDS = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff]{2,}(?![A-Za-z])|[\x80-\xff]{3,}")
UTF8_SEQUENCES = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)  # of a character that is not ASCII
WESTERN_NOTE = (
    "the text is not UTF-8 and was read as cp1252 (Western European); if names look wrong, name its encoding "
    "with encoding= (--encoding NAME)"
)


def find_encoding(name: str) -> str:
    """The encoding that a name means; an error if it means none.

    Examples
    --------
    >>> find_encoding("Latin-1"), find_encoding("UTF16")
    ('iso8859-1', 'utf-16')
    """
    if (found := _lookup(name)) is None:
        aliases = encodings.aliases.aliases
        known = filter(_lookup, (*aliases.values(), *aliases))
        hint = did_you_mean(name, known, otherwise="expected one such as utf-8, utf-16, cp1252 or shift_jis")
        raise ValueError(f"there is no encoding {name!r}{hint}")
    return found


def _lookup(name: str) -> str | None:
    """The name of an encoding of text that Python knows."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)  # codecs that are not about text are refused here
    except (LookupError, ValueError):
        return None
    return UTF8 if found == "utf-8-sig" else found


def detect_encoding(open: Callable[[], Any]) -> str:
    """The encoding of the bytes of a stream; UTF-8 also if they are no text.

    UTF-16 and UTF-32 by their mark, UTF-16 also by the zeros of Latin letters; what is not UTF-8 is
    Western European if it is plausible as such.
    """
    decoder = codecs.getincrementaldecoder(UTF8)()
    with open() as stream:
        block = bytes(stream.read(BLOCK_BYTES))
        if wide := _wide_encoding(block):
            return wide
        if CONTROL_BYTES.search(block):
            return UTF8
        try:
            while block:
                if not (block.isascii() and decoder.getstate()[0] == b""):
                    decoder.decode(block)
                block = bytes(stream.read(BLOCK_BYTES))
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            pass
        else:
            return UTF8
    with open() as stream:
        return WESTERN if is_western(bytes(stream.read())) else UTF8


def is_western(content: bytes) -> bool:
    """Whether bytes are plausible as cp1252: neither broken UTF-8 nor words of another alphabet."""
    try:
        content.decode(WESTERN)
    except UnicodeDecodeError:
        return False
    all_high, in_sequences, in_words = (
        sum(map(len, pattern.findall(content))) for pattern in (HIGH_BYTES, UTF8_SEQUENCES, FOREIGN_WORDS)
    )
    return not CONTROL_BYTES.search(content) and 2 * max(in_sequences, in_words) <= all_high


def _wide_encoding(block: bytes) -> str | None:
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if block.startswith(mark):
            return encoding
    sample = block[: min(len(block), WIDE_SAMPLE_BYTES) // 2 * 2]
    zeros = [sample[offset::2].count(0) * 4 > len(sample) for offset in (0, 1)]  # most of one half
    if zeros[0] == zeros[1]:
        return None
    encoding = "utf-16-be" if zeros[0] else "utf-16-le"
    return None if CONTROL_CHARACTERS.search(sample.decode(encoding, "replace")) else encoding
