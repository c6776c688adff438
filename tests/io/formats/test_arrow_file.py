"""Files of Arrow, with a footer and as streams."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot.io import explain, read, read_labels

TABLE = pa.table({"task": ["a", "b"], "worker": ["x", "y"], "label": ["cat", "dog"], "text": ["?", "!"]})
VOTES = [("a", "x", "cat"), ("b", "y", "dog")]


def write(path: Path, table: pa.Table, is_stream: bool = False) -> Path:
    with (pa.ipc.new_stream if is_stream else pa.ipc.new_file)(str(path), table.schema) as file:
        file.write_table(table)
    return path


@pytest.mark.parametrize("is_stream", [False, True])
def test_both_kinds_are_read(tmp_path, rows, is_stream):
    path = write(tmp_path / "votes.bin", TABLE, is_stream)
    reading = explain(path)
    assert (reading.format, list(reading.ignored)) == ("arrow", ["text"])
    assert rows(reading.votes) == rows(read(path.read_bytes())) == VOTES
    assert rows(read(gzip.compress(path.read_bytes()))) == VOTES


def test_feather_files_of_pandas_and_polars_are_read(tmp_path, rows):
    path = tmp_path / "votes.feather"
    TABLE.to_pandas().to_feather(path)
    assert rows(read(path)) == VOTES
    pl.DataFrame(TABLE).write_ipc(path, compression="zstd")
    assert rows(read(path)) == VOTES


@pytest.mark.parametrize("format", ["arrow", "parquet"])
def test_a_wide_table_may_be_kept_with_its_index(tmp_path, rows, format):
    frame = pd.DataFrame({"anna": [0, 1, np.nan], "ben": [1, 1, 0]}, index=["t0", "t1", "t2"])
    table = pa.Table.from_pandas(frame)
    path = tmp_path / "votes"
    write(path, table) if format == "arrow" else pq.write_table(table, path)
    assert rows(read(path))[:2] == [("t0", "anna", 0), ("t0", "ben", 1)]


@pytest.mark.parametrize("format", ["arrow", "parquet"])
def test_numbers_of_classes_become_their_names(tmp_path, rows, format):
    features = {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}, "text": {"dtype": "string"}}
    said = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    table = TABLE.set_column(2, "label", pa.array([0, 1])).replace_schema_metadata(said)
    path = tmp_path / "votes"
    write(path, table) if format == "arrow" else pq.write_table(table, path)
    assert rows(read(path)) == VOTES
    assert read_labels(path, columns={"worker": None}) == {"a": "cat", "b": "dog"}


@pytest.mark.parametrize(
    "said", [b"{}", b"[]", b"no JSON", b'{"info": null}', b'{"info": {"features": [1]}}']
)
def test_what_a_file_says_of_itself_may_be_nonsense(tmp_path, rows, said):
    table = TABLE.replace_schema_metadata({b"huggingface": said, b"pandas": said})
    assert rows(read(write(tmp_path / "votes.arrow", table))) == VOTES


def test_a_broken_file_is_one_sentence(tmp_path):
    path = write(tmp_path / "votes.arrow", TABLE)
    content = path.read_bytes()
    for length in range(8, len(content), 50):
        path.write_bytes(content[:length])
        with pytest.raises(
            ValueError, match=r"votes.arrow: found a broken file of Arrow, expected a whole one"
        ) as error:
            read(path)
        assert "\n" not in str(error.value)


def test_the_old_feather_and_a_python_without_arrow_are_told_what_to_do(save, without_arrow):
    path = save("votes.feather", b"FEA1" + bytes(100))
    with pytest.raises(ValueError, match=r"votes.feather: it is a Feather file of version 1; write it again"):
        read(path)
    with without_arrow(), pytest.raises(ValueError, match=r"votes.feather: a file of Arrow needs pyarrow"):
        read(path)


def test_a_file_whose_positions_lie_outside_is_broken_and_nothing_worse(tmp_path):
    path = write(
        tmp_path / "votes.arrow", pa.table({"task": ["abc"], "worker": ["x"], "label": ["cat"]}), True
    )
    content = bytearray(path.read_bytes())
    position = content.rindex((3).to_bytes(4, "little"), 0, content.index(b"abc"))  # where the text ends
    content[position : position + 4] = (1 << 28).to_bytes(4, "little")
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="found a broken file of Arrow, expected a whole one"):
        read(path)
