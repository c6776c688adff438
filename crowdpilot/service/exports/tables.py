"""Tables as files of CSV, NDJSON and Parquet, written piece by piece."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq

from crowdpilot.io.numbers_and_times import utc_datetime
from crowdpilot.io.text_writing import delimited, json_lines
from crowdpilot.io.votes_tables import as_table
from crowdpilot.service.uploads.spreadsheet_cells import neutralised

MEDIA_TYPES = {
    "csv": "text/csv",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
CHUNK_BYTES = 1 << 16


def moment(seconds: float | None) -> str | None:
    """A time as ISO 8601 in UTC; one that no calendar has is the nearest that it has.

    Examples
    --------
    >>> moment(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    time = utc_datetime(seconds)
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write(tables: Iterable[pa.Table], format: str) -> Iterator[bytes]:
    """Tables with the same columns as one file, piece by piece."""
    if format == "parquet":
        yield from _parquet(tables)
        return
    for n, table in enumerate(tables):
        pieces = json_lines(as_table(table)) if format == "ndjson" else islice(_csv(table), min(n, 1), None)
        yield from (piece.encode() for piece in pieces)


def _csv(table: pa.Table) -> Iterator[str]:
    return delimited(as_table(_neutralised_table(table)), ",")


def _neutralised_table(table: pa.Table) -> pa.Table:
    """The same table, where no spreadsheet takes a text for a formula."""
    columns = [
        pa.array([None if text is None else neutralised(text) for text in column.to_pylist()], pa.string())
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=[neutralised(name) for name in table.column_names])


def _parquet(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        writer: pq.ParquetWriter | None = None
        for table in tables:
            writer = writer or pq.ParquetWriter(file, table.schema)
            if len(table):
                writer.write_table(table)
        if writer is not None:
            writer.close()
        file.seek(0)
        while piece := file.read(CHUNK_BYTES):
            yield piece
