from __future__ import annotations

import io
import re
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.uploads import files
from crowdpilot.service.uploads.files import File, unpack
from crowdpilot.service.uploads.items import Body, Upload, read_items
from tests.service.harness.service import GIF, PNG

SPEC = ProjectIn(name="Birds", classes=["crow", "owl"]).model_dump()


def zipped(entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive with these entries."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return data.getvalue()


def read(*sent: File) -> Upload:
    return read_items("p" * 12, SPEC, Body("", files=list(sent)))


def test_sub_folders_called_like_classes_give_gold_items() -> None:
    sent = {"birds/Owl/1.png": PNG, "birds/crow/1.png": GIF, "birds/other/2.txt": b"A raven?"}
    for upload in (read(File("birds.zip", zipped(sent))), read(*(File(*file) for file in sent.items()))):
        found = {item["name"]: item["gold"] for item in upload.items}
        assert found == {"2.txt": None, "Owl/1.png": "owl", "crow/1.png": "crow"}
        assert {item["content"].get("text") for item in upload.items} == {None, "A raven?"}
        assert len(upload.media) == 2


def test_a_table_in_an_archive_names_images_with_and_without_folders() -> None:
    table = b"name,image,gold\na,pictures/1.png,owl\nb,2.gif,\n"
    upload = read(File("x.zip", zipped({"items.csv": table, "pictures/1.png": PNG, "pictures/2.gif": GIF})))
    assert [(item["name"], item["gold"]) for item in upload.items] == [("a", "owl"), ("b", None)]
    assert all(item["content"]["image"].startswith("/files/") for item in upload.items)


def test_a_table_of_addresses_is_taken_as_it_is() -> None:
    table = b"name,url\na,https://example.org/1.png\n"
    (item,) = read(File("items.csv", table)).items
    assert item["content"] == {"image": "https://example.org/1.png"}


def test_files_that_a_system_writes_for_itself_are_left_out() -> None:
    sent = {
        "__MACOSX/._1.png": b"x",
        ".DS_Store": b"x",
        "a/.hidden/1.png": PNG,
        "Thumbs.db": b"x",
        "a/1.png": PNG,
    }
    assert [file.name for file in unpack([File("x.zip", zipped(sent))])] == ["a/1.png"]


@pytest.mark.parametrize("name", ["../1.png", "a/../../1.png", "..\\1.png", "/../1.png"])
def test_a_path_that_leads_out_of_its_folder_is_refused(name: str) -> None:
    for sent in (File("x.zip", zipped({name: PNG})), File(name, PNG)):
        with pytest.raises(ValueError, match="leads out of its folder"):
            read(sent)


def test_an_absolute_path_is_a_name_and_no_place() -> None:
    (item,) = read(File("x.zip", zipped({"/etc/passwd.txt": b"A text."}))).items
    assert item["name"] == "passwd.txt"


def test_a_link_in_an_archive_is_left_out() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("a.txt", "A text.")
    assert [file.name for file in unpack([File("x.zip", data.getvalue())])] == ["a.txt"]


def test_bombs_are_refused_before_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = zipped({"a.txt": bytes(64 << 20)})
    with pytest.raises(ValueError, match="grows more than"):
        unpack([File("x.zip", zeros)])
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(ValueError, match="larger than 1 MiB"):
        unpack([File("x.zip", zeros)])
    monkeypatch.setattr(files, "MAX_UNPACKED_FILES", 3)
    with pytest.raises(ValueError, match="more than 3 files"):
        unpack([File("x.zip", zipped({f"{n}.txt": b"a" for n in range(4)}))])
    with pytest.raises(ValueError, match="more than 3 files"):  # several archives share one limit
        unpack([File(f"{k}.zip", zipped({f"{n}.txt": b"a" for n in range(2)})) for k in range(2)])


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_entries_compressed_by_other_methods_are_refused_before_they_are_read(compression: int) -> None:
    bomb = zipped({"a.txt": bytes(64 << 20)}, compression)
    broken = bomb[:60] + b"x" + bomb[61:]
    for data in (bomb, broken):
        tracemalloc.start()
        try:
            with pytest.raises(ValueError, match=r"'a.txt' in 'x.zip' is compressed by a method"):
                unpack([File("x.zip", data)])
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()


def test_an_archive_with_very_many_entries_is_refused_before_they_are_listed() -> None:
    honest = zipped({"a": b"a"})
    first = honest.index(b"PK\x01\x02")
    entry, end = honest[first : honest.index(b"PK\x05\x06")], honest[honest.index(b"PK\x05\x06") :]
    directory = entry * 100_000
    size = struct.pack("<I", len(directory))
    lying = honest[:first] + directory + end[:12] + size + end[16:]  # which says that it has one entry
    assert len(zipfile.ZipFile(io.BytesIO(lying)).infolist()) == 100_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 5,000 files"):
            unpack([File("x.zip", lying)])
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_folders_and_hidden_files_do_not_make_an_archive_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_UNPACKED_FILES", 3)
    sent = {f"{n}/": b"" for n in range(6)} | {f"{n}/a.txt": b"a" for n in range(3)}
    assert len(unpack([File("x.zip", zipped(sent))])) == 3


@pytest.mark.parametrize("seed", range(5))
def test_damaged_archives_are_refused_in_our_words(seed: int) -> None:
    """Whatever byte is wrong, the archive is read or refused, and nothing else is raised."""
    rng = np.random.default_rng(seed)
    whole = zipped({"birds/é.txt": b"A text. " * 20, "b.txt": b"b"})
    ours = r"broken|encrypted|compressed by|leads out|more than|larger than"
    for _ in range(1000):
        data = bytearray(whole)
        for at in rng.integers(4, len(data), rng.integers(1, 5)):
            data[at] = rng.integers(256)
        refused = ""
        try:
            unpack([File("x.zip", bytes(data))])
        except ValueError as error:
            refused = str(error)
        assert not refused or re.search(ours, refused), refused


def test_an_entry_that_lies_about_its_size_is_cut_off() -> None:
    honest = zipped({"a.txt": bytes(4 << 20)})
    at = honest.rindex(b"PK\x01\x02")
    lying = honest[: at + 24] + struct.pack("<I", 10) + honest[at + 28 :]
    with pytest.raises(ValueError, match=r"broken|grows"):
        unpack([File("x.zip", lying)])


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04", b"PK\x05\x06", zipped({"a.txt": b"a" * 99})[:-30]],
    ids=["begun", "empty", "cut off"],
)
def test_a_broken_archive_is_said_to_be(data: bytes) -> None:
    with pytest.raises(ValueError, match="broken, or no zip archive"):
        read(File("x.zip", data))


def test_an_archive_in_an_archive_and_an_empty_one_are_refused() -> None:
    with pytest.raises(ValueError, match="is no PNG"):
        read(File("x.zip", zipped({"y.zip": zipped({"a.txt": b"a"})})))
    with pytest.raises(ValueError, match="no file with items"):
        read(File("x.zip", zipped({".hidden": b"a"})))


def test_an_encrypted_archive_is_refused() -> None:
    data = bytearray(zipped({"a.txt": b"a"}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ValueError, match="encrypted"):
        read(File("x.zip", bytes(data)))
