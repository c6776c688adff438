"""Screenshots of the docs are of the current pages."""

from __future__ import annotations

import json

from docs.gallery.shots import SHOTS
from docs.pictures import DIGESTS_FILE, HOME, IMAGES, SHOWN_FOLDERS, digests


def test_pictures_are_of_this_version() -> None:
    """If one is not, `make pictures` takes it again."""
    assert json.loads(DIGESTS_FILE.read_text()) == digests()


def test_each_picture_exists_and_has_a_digest_of_its_files() -> None:
    assert [name for name in SHOWN_FOLDERS if not (IMAGES / name).exists()] == []
    assert len(set(digests().values())) == 4  # both screenshots of the report show the same page


def test_the_page_of_pages_shows_every_sheet() -> None:
    page = (HOME / "docs" / "pages.md").read_text()
    for shot in SHOTS:
        assert f"](images/pages/{shot.name}.webp)" in page
        assert (IMAGES / "pages" / f"{shot.name}.webp").exists()
