"""Streams, standard input, bytes, archives and compressed files are read like the file in them."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot.io import read
from crowdpilot.io.source import Source
from crowdpilot.io.sources.opening import open_source

TEXT = "task,worker,label\na,x,cat\nb,y,dog\n"
VOTES = [("a", "x", "cat"), ("b", "y", "dog")]
OLD_WORKBOOK = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)


def archive(files: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zip:
        for name, content in files.items():
            zip.writestr(name, content)
    return stream.getvalue()


class Nameless:
    """A stream that can do nothing but be read."""

    def __init__(self, content: str | bytes):
        self.content = content

    def read(self) -> str | bytes:
        return self.content


STREAMS = {
    "text": lambda: io.StringIO(TEXT),
    "bytes": lambda: io.BytesIO(TEXT.encode()),
    "utf-16": lambda: io.BytesIO(TEXT.encode("utf-16")),
    "nameless text": lambda: Nameless(TEXT),
    "nameless bytes": lambda: Nameless(TEXT.encode()),
    "plain bytes": TEXT.encode,
    "memory": lambda: memoryview(TEXT.encode()),
    "gzip": lambda: gzip.compress(TEXT.encode()),
    "bzip2": lambda: bz2.compress(TEXT.encode()),
    "zip": lambda: archive({"votes.csv": TEXT}),
    "gzip in zip": lambda: archive({"votes.csv.gz": gzip.compress(TEXT.encode())}),
    "zip of a Mac": lambda: archive(
        {"f/": "", "f/v.csv": TEXT, "__MACOSX/f/._v.csv": "x", "f/.DS_Store": "x"}
    ),
}


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("name", STREAMS)
def test_streams_and_bytes_are_read(rows, name):
    assert rows(read(STREAMS[name]())) == VOTES


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_an_open_file_is_read_and_errors_name_it(save, rows, mode):
    with save("votes.csv", TEXT).open(mode) as file:
        assert rows(read(file)) == VOTES
    path = save("other.csv", TEXT + "c\n")
    with path.open(mode) as file, pytest.raises(ValueError, match=r"other.csv, line 4: found 1 field"):
        read(file)


def test_a_stream_is_read_from_where_it_stands(rows):
    stream = io.StringIO("some words about it\n" + TEXT)
    stream.readline()
    assert rows(read(stream)) == VOTES


@pytest.mark.parametrize("dash", ["-", Path("-")])
def test_a_dash_is_standard_input(monkeypatch, rows, dash):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode("utf-16")), "ascii"))
    assert rows(read(dash)) == VOTES


def test_errors_of_standard_input_name_it(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("task,worker,label\na\n"))
    with pytest.raises(ValueError, match="standard input, line 2: found 1 field, expected 3"):
        read("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input: cannot be read"):
        read("-")


@pytest.mark.parametrize("name", ["votes.csv", "votes.bin", "votes"])
def test_a_compressed_file_is_told_by_its_content(save, rows, name):
    assert rows(read(save(name, gzip.compress(TEXT.encode())))) == VOTES
    assert rows(read(save(name, archive({"x.csv": TEXT})))) == VOTES


@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_a_stream_may_be_compressed_as_only_arrow_knows(tmp_path, rows, without_arrow, kind):
    path = tmp_path / "votes"
    with pa.output_stream(str(path), compression=kind) as stream:
        stream.write(TEXT.encode())
    assert rows(read(path)) == rows(read(path.read_bytes())) == VOTES
    with without_arrow(), pytest.raises(ValueError, match=f"a stream compressed as {kind} needs pyarrow"):
        read(path)


def test_a_parquet_file_may_lie_in_an_archive_or_a_stream(rows, without_arrow):
    stream = io.BytesIO()
    pq.write_table(pa.table({"task": ["a"], "worker": ["x"], "label": ["cat"]}), stream)
    packed = archive({"votes.parquet": stream.getvalue()})
    assert rows(read(packed)) == rows(read(stream.getvalue())) == [("a", "x", "cat")]
    with without_arrow(), pytest.raises(ValueError, match=r"votes.parquet: Parquet needs pyarrow"):
        read(packed)


@pytest.mark.parametrize("format", [None, "csv"])
def test_of_several_files_in_an_archive_none_is_chosen(save, format):
    path = save("votes.zip", archive({"a.csv": TEXT, "b/c.csv": TEXT}))
    problem = r"votes.zip: there are 2 files in it \('a.csv', 'b/c.csv'\); unpack it and name one"
    with pytest.raises(ValueError, match=problem):
        read(path, format=format)


def test_the_files_of_an_archive_are_sources():
    source = open_source(archive({"anna.csv": TEXT, "ben.csv": "x"}), Source(Path(), encoding="utf-8"))
    assert source is not None
    assert [member.path.stem for member in source.members] == ["anna", "ben"]
    assert [member.encoding for member in source.members] == ["utf-8", "utf-8"]
    assert list(source.members[0].lines()) == TEXT.splitlines(keepends=True)


BROKEN = {
    "cut.csv.gz": (gzip.compress(TEXT.encode() * 99)[:-20], "broken|cannot be read"),
    "cut": (gzip.compress(TEXT.encode() * 99)[:-20], "it is compressed and broken or cut off"),
    "cut.zip": (archive({"a.csv": TEXT * 99})[:-30], "the archive is broken or encrypted"),
    "empty.zip": (archive({"folder/": ""}), "the archive is empty"),
    "nothing.zip": (archive({"a.csv": ""}), "the file is empty"),
    "votes.xls": (OLD_WORKBOOK, "in an old or encrypted format; save it as .xlsx or CSV"),
    "votes.ods": (archive({"META-INF/manifest.xml": "", "content.xml": ""}), "OpenDocument file; save it"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_unpacked_is_one_sentence(save, name):
    content, problem = BROKEN[name]
    with pytest.raises(ValueError, match=problem) as error:
        read(save(name, content))
    assert "\n" not in str(error.value)
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (TEXT, r"found the text 'task,worker,.*', expected a path; to read text itself, use io.StringIO"),
        ("https://example.org/votes.csv", "addresses are not read; download the file"),
        ("x" * 5000, "there is no such file|cannot be read"),
    ],
    ids=["text", "address", "long"],
)
def test_a_text_that_is_no_path_says_what_to_do(source, problem):
    with pytest.raises(ValueError, match=problem):
        read(source)


def test_a_stream_that_cannot_be_read_is_one_sentence(save):
    stream = io.StringIO(TEXT)
    stream.close()
    with pytest.raises(ValueError, match="the stream: cannot be read"):
        read(stream)
    path = save("votes.csv", "task,worker,label\na,x,é\n".encode("cp1252"))
    problem = r"votes.csv: found bytes that are not in its encoding; open it as bytes"
    with path.open(encoding="utf-8") as file, pytest.raises(ValueError, match=problem):
        read(file)


def test_a_sheet_needs_a_workbook(save):
    with pytest.raises(ValueError, match=r"votes.csv: it is no Excel workbook, so it has no sheets"):
        read(save("votes.csv", TEXT), sheet="x")
