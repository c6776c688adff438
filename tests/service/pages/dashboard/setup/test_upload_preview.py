"""The preview of an upload, also of files that are odd."""

from __future__ import annotations

import pytest

from crowdpilot.service.pages.dashboard.setup.upload_preview import Preview, preview_upload
from crowdpilot.service.uploads.files import File
from tests.service.harness.service import PNG


def preview(name: str, data: bytes, *classes: str) -> Preview:
    return preview_upload([File(name, data)], classes, ())


def test_columns_are_recognised_and_others_ignored_with_a_reason() -> None:
    found = preview("a.csv", b"name,text,gold,author,p_x\na,Good.,yes,me,1\nb,Bad.,no,me,0\n")
    assert (found.items, found.gold, found.kinds) == (2, 2, ["2 texts"])
    assert [column.name for column in found.columns] == ["name", "text", "gold"]
    assert [column.name for column in found.ignored] == ["author", "p_x"]
    assert sorted(found.classes) == ["no", "yes"]
    assert preview("a.csv", b"text,gold\nGood.,yes\nBad.,no\n", "no", "yes").classes == []


def test_probabilities_are_found_once_the_answers_are_known() -> None:
    found = preview("a.csv", b"text,p_no,p_yes\nGood.,0.1,0.9\n", "no", "yes")
    assert (found.probabilities, found.ignored) == (1, [])


def test_rows_that_cannot_be_read_are_named_and_the_others_shown() -> None:
    rows = b"".join(b"%d,%s\n" % (n, b"" if n % 2 else b"Text") for n in range(20))
    found = preview("a.csv", b"name,text\n" + rows)
    assert (found.items, len(found.problems), found.more_problems) == (10, 5, 5)
    assert found.problems[0].startswith("Row 3: ")


@pytest.mark.parametrize(("name", "data"), [
    ("a.csv", b""), ("a.csv", b"name\nx\n"), ("a.csv", b"\xff\xfe\x00"), ("a.json", b"{"), ("a.json", b'"x"'),
    ("a.ndjson", b"[1]\n"), ("a.csv", b"text,text\na,b\n"), ("a.pdf", b"%PDF"), ("a.zip", b"PK\x03\x04"),
])  # fmt: skip
def test_odd_files_have_a_reason_and_no_items(name: str, data: bytes) -> None:
    found = preview(name, data)
    assert found.items == 0
    assert found.problems


def test_an_uploaded_image_is_inside_the_preview() -> None:
    (content,) = preview("a.png", PNG).samples
    assert content["image"].startswith("data:image/png;base64,")
