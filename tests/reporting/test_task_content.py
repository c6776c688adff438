from __future__ import annotations

import base64
from pathlib import Path

import pytest

from crowdpilot.reporting.task_content import MAX_IMAGE_BYTES, MAX_TEXT_LENGTH, TaskContent, read_task_content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    for name in ("a.png", "b.JPG", "b.txt", "deep/c.webp"):
        (tmp_path / name).write_bytes(b"picture")
    return tmp_path


def test_texts_are_found_by_name() -> None:
    assert read_task_content([1, "b"], {"1": "one", "c": "three"}, None) == [
        TaskContent("one"),
        TaskContent(),
    ]


def test_pictures_are_found_by_name_with_and_without_suffix(folder: Path) -> None:
    found = read_task_content(["a", "a.png", "b", "deep/c", "c"], None, folder)
    kinds = [content.image.partition(";")[0] for content in found]
    assert kinds == ["data:image/png", "data:image/png", "data:image/jpeg", "data:image/webp", ""]


def test_pictures_of_peerannot_are_found_by_the_number_at_their_end(folder: Path) -> None:
    (folder / "cat").mkdir()
    for name, bytes_ in {"cat/tom-7.png": b"tom", "cat/tim-12.png": b"tim", "12.png": b"twelve"}.items():
        (folder / name).write_bytes(bytes_)
    found = [
        content.image.rpartition(",")[2]
        for content in read_task_content([7, "12", "cat/tim-12", 1], None, folder)
    ]
    assert found == [base64.b64encode(b).decode() for b in (b"tom", b"twelve", b"tim", b"")]


@pytest.mark.parametrize("task", ["../a", "/etc/passwd", "", ".", "*"])
def test_a_name_never_leads_out_of_the_folder(task: str, folder: Path) -> None:
    assert read_task_content([task], None, folder / "deep") == [TaskContent()]


def test_a_picture_that_is_too_large_is_named_instead(folder: Path) -> None:
    (folder / "big.png").write_bytes(bytes(MAX_IMAGE_BYTES + 1))
    (content,) = read_task_content(["big"], None, folder)
    assert content.image == ""
    assert "big.png has 1.0 MB" in content.note


def test_a_long_text_is_cut() -> None:
    (content,) = read_task_content(["a"], {"a": "x" * (MAX_TEXT_LENGTH + 1)}, None)
    assert content.text == "x" * MAX_TEXT_LENGTH + "…"


def test_a_folder_that_is_none_is_an_error(folder: Path) -> None:
    with pytest.raises(ValueError, match="is no folder"):
        read_task_content(["a"], None, folder / "a.png")
