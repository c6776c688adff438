"""Screenshots of the docs are of the current pages."""

from __future__ import annotations

import json

from docs.pictures import DIGESTS_FILE, IMAGES, SHOWN_FOLDERS, digests


def test_pictures_are_of_this_version() -> None:
    """If one is not, `make pictures` takes it again."""
    assert json.loads(DIGESTS_FILE.read_text()) == digests()


def test_each_picture_exists_and_has_a_digest_of_its_files() -> None:
    assert [name for name in SHOWN_FOLDERS if not (IMAGES / name).exists()] == []
    assert len(set(digests().values())) == 3  # both screenshots of the report show the same page
