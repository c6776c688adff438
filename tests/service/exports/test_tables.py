"""Tables are written piece by piece, and spreadsheets run nothing that they hold."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot.service.exports import moment, write

TABLES = [pa.table({"item": pa.array(names, pa.string())}) for names in ([], ["a", "=b"], ["c"])]


@pytest.mark.parametrize(
    ("format", "text"),
    [("csv", "item\na\n'=b\nc\n"), ("ndjson", '{"item": "a"}\n{"item": "=b"}\n{"item": "c"}\n')],
)
def test_many_tables_make_one_text(format: str, text: str) -> None:
    assert b"".join(write(TABLES, format)).decode() == text


def test_many_tables_make_one_parquet_file() -> None:
    found = pq.read_table(io.BytesIO(b"".join(write(TABLES, "parquet"))))
    assert found["item"].to_pylist() == ["a", "=b", "c"]
    empty = pq.read_table(io.BytesIO(b"".join(write(TABLES[:1], "parquet"))))
    assert (empty.num_rows, empty.column_names) == (0, ["item"])


def test_moments_are_in_utc() -> None:
    assert moment(1_700_000_000.25) == "2023-11-14T22:13:20.250Z"
    assert moment(None) is None
