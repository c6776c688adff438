"""Types of images, sounds and videos by their first bytes, whatever their names say.

What is taken is served with exactly this type, and browsers are told not to guess another.
"""

from __future__ import annotations

from crowdpilot.service.uploads.image_sizes import check_image, image_type

KINDS = "image", "audio", "video"  # of files, and of the content of items beside text
SUFFIXES = {
    "audio": (".mp3", ".m4a", ".aac", ".wav", ".ogg", ".oga", ".opus", ".flac", ".weba"),
    "video": (".mp4", ".m4v", ".webm", ".ogv", ".mov"),
}
TYPES = (
    "image/png", "image/jpeg", "image/gif", "image/webp", "audio/mpeg", "audio/mp4", "audio/aac", "audio/wav",
    "audio/ogg", "audio/flac", "audio/webm", "video/mp4", "video/webm", "video/ogg",
)  # fmt: skip
HEADER_BYTES = 1 << 16  # in which the tracks of WebM and Ogg are named
MAX_HANDLERS = 100  # of tracks of MP4 that are looked at
MPEG_LAYER_3, AAC_LAYER = 0b01, 0b00
AUDIO_BRANDS = (b"M4A ", b"M4B ", b"M4P ")
MP4_BRANDS = (
    b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"dash", b"M4V ", b"M4VH",
    b"MSNV", b"f4v ", b"qt  ", b"3gp4", b"3gp5", *AUDIO_BRANDS,
)  # fmt: skip


def file_type(data: bytes) -> str | None:
    """The media type of an image, a sound or a video; None for anything else.

    Examples
    --------
    >>> file_type(b"fLaC..."), file_type(b"GIF89a..."), file_type(b"<script>")
    ('audio/flac', 'image/gif', None)
    """
    return image_type(data) or media_type(data)


def media_type(data: bytes) -> str | None:
    """The media type of a sound or a video; None for anything else.

    Examples
    --------
    >>> media_type(b"RIFF....WAVEfmt "), media_type(b"OggS" + b"." * 24 + b"OpusHead")
    ('audio/wav', 'audio/ogg')
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "audio/wav"
    if data[:4] == b"fLaC":
        return "audio/flac"
    if data[:4] == b"OggS":
        return "video/ogg" if b"\x80theora" in data[:HEADER_BYTES] else "audio/ogg"
    if data[:4] == b"\x1aE\xdf\xa3":
        return _webm_type(data[:HEADER_BYTES])
    if data[4:8] == b"ftyp":
        return _mp4_type(data)
    return _mpeg_type(data)


def kind_of(type: str) -> str:
    """The kind of content of a media type: image, audio or video."""
    return type.partition("/")[0]


def kind_of_address(address: str) -> str:
    """The kind of content that the end of an address or name tells; an image unless it tells another.

    Examples
    --------
    >>> kind_of_address("https://example.org/a.MP3?x=1"), kind_of_address("cat.png")
    ('audio', 'image')
    """
    path = address.partition("?")[0].partition("#")[0].lower()
    return next((kind for kind, ends in SUFFIXES.items() if path.endswith(ends)), "image")


def check_file(type: str, data: bytes) -> None:
    """Raise a `ValueError` if a file of this type is too large to be shown, or broken."""
    if kind_of(type) == "image":
        check_image(type, data)


def _webm_type(head: bytes) -> str | None:
    if b"webm" not in head[:64]:
        return None  # Matroska, which browsers do not play
    return "video/webm" if any(codec in head for codec in (b"V_VP8", b"V_VP9", b"V_AV1")) else "audio/webm"


def _mp4_type(data: bytes) -> str | None:
    brand = data[8:12]
    if brand not in MP4_BRANDS:
        return None  # HEIF images among others
    return "audio/mp4" if brand in AUDIO_BRANDS or not _has_video_track(data) else "video/mp4"


def _has_video_track(data: bytes) -> bool:
    """Whether a track of an MP4 file is handled as video; the description may be at the end of the file."""
    at = 0
    for _ in range(MAX_HANDLERS):
        at = data.find(b"hdlr", at + 1)
        if at < 0:
            return False
        if data[at + 12 : at + 16] == b"vide":
            return True
    return False


def _mpeg_type(data: bytes) -> str | None:
    """MP3, which may begin with a tag, or AAC in ADTS frames."""
    if data[:3] == b"ID3":
        return "audio/mpeg"
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE0 != 0xE0:
        return None
    layer, rate = (data[1] >> 1) & 0b11, (data[2] >> 2) & 0b11
    if layer == AAC_LAYER:
        return "audio/aac" if data[1] & 0xF0 == 0xF0 else None
    return "audio/mpeg" if layer == MPEG_LAYER_3 and rate != 0b11 and data[2] >> 4 != 0xF else None
