from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from crowdpilot.service.private_files import others_can_read, private_file


def write(path: Path, data: bytes, *, replace: bool = False) -> None:
    with private_file(path, replace=replace) as file:
        file.write(data)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_is_private_and_not_replaced_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    if not links:  # as on some file systems
        monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "file"
    write(path, b"1")
    with pytest.raises(FileExistsError):
        write(path, b"2")
    assert path.read_bytes() == b"1"
    write(path, b"3", replace=True)
    assert path.read_bytes() == b"3"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not others_can_read(path)
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_of_a_file_that_was_not_finished(tmp_path: Path) -> None:
    def fail() -> None:
        with private_file(tmp_path / "file", replace=False) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []
