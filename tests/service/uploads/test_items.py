"""Uploads are read without a service: what was found, and where it is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from crowdpilot.service.errors import RequestError
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.uploads.image_sizes import image_type
from crowdpilot.service.uploads.items import Body, File, read_gold, read_items
from crowdpilot.service.uploads.table_records import CSV, JSON, NDJSON, read_records
from tests.service.harness.service import PNG

ONE = "0" * 12


def spec(**more: Any) -> dict[str, Any]:
    return ProjectIn.model_validate({"name": "x", "classes": ["no", "yes"], **more}).model_dump()


def read(type: str, data: str, **more: Any) -> list[dict[str, Any]]:
    return read_items(ONE, spec(**more), Body(type, data.encode())).items


@pytest.mark.parametrize("between", [",", ";", "\t", "|"])
def test_columns_may_be_divided_in_several_ways(between: str) -> None:
    lines = [["id", "text"], ["1", "Good, really"], ["2", "Bad"]]
    table = "\n".join(between.join(f'"{cell}"' for cell in line) for line in lines)
    assert [item["content"]["text"] for item in read(CSV, table)] == ["Good, really", "Bad"]


@pytest.mark.parametrize("name", ["name", "id", "ID", "Item", "task_id", "document id", "hit"])
@pytest.mark.parametrize("text", ["text", "Content", "SENTENCE", "tweet", "abstract"])
def test_the_usual_names_of_columns_are_known(name: str, text: str) -> None:
    (item,) = read(CSV, f"{name},{text}\na,Good.\n")
    assert (item["name"], item["content"]) == ("a", {"text": "Good."})


def test_a_byte_order_mark_and_other_ends_of_lines_do_no_harm() -> None:
    data = b"\xef\xbb\xbfname,text\r\na,Good.\r\n\r\nb,Bad.\r\n"
    found = read_items(ONE, spec(), Body(CSV, data)).items
    assert [item["name"] for item in found] == ["a", "b"]


def test_an_upload_is_the_same_in_every_format() -> None:
    given = {"machine": "given"}
    table = read(CSV, "name,text,p_no,p_yes,gold\na,x,0.25,0.75,yes\n", **given)
    lines = read(NDJSON, '{"name": "a", "text": "x", "machine": [0.25, 0.75], "gold": "yes"}', **given)
    whole = read(
        JSON, '{"items": [{"name": "a", "text": "x", "machine": [0.25, 0.75], "gold": "yes"}]}', **given
    )
    assert table == lines == whole


def test_rows_are_numbered_as_in_a_spreadsheet() -> None:
    with pytest.raises(ValueError, match=r"^row 4: there is neither a text nor an image"):
        read(CSV, 'name,text\na,"two\nlines"\nb,x\nc,\n')


@pytest.mark.parametrize("numbers", ["nan,1", "inf,0", "-0.1,1.1", "1e-2,0.5", "0.5,"])
def test_what_is_no_distribution_is_refused(numbers: str) -> None:
    with pytest.raises(ValueError, match=r"^row 2"):
        read(CSV, f"name,text,p_no,p_yes\na,x,{numbers}\n", machine="given")


def test_a_machine_may_be_off_by_a_little_and_is_made_to_sum_to_one() -> None:
    (item,) = read(CSV, "name,text,p_no,p_yes\na,x,0.3335,0.6670\n", machine="given")
    assert sum(item["classifier_probs"]) == pytest.approx(1, abs=1e-15)


def test_a_json_file_may_be_a_list() -> None:
    files = [File("items.json", b'[{"id": 7, "text": "x"}]')]
    assert read_items(ONE, spec(), Body("", files=files)).items[0]["name"] == "7"
    for data, said in (
        (b"3", "no list"),
        (b'[{"id": 1}, 2]', "item 2 is no record"),
        (b"[", "line 1: found broken JSON"),
    ):
        with pytest.raises(ValueError, match=said):
            read_items(ONE, spec(), Body("", files=[File("items.json", data)]))


@pytest.mark.parametrize(
    ("data", "type"),
    [
        (PNG, "image/png"), (b"\xff\xd8\xff\xe0JFIF", "image/jpeg"), (b"GIF87a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"), (b"RIFF\x00\x00\x00\x00WAVE", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None), (b"<!doctype html>", None), (b"", None),
        (b"BM", None),
    ],
)  # fmt: skip
def test_images_are_told_by_their_first_bytes(data: bytes, type: str | None) -> None:
    assert image_type(data) == type


def test_an_image_that_is_named_twice_belongs_to_both() -> None:
    files = [File("a.png", PNG), File("t.csv", b"name,image\nx,a.png\ny,a.png\n")]
    upload = read_items(ONE, spec(), Body("", files=files))
    assert len({item["content"]["image"] for item in upload.items}) == 1
    assert len(upload.media) == 1


def test_gold_needs_a_name_and_a_label() -> None:
    assert read_gold(spec(), Body(CSV, b"task,answer\na,yes\n")) == {"a": "yes"}
    assert read_gold(spec(), Body(NDJSON, b'{"id": 1, "truth": "no"}')) == {"1": "no"}
    assert read_gold(spec(), Body(CSV, b"name,text,label\na,x,yes\n")) is None
    with pytest.raises(ValueError, match="row 3: the name or the label is missing"):
        read_gold(spec(), Body(CSV, b"name,label\na,yes\nb,\n"))
    with pytest.raises(ValueError, match="no row"):
        read_gold(spec(), Body(CSV, b"name,label\n"))


def test_a_text_may_be_long_in_every_format() -> None:
    text = "x" * 200_000
    for type, data in ((CSV, f"text\n{text}\n"), (NDJSON, f'{{"text": "{text}"}}')):
        assert read(type, data)[0]["content"]["text"] == text


def test_other_types_are_refused() -> None:
    with pytest.raises(RequestError):
        read_records("text/html", b"")
