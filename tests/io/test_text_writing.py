"""Tables and votes are written whole or not at all."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot.io import read, write, write_table
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.votes import Votes

TABLE = pa.table(
    {
        "task": ["a,b", 'say "hi"', None, ""],
        "label": pa.array([1, 2, None, 4]),
        "confidence": [1.0, 0.1, float("nan"), 1e-9],
        "is_gold": [True, False, None, True],
    }
)
CSV = 'task,label,confidence,is_gold\n"a,b",1,1,True\n"say ""hi""",2,0.1,False\n,,,\n"",4,1e-9,True\n'
JSONL = (
    '{"task": "a,b", "label": 1, "confidence": 1, "is_gold": true}\n'
    '{"task": "say \\"hi\\"", "label": 2, "confidence": 0.1, "is_gold": false}\n'
    '{"task": null, "label": null, "confidence": null, "is_gold": null}\n'
    '{"task": "", "label": 4, "confidence": 1e-9, "is_gold": true}\n'
)
VOTES = Votes.of(["a", "b"], ["x", "x"], ["cat", "dog"])


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        (".csv", CSV),
        ("", CSV),
        (".tsv", CSV.replace('"a,b"', "a,b").replace(",", "\t").replace("a\tb", "a,b")),
    ],
)
def test_text_has_quotes_only_where_it_needs_them(tmp_path, suffix, expected):
    write_table(TABLE, tmp_path / f"table{suffix}")
    assert (tmp_path / f"table{suffix}").read_text() == expected


def test_json_lines_are_json(tmp_path):
    write_table(TABLE, tmp_path / "table.jsonl")
    assert (tmp_path / "table.jsonl").read_text() == JSONL


def test_parquet_keeps_everything(tmp_path):
    write_table(TABLE, tmp_path / "table.parquet")
    assert pq.read_table(tmp_path / "table.parquet").schema == TABLE.schema


def test_a_stream_gets_csv():
    stream = io.StringIO()
    write_table(TABLE, stream)
    assert stream.getvalue() == CSV


def test_a_table_without_rows_is_a_header():
    stream = io.StringIO()
    write_table(TABLE.slice(0, 0), stream)
    assert stream.getvalue() == CSV.splitlines(keepends=True)[0]


def test_a_long_table_is_written_in_pieces():
    numbers = np.arange(300_000)
    stream = io.StringIO()
    write_table({"task": numbers, "label": numbers % 3}, stream)
    lines = stream.getvalue().splitlines()
    assert (len(lines), lines[1], lines[-1]) == (300_001, "0,0", "299999,2")


def test_dictionaries_are_written_as_their_values():
    stream = io.StringIO()
    write_table({"task": pa.array(["x", None, "x"]).dictionary_encode()}, stream)
    assert stream.getvalue() == "task\nx\n\nx\n"


def test_columns_of_lists_are_an_error(tmp_path):
    (tmp_path / "table.csv").write_text("before")
    with pytest.raises(ValueError, match=r"table.csv: cannot be written"):
        write_table({"task": [[1]]}, tmp_path / "table.csv")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("table.csv", "before")]


@pytest.mark.parametrize("name", ["labels.xlsx", "labels.npy"])
def test_an_unknown_suffix_is_an_error(tmp_path, name):
    with pytest.raises(ValueError, match=rf"{name}: the suffix .* is not known, expected .csv, .tsv"):
        write_table(TABLE, tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name}: the suffix .* is not known, expected .json, .parquet"):
        write(VOTES, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"file/labels.csv: cannot be written"):
        write_table(TABLE, tmp_path / "file" / "labels.csv")


def test_folders_that_do_not_exist_are_made(tmp_path):
    write_table(TABLE, tmp_path / "new" / "folder" / "labels.csv")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == [
        "new", "new/folder", "new/folder/labels.csv",
    ]  # fmt: skip


def test_an_error_leaves_no_new_folder(tmp_path):
    with pytest.raises(ValueError, match="broken"), atomic_path(tmp_path / "new" / "folder" / "labels.csv"):
        raise ValueError("broken")
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_nothing_and_what_was_there(tmp_path):
    (tmp_path / "votes.csv").write_text("before")
    with contextlib.suppress(KeyboardInterrupt), atomic_path(tmp_path / "votes.csv") as draft:
        draft.write_text("half of it")
        raise KeyboardInterrupt
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("votes.csv", "before")]


def test_nothing_stands_there_before_all_is_written(tmp_path):
    with atomic_path(tmp_path / "votes.csv") as draft:
        draft.write_text("all of it")
        assert not (tmp_path / "votes.csv").exists()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("votes.csv", "all of it")]


def test_a_file_keeps_its_rights_and_a_link_its_target(tmp_path):
    path = tmp_path / "real.csv"
    path.write_text("before")
    path.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(path)
    write_table(TABLE, tmp_path / "link.csv")
    assert path.read_text() == CSV
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert (tmp_path / "link.csv").is_symlink()


def test_a_new_file_can_be_read_by_others_as_usual(tmp_path):
    (tmp_path / "usual").write_text("")
    write_table(TABLE, tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_pipes_are_read_and_written(tmp_path, rows):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write, args=(VOTES, pipe))
    writer.start()
    votes = read(pipe)
    writer.join()
    assert rows(votes) == rows(VOTES)


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv.bz2", ".jsonl.zst", ".json.gz"])
def test_a_packed_suffix_packs(tmp_path, rows, suffix):
    path = tmp_path / f"votes{suffix}"
    write(VOTES, path)
    assert path.read_bytes()[:2] in (b"\x1f\x8b", b"BZ", b"\x28\xb5")
    assert rows(read(path)) == rows(VOTES)


def test_parquet_packs_itself(tmp_path):
    with pytest.raises(ValueError, match=r"votes.parquet.gz: a Parquet file is compressed already"):
        write(VOTES, tmp_path / "votes.parquet.gz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("classes", [[True, False], [0.5, 1.5], [1, "x"]])
def test_classes_of_any_type_are_written(tmp_path, classes):
    votes = Votes.of(["a", "b"], ["x", "x"], classes)
    for suffix in ("csv", "jsonl", "parquet", "json"):
        write(votes, tmp_path / f"votes.{suffix}")
        again = read(tmp_path / f"votes.{suffix}")
        assert sorted(map(str, again.classes)) == sorted(map(str, classes))
