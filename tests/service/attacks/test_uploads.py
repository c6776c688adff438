"""Hostile uploads are refused with one sentence, before they cost much; their cost grows with their size."""

from __future__ import annotations

import io
import json
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from crowdpilot.service.jobs import thumbnails
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.uploads.image_sizes import check_image, image_type
from crowdpilot.service.uploads.items import Body, File, read_gold, read_items
from crowdpilot.service.uploads.table_records import CSV, JSON, NDJSON
from tests.service.harness.service import Project, Service, sqlite_url

ONE = "0" * 12
SPEC = ProjectIn.model_validate({"name": "x", "classes": ["no", "yes"]}).model_dump()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path_factory.mktemp("uploads")))
    yield made
    made.close()


@pytest.fixture
def project(service: Service) -> Project:
    return service.project()


def refused(answer: Any) -> str:
    """The sentence of an error."""
    assert answer.status_code in (413, 422), (answer.status_code, answer.text[:500])
    said: str = answer.json()["detail"]
    assert 0 < len(said) <= 1000
    assert "\n" not in said
    return said


# Images -----------------------------------------------------------------------------------------


def png(width: int, height: int, *, frames: int = 1, again: tuple[int, int] | None = None) -> bytes:
    """A PNG that says it has this size; its pixels are missing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def header(width: int, height: int) -> bytes:
        return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))

    parts = [b"\x89PNG\r\n\x1a\n", header(width, height), header(*again) if again else b""]
    if frames > 1:
        parts.append(chunk(b"acTL", struct.pack(">II", frames, 0)))
    return b"".join([*parts, chunk(b"IDAT", zlib.compress(b"")), chunk(b"IEND", b"")])


def gif(width: int, height: int, *, frames: int = 1, frame: tuple[int, int] = (1, 1)) -> bytes:
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0)
    one = b"\x2c" + struct.pack("<HHHHB", 0, 0, *frame, 0) + b"\x02\x02\x4c\x01\x00"
    return head + one * frames + b"\x3b"


def jpeg(width: int, height: int, *, scans: int = 1) -> bytes:
    frame = b"\xff\xc2\x00\x0b\x08" + struct.pack(">HH", height, width) + b"\x01\x01\x11\x00"
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x00"
    return b"\xff\xd8\xff\xe0\x00\x04xx" + frame + scan * scans + b"\xff\xd9"


def webp(width: int, height: int, *, frames: int = 1) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return kind + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2)

    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    parts = chunk(b"VP8X", b"\x02\x00\x00\x00" + size)
    parts += chunk(b"ANMF", b"\x00" * 6 + size + b"\x00" * 4) * frames
    return b"RIFF" + struct.pack("<I", len(parts) + 4) + b"WEBP" + parts


def lossless_webp(width: int, height: int) -> bytes:
    data = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14)
    return (
        b"RIFF"
        + struct.pack("<I", len(data) + 13)
        + b"WEBPVP8L"
        + struct.pack("<I", len(data))
        + data
        + b"\x00"
    )


def lossy_webp(width: int, height: int) -> bytes:
    data = b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF" + struct.pack("<I", len(data) + 12) + b"WEBPVP8 " + struct.pack("<I", len(data)) + data


BOMBS = {
    "png": png(60_000, 60_000), "png of two sizes": png(1, 1, again=(60_000, 60_000)),
    "png of many frames": png(10, 10, frames=100_000), "gif": gif(30_000, 30_000),
    "gif of a large frame": gif(1, 1, frame=(30_000, 30_000)),
    "gif of many frames": gif(10, 10, frames=5_000),
    "jpeg": jpeg(30_000, 30_000), "jpeg of many scans": jpeg(100, 100, scans=5_000),
    "webp": webp(16_000, 16_000), "webp of many frames": webp(10, 10, frames=5_000),
    "lossless webp": lossless_webp(16_000, 16_000), "lossy webp": lossy_webp(16_000, 16_000),
}  # fmt: skip
BROKEN = {
    "png": b"\x89PNG\r\n\x1a\n" + b"0" * 60, "short png": b"\x89PNG\r\n\x1a\n", "no pixels": png(0, 10),
    "short gif": b"GIF89a", "gif without a frame": gif(10, 10, frames=0)[:-1],
    "no gif": b"GIF89a" + b"0" * 60,
    "short jpeg": b"\xff\xd8\xff", "jpeg of fill bytes": b"\xff\xd8" + b"\xff" * 100_000,
    "jpeg of empty segments": b"\xff\xd8" + b"\xff\xe0\x00\x02" * 100_000, "jpeg of no height": jpeg(10, 0),
    "short webp": b"RIFF\x00\x00\x00\x00WEBP", "webp of no chunk": b"RIFF\x00\x00\x00\x00WEBP" + b"0" * 40,
    "webp of empty chunks": b"RIFF\x00\x00\x00\x00WEBP" + b"ABCD\x00\x00\x00\x00" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_an_image_of_too_many_pixels_is_refused_at_upload(project: Project, name: str) -> None:
    said = refused(project.post("/items", files={"file": ("a.png", BOMBS[name])}))
    assert "pixels" in said or "frames" in said or "scans" in said


@pytest.mark.parametrize("name", BROKEN)
def test_an_image_whose_size_cannot_be_read_is_refused_at_upload(project: Project, name: str) -> None:
    assert "is broken" in refused(project.post("/items", files={"file": ("a.png", BROKEN[name])}))


@pytest.mark.parametrize("data", [*BOMBS.values(), *BROKEN.values()], ids=[*BOMBS, *BROKEN])
def test_such_an_image_is_never_decoded(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was stored by an earlier version, for example."""

    def fail(*args: Any, **options: Any) -> Any:
        raise AssertionError("the image is decoded")

    monkeypatch.setattr(Image, "open", fail)
    assert np.isnan(thumbnails.shrink(data)).all()


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("size", [(1, 1), (17, 5), (640, 480)])
def test_the_size_of_an_image_is_read_without_decoding_it(format: str, size: tuple[int, int]) -> None:
    out, several = io.BytesIO(), io.BytesIO()
    images = [Image.new("RGB", size, (9 * n, 90, 9)) for n in range(3)]
    images[0].save(out, format)
    found = check_image(image_type(out.getvalue()) or "", out.getvalue())
    assert (found.width, found.height, found.frames) == (*size, 1)
    assert np.isfinite(thumbnails.shrink(out.getvalue())).all()
    if format != "JPEG":
        images[0].save(several, format, save_all=True, append_images=images[1:])
        assert check_image(image_type(several.getvalue()) or "", several.getvalue()).frames == 3
    if format == "WEBP":
        images[0].save(lossless := io.BytesIO(), format, lossless=True)
        assert check_image("image/webp", lossless.getvalue())[:2] == size
    if format == "JPEG":
        images[0].save(
            progressive := io.BytesIO(), format, progressive=True, exif=b"Exif\x00\x00" + b"x" * 999
        )
        assert check_image("image/jpeg", progressive.getvalue())[:2] == size


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(BOMBS)), st.binary(max_size=40), st.integers(0, 80), st.integers(0, 200))
def test_a_damaged_image_is_checked_or_refused(name: str, noise: bytes, at: int, end: int) -> None:
    data = BOMBS[name][:2000]
    damaged = (data[:at] + noise + data[at + len(noise) :])[: end + len(noise)]
    type = image_type(damaged)
    if type is not None:
        with suppress(ValueError):
            assert min(check_image(type, damaged)) > 0


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]), st.integers(0, 300), st.binary(min_size=1, max_size=8)
)
def test_a_damaged_image_gives_a_missing_vector_and_no_error(format: str, at: int, noise: bytes) -> None:
    Image.new("RGB", (20, 20), (9, 90, 9)).save(out := io.BytesIO(), format)
    data = out.getvalue()
    pixels = thumbnails.shrink(data[:at] + noise + data[at + len(noise) :])
    assert np.isnan(pixels).all() or np.isfinite(pixels).all()


