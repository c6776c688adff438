"""Sounds and videos are told by their bytes, whatever their names say, and become items like images."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.uploads.items import Body, File, read_items
from crowdpilot.service.uploads.media_types import TYPES, file_type, kind_of_address
from crowdpilot.service.uploads.table_records import CSV
from tests.service.harness.media import wav
from tests.service.harness.service import PNG

ONE = "0" * 12
SPEC: dict[str, Any] = ProjectIn.model_validate({"name": "x", "classes": ["no", "yes"]}).model_dump()


def mp4(brand: bytes, handler: bytes) -> bytes:
    track = b"hdlr" + bytes(8) + handler + bytes(12)
    return struct.pack(">I", 16) + b"ftyp" + brand + bytes(4) + bytes(100) + track


def webm(codec: bytes, kind: bytes = b"webm") -> bytes:
    return b"\x1aE\xdf\xa3" + bytes(8) + b"B\x82" + kind + bytes(20) + codec


@pytest.mark.parametrize(
    ("data", "type"),
    [
        (wav(), "audio/wav"), (b"fLaC\x00", "audio/flac"), (b"ID3\x04\x00", "audio/mpeg"),
        (b"\xff\xfb\x90\x44", "audio/mpeg"), (b"\xff\xf3\x84\xc4", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio/aac"), (b"\xff\xf9\x50\x80", "audio/aac"),
        (b"OggS" + bytes(24) + b"OpusHead", "audio/ogg"), (b"OggS" + bytes(24) + b"\x80theora", "video/ogg"),
        (mp4(b"M4A ", b"soun"), "audio/mp4"), (mp4(b"isom", b"soun"), "audio/mp4"),
        (mp4(b"isom", b"vide"), "video/mp4"), (mp4(b"heic", b"pict"), None),
        (webm(b"A_OPUS"), "audio/webm"), (webm(b"V_VP9"), "video/webm"), (webm(b"V_VP9", b"matroska"), None),
        (PNG, "image/png"), (b"<script>", None), (b"\xff\xfea\x00", None), (b"", None), (b"\xff\xfb", None),
    ],
)  # fmt: skip
def test_files_are_told_by_their_bytes(data: bytes, type: str | None) -> None:
    assert file_type(data) == type


@given(st.binary(max_size=200))
def test_any_bytes_have_a_type_that_is_served_or_none(data: bytes) -> None:
    assert file_type(data) in (*TYPES, None)


def test_sounds_and_videos_alone_are_items_called_like_their_files() -> None:
    files = [File("a.png", wav()), File("b.mp4", mp4(b"isom", b"vide"))]
    upload = read_items(ONE, SPEC, Body("", files=files))
    assert [(item["name"], list(item["content"])) for item in upload.items] == [
        ("a.png", ["audio"]),
        ("b.mp4", ["video"]),
    ]
    assert [file.type for file in upload.media] == ["audio/wav", "video/mp4"]


@pytest.mark.parametrize("column", ["audio", "Sound", "file", "url"])
def test_a_column_names_a_sound_that_was_sent_along(column: str) -> None:
    files = [File("a.wav", wav()), File("t.csv", f"name,{column},text\nx,a.wav,Listen.\n".encode())]
    (item,) = read_items(ONE, SPEC, Body("", files=files)).items
    assert item["content"]["audio"].startswith(f"/files/{ONE}/")
    assert item["content"]["text"] == "Listen."


def test_addresses_tell_what_they_lead_to() -> None:
    rows = (
        "name,url\na,https://example.org/a.mp3\nb,https://example.org/b.webm?x=1\nc,https://example.org/c\n"
    )
    found = read_items(ONE, SPEC, Body(CSV, rows.encode())).items
    assert [next(iter(item["content"])) for item in found] == ["audio", "video", "image"]
    assert kind_of_address("") == "image"


def test_a_sound_that_was_not_sent_along_is_named_with_its_column() -> None:
    files = [File("t.csv", b"name,audio\nx,gone.wav\n")]
    with pytest.raises(ValueError, match=r"row 2: column 'audio': 'gone.wav' is neither a web address"):
        read_items(ONE, SPEC, Body("", files=files))
    with pytest.raises(ValueError, match=r"column 'file': 'gone.wav' is neither"):
        read_items(ONE, SPEC, Body(CSV, b"name,file\nx,gone.wav\n"))


def test_an_item_has_one_sound() -> None:
    rows = b"name,url,audio\na,https://example.org/a.mp3,https://example.org/b.mp3\n"
    with pytest.raises(ValueError, match="a second audio"):
        read_items(ONE, SPEC, Body(CSV, rows))
