"""The preview of an upload, also of files that are odd."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from crowdpilot.service.pages.dashboard.setup.upload_preview import Preview, preview_upload
from crowdpilot.service.uploads.files import File
from tests.service.harness.service import PNG


def preview(name: str, data: bytes, *classes: str, **more: Any) -> Preview:
    return preview_upload([File(name, data)], classes, (), **more)


def lines(*records: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, records)).encode()


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


NUMBERED = [{"text": "Good.", "gold": 1}, {"text": "Bad.", "gold": 0}, {"text": "Mixed."}]
THREE = b"text,gold,p_a,p_b,p_c\nOne.,a,0.5,0.25,0.25\nTwo.,b,0.2,0.3,0.5\n"
SPAM = b"text,gold,p_ham,p_spam\nOne.,ham,0.5,0.5\nTwo.,spam,0.2,0.8\n"
ZIPPED = {"t/items.csv": b"file,gold\n1.png,owl\n2.png,crow\n", "t/1.png": PNG, "t/2.png": PNG}


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


USABLE: dict[str, tuple[str, bytes, tuple[str, ...], set[str], int]] = {
    "whole numbers": ("a.ndjson", lines(*NUMBERED), (), {"0", "1"}, 0),
    "whole numbers beside a template": (
        "a.json", json.dumps(NUMBERED).encode(), ("Not spam", "Spam"), {"0", "1"}, 0),
    "other values": (
        "a.ndjson", lines({"text": "x", "gold": True}, {"text": "y", "gold": 2.5}), (), {"True", "2.5"}, 0),
    "some answers are known": ("a.csv", THREE, (), {"a", "b", "c"}, 2),
    "some answers are typed": ("a.csv", THREE, ("a", "b"), {"a", "b", "c"}, 2),
    "a template with fewer answers": ("a.csv", THREE, ("Not spam", "Spam"), {"a", "b", "c"}, 2),
    "a template with other answers": ("a.csv", SPAM, ("Not spam", "Spam"), {"ham", "spam"}, 2),
    "no answer is known": ("a.csv", b"text,p_ham,p_spam\nOne.,0.5,0.5\n", (), {"ham", "spam"}, 1),
    "other p": ("a.csv", b"text,p_value,p_adjusted\nOne.,0.01,0.04\n", (), set(), 0),
    "one other p": (
        "a.csv", b"text,gold,p_yes,p_no,p_value\nOne.,yes,0.1,0.9,0.01\nx,no,0,1,0\n", (), {"yes", "no"}, 2),
    "lists without answers": ("a.ndjson", lines({"text": "x", "machine": [0.1, 0.9]}), (), set(), 0),
    "lists": ("a.ndjson", lines({"text": "x", "machine": [0.1, 0.9]}), ("no", "yes"), set(), 1),
    "longer lists": ("a.ndjson", lines({"text": "x", "machine": [0.1, 0.2, 0.7]}), ("no", "yes"), set(), 0),
    "a table in an archive": ("a.zip", zipped(ZIPPED), (), {"crow", "owl"}, 0),
}  # fmt: skip


@pytest.mark.parametrize("case", USABLE)
def test_a_valid_file_is_usable_before_the_answers_are_chosen(case: str) -> None:
    name, data, classes, answers, probabilities = USABLE[case]
    found = preview(name, data, *classes)
    assert found.problems == []
    assert found.items
    assert set(found.classes) == answers
    assert found.probabilities == probabilities


def test_known_answers_to_criteria_may_be_others_than_those_of_a_template() -> None:
    data = b"text,gold_human,gold_trial\nOne.,ja,nein\n"
    found = preview_upload([File("a.csv", data)], ("no", "yes"), ("human", "trial"))
    assert (found.problems, found.gold, sorted(found.classes)) == ([], 1, ["ja", "nein"])
    nested = lines({"text": "One.", "gold": {"human": "ja"}})
    assert preview_upload([File("a.ndjson", nested)], ("no", "yes"), ("human",)).problems == []


@pytest.mark.parametrize(("name", "data", "classes", "words"), [
    ("a.ndjson", lines(*NUMBERED), ("no", "yes"), "'1' is not a class"),
    ("a.csv", THREE, ("a", "b"), "the probabilities of the machine sum to 0.75"),
    ("a.csv", SPAM, ("ham", "spam", "other"), "column 'p_other' is missing"),
], ids=["answer", "sum", "column"])  # fmt: skip
def test_once_the_answers_are_chosen_what_does_not_fit_them_is_told(
    name: str, data: bytes, classes: tuple[str, ...], words: str
) -> None:
    found = preview(name, data, *classes, is_final=True)
    assert words in " ".join(found.problems)
    assert "no file with items" not in " ".join(found.problems)


@pytest.mark.parametrize(("name", "data", "classes", "probabilities"), [
    ("a.ndjson", lines(*NUMBERED), ("1", "0"), 0),
    ("a.csv", THREE, ("c", "b", "a"), 2),
    ("a.csv", b"text,p_value\nOne.,0.01\n", ("no", "yes"), 0),
    ("a.ndjson", lines({"text": "x", "machine": [0.1, 0.9]}), ("no", "yes"), 1),
], ids=["numbers", "another order", "other p", "lists"])  # fmt: skip
def test_once_the_answers_are_chosen_what_fits_them_is_usable(
    name: str, data: bytes, classes: tuple[str, ...], probabilities: int
) -> None:
    found = preview(name, data, *classes, is_final=True)
    assert (found.problems, found.probabilities) == ([], probabilities)


def test_folders_are_offered_as_answers_and_known_answers_once_they_are() -> None:
    files = [File("birds/owl/1.png", PNG), File("birds/owl/2.png", PNG), File("birds/crow/1.png", PNG)]
    found = preview_upload(files, (), ())
    assert (found.classes, found.gold) == (["crow", "owl"], 0)
    chosen = preview_upload(files, ("crow", "owl"), (), is_final=True)
    assert (chosen.classes, chosen.gold) == ([], 3)
    assert preview_upload(files[:2], (), ()).classes == []


def test_a_table_of_which_no_row_can_be_read_is_not_said_to_be_missing() -> None:
    found = preview("a.csv", b"name,text\na,\nb,\n")
    assert (found.items, len(found.problems)) == (0, 2)
    assert found.problems[0].startswith("Row 2: there is neither a text")


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
