"""Ranges of bytes: against a reference, and over HTTP from the database."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.http.byte_ranges import UnsatisfiableRangeError, requested_range
from crowdpilot.service.http.routes import files
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import file_parts, items, projects
from tests.service.harness.media import wav
from tests.service.harness.service import PLAIN, Project, Service, migrated_store, sqlite_url

TAG = '"tag"'
DATA = wav(0.4)


@given(st.integers(0, 40), st.none() | st.integers(0, 60), st.none() | st.integers(0, 60))
def test_a_range_is_what_the_standard_says(size: int, first: int | None, last: int | None) -> None:
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    data = bytes(range(size))
    if first is None:
        wanted = None if last is None else data[max(0, size - last) :] if last else b""
    elif last is not None and last < first:
        wanted = None
    else:
        wanted = data[first:] if last is None else data[first : last + 1]
    try:
        found = requested_range({"range": header}, TAG, size)
    except UnsatisfiableRangeError:
        assert wanted == b""
    else:
        assert (None if found is None else data[found.start : found.end]) == wanted
        assert found is None or found.start < found.end


@given(st.text(max_size=40))
def test_what_is_no_range_asks_for_the_whole_file(text: str) -> None:
    if not text.strip().lower().startswith("bytes"):
        assert requested_range({"range": text}, TAG, 10) is None


@pytest.mark.parametrize(
    "header", ["bytes=0-1,3-4", "bytes=-", "bytes", "items=0-1", "bytes=5-2", "bytes=a-b"]
)
def test_several_ranges_and_wrong_ones_ask_for_the_whole_file(header: str) -> None:
    assert requested_range({"range": header}, TAG, 10) is None


def test_a_range_of_another_version_asks_for_the_whole_file() -> None:
    assert requested_range({"range": "bytes=0-1", "if-range": TAG}, TAG, 10) == (0, 2)
    for other in ('"other"', 'W/"tag"', "Wed, 21 Oct 2015 07:28:00 GMT"):
        assert requested_range({"range": "bytes=0-1", "if-range": other}, TAG, 10) is None


@pytest.fixture
def sound(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(files, "BYTES_PER_PART", 1000)
    service = Service(database_url)
    project: Project = service.project()
    project.post("/items", files={"file": ("a.wav", DATA)}).raise_for_status()
    address = f"/files/{project.id}/{sha256(DATA).hexdigest()}"
    yield lambda **headers: service.http.get(
        address, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )
    service.close()


def test_a_sound_is_served_whole_and_in_ranges(sound: Any) -> None:
    whole = sound()
    assert (whole.status_code, whole.content) == (200, DATA)
    assert whole.headers["content-type"] == "audio/wav"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert whole.headers["accept-ranges"] == "bytes"
    part = sound(range="bytes=10-2999", if_range=whole.headers["etag"])
    assert (part.status_code, part.content) == (206, DATA[10:3000])
    assert part.headers["content-range"] == f"bytes 10-2999/{len(DATA)}"
    assert part.headers["content-length"] == "2990"
    assert sound(range="bytes=-5").content == DATA[-5:]
    assert sound(range="bytes=10-20", if_range='"other"').content == DATA
    behind = sound(range=f"bytes={len(DATA)}-")
    assert (behind.status_code, behind.headers["content-range"]) == (416, f"bytes */{len(DATA)}")
    for known in (whole.headers["etag"], f'"other", W/{whole.headers["etag"]}', "*"):
        assert sound(if_none_match=known).status_code == 304
    assert sound(if_none_match='"other"').status_code == 200
    assert sound(if_none_match='"*"').status_code == 200, "which is a tag"


def test_a_file_in_parts_costs_about_as_much_as_in_one_go(tmp_path: Path) -> None:
    store = migrated_store(sqlite_url(tmp_path))
    data = random.Random(0).randbytes(32 << 20)
    with store.writing() as c:
        project = projects.create(c, ProjectIn.model_validate(PLAIN).model_dump())
        digest = items.save_file(c, project, "video/mp4", data)

    def seconds(size: int) -> float:
        begun = time.process_time()
        with store.reading() as c:
            parts = [file_parts.read(c, project, digest, at, size) for at in range(0, len(data), size)]
        taken = time.process_time() - begun
        assert b"".join(parts) == data
        return taken

    whole = max(0.02, min(seconds(len(data)) for _ in range(3)))
    assert min(seconds(1 << 20) for _ in range(3)) < 5 * whole
    store.close()
