"""What the workers saw: texts and pictures to show beside the hardest tasks."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

KINDS = {
    ".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp", ".avif": "avif",
    ".bmp": "bmp", ".svg": "svg+xml",
}  # fmt: skip
LARGEST = 2**20  # bytes of a picture that is put into the page
LONGEST = 2_000  # signs of a text


class Content(NamedTuple):
    """The text and the picture of a task, each empty if there is none, and why a picture is not shown."""

    text: str = ""
    image: str = ""
    note: str = ""


def gather(
    tasks: Iterable[Any], texts: Mapping[Any, Any] | None, images: str | os.PathLike[str] | None
) -> list[Content]:
    """The content of each of these tasks; texts and pictures are found by the names of the tasks."""
    said = {str(task): str(text) for task, text in (texts or {}).items()}
    files = {} if images is None else _list_images(Path(images))
    return [_content(said.get(str(task), ""), files.get(str(task))) for task in tasks]


def _list_images(folder: Path) -> dict[str, Path]:
    """The pictures below a folder, by their path inside it with and without the suffix.

    In peerannot's layout, `<class>/<name>-<task>.<suffix>`, also by the number at the end.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder, expected one with a picture for each task")
    found: dict[str, Path] = {}
    numbered: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in KINDS and path.is_file():
            name = path.relative_to(folder)
            found[name.as_posix()] = path
            found.setdefault(name.with_suffix("").as_posix(), path)
            _, dash, number = path.stem.rpartition("-")
            if dash and number.isdecimal():
                numbered.setdefault(str(int(number)), path)
    return numbered | found


def _content(text: str, file: Path | None) -> Content:
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    if file is None:
        return Content(text)
    if (size := file.stat().st_size) > LARGEST:
        return Content(text, note=f"{file.name} has {size / LARGEST:.1f} MB, too much to show here")
    data = base64.b64encode(file.read_bytes()).decode()
    return Content(text, f"data:image/{KINDS[file.suffix.lower()]};base64,{data}")
