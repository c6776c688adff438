"""Pictures of pages that look otherwise by now are found out."""

from __future__ import annotations

import json

from docs.pictures import IMAGES, LOOKS, TAKEN, digests


def test_pictures_are_of_this_version() -> None:
    """If one is not, `make pictures` takes it again."""
    assert json.loads(TAKEN.read_text()) == digests()


def test_each_picture_is_there_and_looks_are_those_of_files() -> None:
    assert [name for name in LOOKS if not (IMAGES / name).exists()] == []
    assert len(set(digests().values())) == 3  # both pictures of the report are of the same page
