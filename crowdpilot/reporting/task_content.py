"""Content of tasks for the report: texts, and images as data URLs."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

IMAGE_TYPES = {
    ".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp", ".avif": "avif",
    ".bmp": "bmp", ".svg": "svg+xml",
}  # fmt: skip
MAX_IMAGE_BYTES = 2**20  # of an image that is embedded
MAX_TEXT_LENGTH = 2_000  # characters


Images = (
    str | os.PathLike[str] | Callable[[str], str]
)  # a folder, or the data URL of a task, empty if it has none


class TaskContent(NamedTuple):
    """The text and the image of a task, each empty if there is none, and why an image is not shown."""

    text: str = ""
    image: str = ""
    note: str = ""


def read_task_content(
    tasks: Iterable[Any], texts: Mapping[Any, Any] | None, images: Images | None
) -> list[TaskContent]:
    """The text and the image of each of these tasks, found by the names of the tasks."""
    text_by_task = {str(task): str(text) for task, text in (texts or {}).items()}
    if callable(images):
        return [_content(text_by_task.get(str(t), ""), None)._replace(image=images(str(t))) for t in tasks]
    files = {} if images is None else _list_images(Path(images))
    return [_content(text_by_task.get(str(task), ""), files.get(str(task))) for task in tasks]


def _list_images(folder: Path) -> dict[str, Path]:
    """The images below a folder, by their path inside it with and without the suffix.

    In peerannot's layout, `<class>/<name>-<task>.<suffix>`, also by the number at the end.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder, expected one with an image for each task")
    named: dict[str, Path] = {}
    numbered: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in IMAGE_TYPES and path.is_file():
            name = path.relative_to(folder)
            named[name.as_posix()] = path
            named.setdefault(name.with_suffix("").as_posix(), path)
            _, dash, number = path.stem.rpartition("-")
            if dash and number.isdecimal():
                numbered.setdefault(str(int(number)), path)
    return numbered | named


def _content(text: str, file: Path | None) -> TaskContent:
    text = text if len(text) <= MAX_TEXT_LENGTH else f"{text[:MAX_TEXT_LENGTH]}…"
    if file is None:
        return TaskContent(text)
    if (size := file.stat().st_size) > MAX_IMAGE_BYTES:
        return TaskContent(
            text, note=f"{file.name} has {size / MAX_IMAGE_BYTES:.1f} MB, too much to show here"
        )
    data = base64.b64encode(file.read_bytes()).decode()
    return TaskContent(text, f"data:image/{IMAGE_TYPES[file.suffix.lower()]};base64,{data}")
