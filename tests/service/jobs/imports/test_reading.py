"""Reading ends at its deadline, and listing as soon as there are too many files, whatever the file system."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from crowdpilot.service.jobs.imports import reading
from crowdpilot.service.jobs.imports.reading import read_files
from crowdpilot.service.settings import Settings
from tests.service.harness.service import settings_of
from tests.service.harness.waiting import eventually

SETTINGS = Settings(**settings_of("sqlite://", import_from=("odd://folder/",)))


class OddFileSystem(MemoryFileSystem):
    """A file system that hangs, is slow, or has folders without end, as the test says."""

    protocol = "odd"
    cachable = False
    over: ClassVar[threading.Event]
    listed: ClassVar[list[str]]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("odd://").strip("/")

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        self.listed.append(path)
        if "hanging" in path:
            self.over.wait(20)
        if "endless" in path:
            files = [{"name": f"{path}/{n}.txt", "type": "file", "size": 1} for n in range(10)]
            return [*files, {"name": f"{path}/more", "type": "directory", "size": 0}]
        if "empty" in path:
            time.sleep(0.01)
            return [{"name": f"{path}/more", "type": "directory", "size": 0}]
        return [{"name": f"{path}/a.txt", "type": "file", "size": 1}]

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        return SlowFile(self.over)


class SlowFile:
    def __init__(self, over: threading.Event) -> None:
        self.over = over

    def __enter__(self) -> SlowFile:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, n: int) -> bytes:
        return b"" if self.over.wait(0.02) else b"x"


@pytest.fixture(autouse=True)
def odd() -> Iterator[type[OddFileSystem]]:
    OddFileSystem.over, OddFileSystem.listed = threading.Event(), []
    fsspec.register_implementation("odd", OddFileSystem, clobber=True)
    yield OddFileSystem
    OddFileSystem.over.set()


@pytest.mark.parametrize("folder", ["hanging", "slow", "empty"])
def test_an_import_ends_at_its_deadline(folder: str, odd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "DEADLINE_SECONDS", 0.3)
    before, begun = threading.active_count(), time.monotonic()
    with pytest.raises(ValueError, match="not answer in time"):
        read_files(f"odd://{folder}/", SETTINGS)
    assert time.monotonic() - begun < 3
    if folder == "hanging":  # nothing ends such a call from without
        odd.over.set()
    eventually(lambda: threading.active_count() <= before)


def test_folders_without_end_are_listed_only_until_there_are_too_many_files(
    odd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_FILES", 100)
    with pytest.raises(ValueError, match="more than 100 files"):
        read_files("odd://endless/", SETTINGS)
    assert len(odd.listed) <= 12


def test_very_many_hidden_files_are_too_many_and_hide_no_others(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_FILES", 3)
    for n in range(40):
        (tmp_path / f".{n}").write_bytes(b"")
    (tmp_path / "a.txt").write_bytes(b"A text.")
    allowed = Settings(**settings_of("sqlite://", import_from=(tmp_path.as_uri(),)))
    with pytest.raises(ValueError, match="more than 3 files"):
        read_files(tmp_path.as_uri(), allowed)
