"""Tables are written piece by piece, and spreadsheets run nothing that they hold."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot.service.exports import harmless, moment, write

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


@pytest.mark.parametrize("text", ["=1", "+x", "-x", "@x", "\tx", "\rx", "-1+1", "+1 cmd", "=-1"])
def test_what_begins_like_a_formula_is_made_harmless(text: str) -> None:
    assert harmless(text) == "'" + text


@pytest.mark.parametrize("text", ["", "x", "-1", "+1", "-0.5", "1", "x=1", None])
def test_other_texts_stay_as_they_are(text: str | None) -> None:
    assert harmless(text) == text


def test_moments_are_in_utc() -> None:
    assert moment(1_700_000_000.25) == "2023-11-14T22:13:20.250Z"
    assert moment(None) is None
