"""Types and sizes of images, read from headers without decoding them: a small file may be a huge image."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_IMAGE_PIXELS = 50_000_000  # width times height
MAX_FRAMES = 1_000  # of an animation
MAX_SCANS = 100  # in which a progressive JPEG is refined; each goes over all pixels
MAX_BLOCKS = 400_000  # that are looked at; a GIF of 64 MiB has 260,000
MAX_CHUNKS = 10_000  # of a PNG or WebP, and segments of a JPEG, that are looked at

SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}  # fmt: skip
JPEG_START_OF_FRAME = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
JPEG_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD9)}
JPEG_START_OF_SCAN, JPEG_END = 0xDA, 0xD9
GIF_FRAME, GIF_EXTENSION, GIF_END = 0x2C, 0x21, 0x3B


class ImageSize(NamedTuple):
    """The size of an image."""

    width: int  # pixels
    height: int  # pixels
    frames: int = 1


def image_type(data: bytes) -> str | None:
    """The type of an image by its first bytes: PNG, JPEG, GIF or WebP; None for anything else.

    Examples
    --------
    >>> image_type(b"GIF89a..."), image_type(b"<svg onload='alert(1)'/>")
    ('image/gif', None)
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((type for start, type in SIGNATURES.items() if data.startswith(start)), None)


def check_image(type: str, data: bytes) -> ImageSize:
    """The size of an image of a media type; a `ValueError` if it is too large, or cannot be read.

    Examples
    --------
    >>> frame = bytes.fromhex("2c 00000000 0200 0300 00 02 00")
    >>> check_image("image/gif", b"GIF89a" + bytes.fromhex("0200 0300 000000") + frame)
    ImageSize(width=2, height=3, frames=1)
    """
    try:
        size = READERS[type](data)
    except (KeyError, IndexError, struct.error):
        size = ImageSize(0, 0)
    if min(size) < 1:
        raise ValueError("the image is broken: its size cannot be read; save it anew")
    if size.width * size.height > MAX_IMAGE_PIXELS:
        raise ValueError(
            f"the image has {size.width} x {size.height} pixels; {MAX_IMAGE_PIXELS:,} in all are the most, "
            "make it smaller"
        )
    if size.frames > MAX_FRAMES:
        raise ValueError(f"the image has more than {MAX_FRAMES:,} frames; send fewer of them")
    if type == "image/jpeg" and data.count(bytes((0xFF, JPEG_START_OF_SCAN))) > MAX_SCANS:
        raise ValueError(f"the image has more than {MAX_SCANS} scans; save it as a baseline JPEG")
    return size


def _png_size(data: bytes) -> ImageSize:
    """The largest of all headers before the pixels: readers differ in which one counts."""
    width = height = 0
    frames = 1
    at = 8  # after the signature
    for _ in range(MAX_CHUNKS):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            w, h = struct.unpack_from(">II", data, at + 8)
            if not w or not h:
                return ImageSize(0, 0)
            width, height = max(width, w), max(height, h)
        elif kind == b"acTL":
            frames = max(1, struct.unpack_from(">I", data, at + 8)[0])
        elif kind == b"IDAT":
            return ImageSize(width, height, frames)
        at += length + 12  # with the length itself, the kind and the checksum
    return ImageSize(0, 0)


def _jpeg_size(data: bytes) -> ImageSize:
    at = 2  # after the start of the image
    for _ in range(MAX_CHUNKS):
        mark, kind = data[at], data[at + 1]
        if mark != 0xFF or kind in (JPEG_START_OF_SCAN, JPEG_END):
            break
        if kind in JPEG_START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return ImageSize(width, height)
        if kind == 0xFF:  # fills a gap
            at += 1
        elif kind in JPEG_WITHOUT_LENGTH:
            at += 2
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return ImageSize(0, 0)


def _gif_size(data: bytes) -> ImageSize:
    """The screen and all frames, which may be larger than the screen; the end may be missing."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at, frames = 13 + _color_table_bytes(flags), 0
    left_blocks = iter(range(MAX_BLOCKS))
    for _ in left_blocks:
        if at >= len(data) or data[at] == GIF_END or frames > MAX_FRAMES:
            return ImageSize(width, height, frames)
        if data[at] == GIF_FRAME:
            left, top, w, h, flags = struct.unpack_from("<HHHHB", data, at + 1)
            if not w or not h:
                break
            width, height, frames = max(width, left + w), max(height, top + h), frames + 1
            at = _after_blocks(data, at + 11 + _color_table_bytes(flags), left_blocks)
        elif data[at] == GIF_EXTENSION:
            at = _after_blocks(data, at + 2, left_blocks)
        elif data[at] == 0:  # some programs write too many
            at += 1
        else:
            break
    return ImageSize(0, 0)


def _color_table_bytes(flags: int) -> int:
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_blocks(data: bytes, at: int, left_blocks: Iterator[int]) -> int:
    """Where a series of blocks of a GIF ends; each begins with its length, and the last is empty."""
    for _ in left_blocks:
        if at >= len(data) or not data[at]:
            return at + 1
        at += 1 + data[at]
    return at


def _webp_size(data: bytes) -> ImageSize:
    """The canvas and all frames."""
    sizes = []
    frames = 0
    for kind, at in _webp_chunks(data):
        if kind == b"VP8X":
            sizes.append((1 + _three_bytes(data, at + 4), 1 + _three_bytes(data, at + 7)))
        elif kind == b"ANMF":
            frames += 1
            sizes.append((1 + _three_bytes(data, at + 6), 1 + _three_bytes(data, at + 9)))
        elif kind == b"VP8 ":
            w, h = struct.unpack_from("<HH", data, at + 6)
            sizes.append((w & 0x3FFF, h & 0x3FFF))
        elif kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", data, at + 1)
            sizes.append((1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)))
        if frames > MAX_FRAMES:
            break
    width, height = max((w for w, _ in sizes), default=0), max((h for _, h in sizes), default=0)
    return ImageSize(width, height, max(frames, 1))


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, int]]:
    """The kinds of chunks, and where their contents begin."""
    at = 12
    for _ in range(MAX_CHUNKS):
        if at + 8 > len(data):
            return
        kind, length = struct.unpack_from("<4sI", data, at)
        yield kind, at + 8
        at += 8 + length + length % 2
    raise IndexError


def _three_bytes(data: bytes, at: int) -> int:
    return data[at] | data[at + 1] << 8 | data[at + 2] << 16


READERS: dict[str, Callable[[bytes], ImageSize]] = {
    "image/png": _png_size,
    "image/jpeg": _jpeg_size,
    "image/gif": _gif_size,
    "image/webp": _webp_size,
}
