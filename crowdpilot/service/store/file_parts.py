"""Parts of the files of items, so that a large one is never in memory as a whole."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, LargeBinary, func, literal_column, select

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.store.tables import files


def read(c: Connection, project: str, digest: str, start: int, size: int) -> bytes:
    """So many bytes of a file from a position; `NotFoundError` if there is none."""
    is_sqlite = c.dialect.name == "sqlite"
    part = func.substr(files.c.data, start + 1, size, type_=LargeBinary)
    column: ColumnElement[Any] = literal_column("files.rowid") if is_sqlite else part
    own = files.c.project == project, files.c.digest == digest
    found = c.execute(select(column).where(*own)).scalar()
    if found is None:
        raise NotFoundError("there is no such file")
    return _read_row(c, found, start, size) if is_sqlite else bytes(found)


def _read_row(c: Connection, row: int, start: int, size: int) -> bytes:
    """The same by incremental I/O: `substr` of SQLite reads the whole file for each part."""
    driver: Any = c.connection.driver_connection
    with driver.blobopen("files", "data", row, readonly=True) as blob:
        blob.seek(start)
        return bytes(blob.read(size))