@pytest.mark.parametrize("name", ["a\nb.png", "a\x1b[31m.png", "\u202egnp.exe", "a" * 600 + ".png"])
def test_names_of_files_that_no_file_should_have_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="rename"):
        read_items(ONE, SPEC, Body("", files=[File(name, png(1, 1))]))


def test_a_file_is_what_its_first_bytes_say_and_not_what_the_form_says(project: Project) -> None:
    page = b"<html><script>alert(1)</script>"
    refused(project.post("/items", files={"file": ("a.png", page, "image/png")}))
    added = project.post("/items", files={"file": ("a.html", png(1, 1), "text/html")})
    assert added.status_code == 201
    (item,) = project.worker().next()
    shown = project.service.http.get(item["content"]["image"])
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["x-content-type-options"] == "nosniff"


# Tables -----------------------------------------------------------------------------------------

LONG = "9" * 5000
TABLES: dict[str, tuple[str, bytes]] = {
    "deep list": (NDJSON, b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "deep objects": (NDJSON, b'{"text": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}"),
    "deep document": (JSON, b'{"items": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "long integer": (NDJSON, f'{{"text": {LONG}}}'.encode()),
    "long integer in a document": (JSON, f'{{"items": [{{"text": {LONG}}}]}}'.encode()),
    "long number of a machine": (NDJSON, f'{{"text": "x", "p_bad": 1{"0" * 400}, "p_good": 0}}'.encode()),
    "number of a machine": (NDJSON, b'{"text": "x", "p_bad": 1e999, "p_good": NaN}'),
    "many columns": (CSV, b"text" + b",x" * 1_000_000),
    "many semicolons": (CSV, b"text" + b";x" * 1_000_000),
    "many keys": (NDJSON, json.dumps({"text": "x", **{f"k{n}": n for n in range(20_000)}}).encode()),
    "keys of many lines": (NDJSON, "\n".join(f'{{"text": "x", "k{n}": 1}}' for n in range(20_000)).encode()),
    "long name of a column": (CSV, b"text," + b"x" * 100_000 + b"\na,b\n"),
    "long name of a column twice": (CSV, (b"text" + b"," + b"x" * 100_000) * 2 + b"\na,b\n"),
    "half a character in a column": (NDJSON, b'{"text": "x", "\\ud800": 1}'),
    "half a character": (NDJSON, b'{"text": "\\ud800"}'),
    "zero character in a column": (NDJSON, b'{"text": "x", "a\\u0000": 1}'),
    "open quote": (CSV, b'text\n"' + b"x\n" * 500_000),
    "quotes": (CSV, b"text\n" + b'"' * 1_000_001),
    "wide row": (CSV, b"text\n" + b"," * 1_000_000),
    "not utf-8": (CSV, b"text\n" + b"x\n" * 100_000 + b"\xff"),
    "no record": (NDJSON, b"[" + b"1," * 300_000 + b"1]"),
    "utf-16": (CSV, "text\nGood.".encode("utf-16")),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_hostile_table_is_refused_with_one_sentence(service: Service, name: str) -> None:
    type, data = TABLES[name]
    project = service.project(machine="given" if "machine" in name else "none")
    for path in ("/items", "/gold"):
        refused(project.post(path, content=data, headers={"content-type": type}))
    assert project.decisions() == {}


@pytest.mark.parametrize("name", [name for name in TABLES if TABLES[name][0] != JSON])
def test_a_hostile_table_in_a_form_is_refused_with_one_sentence(service: Service, name: str) -> None:
    type, data = TABLES[name]
    project = service.project(machine="given" if "machine" in name else "none")
    file = ("t.csv" if type == CSV else "t.ndjson", data)
    refused(project.post("/items", files={"file": file}))


def test_a_form_of_many_parts_is_refused_with_one_sentence(project: Project) -> None:
    parts = [("file", (f"{n}.png", png(1, 1))) for n in range(5_001)]
    refused(project.post("/items", files=parts))
    fields = "".join(f'--x\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\n1\r\n' for n in range(5_000))
    form = {"content-type": "multipart/form-data; boundary=x"}
    refused(project.post("/items", content=f"{fields}--x--\r\n".encode(), headers=form))
    for body in (b"", b"--x", b"--x\r\n", b"--x--\r\n", b"x" * 10_000, b"--x\r\n" + b"A: b\r\n" * 10_000):
        refused(project.post("/items", content=body, headers=form))
    refused(project.post("/items", content=b"", headers={"content-type": "multipart/form-data"}))


def test_several_long_tables_can_be_read_at_the_same_time() -> None:
    """The limit of fields is one of the whole process."""
    data = b"text\n" + b"\n".join(b"x" * 150_000 for _ in range(20))
    errors: list[Exception] = []

    def read() -> None:
        try:
            for _ in range(5):
                read_items(ONE, SPEC, Body(CSV, data))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert errors == []


# The cost of reading ----------------------------------------------------------------------------


def count_lines(what: Callable[[], Any]) -> int:
    """How many lines of Python run meanwhile, which does not depend on the speed of the machine."""
    lines = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        what()
    except ValueError:
        pass
    finally:
        sys.settrace(before)
    return lines


class CountedText(str):
    """A text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedText.compared += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_names_of_columns_are_compared_a_number_of_times_that_grows_with_them() -> None:
    from crowdpilot.service.uploads.item_columns import find

    def compared(n: int) -> int:
        names = [CountedText(f"column {k}") for k in range(n)]
        CountedText.compared = 0
        find(["text", *names], SPEC)
        return CountedText.compared

    assert compared(400) <= 20 * 400
    assert compared(800) <= 20 * 800


LARGE: dict[str, Callable[[int], tuple[str, bytes]]] = {
    "rows": lambda n: (CSV, b"text\n" + b"x\n" * n),
    "the same text": lambda n: (NDJSON, b'{"text": "x"}\n' * n),
    "columns": lambda n: (CSV, b"text," + b",".join(b"c%d" % k for k in range(n)) + b"\nx" + b"," * n),
    "keys": lambda n: (NDJSON, json.dumps({"text": "x", **{f"k{k}": 1 for k in range(n)}}).encode()),
    "quotes": lambda n: (CSV, b'text\n"' + b'""' * n + b'"\n'),
    "lines in a field": lambda n: (CSV, b'text\n"' + b"x\n" * n + b'"\n'),
    "open quote": lambda n: (CSV, b'text\n"' + b"x\n" * n),
    "empty lines": lambda n: (NDJSON, b"\n" * n + b'{"text": "x"}'),
    "names": lambda n: (CSV, b"name,text\n" + b"".join(b"a-%d,x\n" % (k % 7) for k in range(n))),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_the_cost_of_reading_grows_with_the_size(name: str) -> None:
    def cost(n: int) -> int:
        type, data = LARGE[name](n)
        return count_lines(lambda: read_items(ONE, SPEC, Body(type, data)))

    small, large = cost(200), cost(1600)
    assert large <= 8 * small + 1000


def test_the_cost_of_reading_an_image_is_bounded() -> None:
    for data in (*BOMBS.values(), *BROKEN.values()):
        type = image_type(data)
        if type is not None:
            assert count_lines(lambda type=type, data=data: check_image(type, data)) < 200_000


def test_gold_of_a_hostile_table_is_refused() -> None:
    for data in (b"name,label\n" + b"a,x\n", b"name\na\n", b""):
        with pytest.raises(ValueError, match=r"class|missing"):
            read_gold(SPEC, Body(CSV, data))
