"""Archives of a project by name: items in class folders, or in the layout of Hugging Face or Argilla."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from crowdpilot.service.exports.argilla import argilla
from crowdpilot.service.exports.class_folders import class_folders
from crowdpilot.service.exports.decisions import ProjectDecisions
from crowdpilot.service.exports.hugging_face import hugging_face
from crowdpilot.service.store.engine import Row, Store

Archive = Literal["class-folders", "hugging-face", "argilla"]
ARCHIVES: tuple[Archive, ...] = ("class-folders", "hugging-face", "argilla")
ZIP = "application/zip"


def make_archive(
    name: Archive, store: Store, project: Row, decided: ProjectDecisions, confidence: float, address: str
) -> Iterator[bytes]:
    """The pieces of a zip archive of all items whose label has at least this probability.

    `address` is that of the service, for archives that name uploaded files and do not have them.
    """
    if name == "argilla":
        return argilla(store, project, decided, confidence, address)
    if name == "hugging-face":
        return hugging_face(store, project, decided, confidence)
    return class_folders(store, project.id, decided, confidence)
