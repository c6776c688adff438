"""The file of a backup: a ZIP archive with a manifest and the rows of each table as lines of JSON.

`manifest.json` says the format and its version, the version of crowdpilot, the time, the revision of the
schema, the columns, the number of rows and the SHA-256 of each table, and the secrets. `tables/NAME.jsonl`
has a row in each line. A database of either kind can be made from it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import IO, Annotated, Any, Final, Literal
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crowdpilot import __version__
from crowdpilot.service.store.backup.encryption import EncryptedText
from crowdpilot.service.store.backup.table_rows import Kind
from crowdpilot.service.store.migration import NewerSchemaError, known_revisions

FORMAT: Final = "crowdpilot backup"
FORMAT_VERSION: Final = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 1 << 24
CHUNK_BYTES = 1 << 20
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
COMPRESSION_LEVEL = 1  # fast: a third larger than the default level 6, in a third of its time


class DamagedBackupError(ValueError):
    """The file is not a backup, or not as it was written."""


class TableEntry(BaseModel):
    """What the manifest says about one table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    columns: dict[str, Kind]
    rows: Annotated[int, Field(ge=0)]
    sha256: str


class Manifest(BaseModel):
    """What a backup holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["crowdpilot backup"] = FORMAT
    version: Literal[1] = FORMAT_VERSION
    crowdpilot: str = __version__
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
    schema_revision: str
    tables: list[TableEntry]  # in an order in which rows refer only to those of tables before
    secret: str | EncryptedText | None = Field(repr=False)  # none if the backup was made without

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(table.rows for table in self.tables)


class ArchiveWriter:
    """Writes the rows of tables and, at the end, the manifest; a context, at whose end it is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = ZipFile(file, "w", ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL)
        self._tables: list[TableEntry] = []

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def add_table(self, name: str, columns: dict[str, Kind], rows: Iterable[list[Any]]) -> None:
        """Write all rows of a table."""
        n, hash = 0, sha256()
        part = self._zip.open(_path(name), "w", force_zip64=True)
        with BufferedWriter(part, CHUNK_BYTES) as lines:
            for row in rows:
                line = ENCODER.encode(row).encode() + b"\n"
                hash.update(line)
                lines.write(line)
                n += 1
        self._tables.append(TableEntry(name=name, columns=columns, rows=n, sha256=hash.hexdigest()))

    def finish(self, schema_revision: str, secret: str | EncryptedText | None) -> Manifest:
        """Write the manifest."""
        manifest = Manifest(schema_revision=schema_revision, tables=self._tables, secret=secret)
        self._zip.writestr(MANIFEST, manifest.model_dump_json(indent=1))
        return manifest


class ArchiveReader:
    """Reads a backup, each part of which is checked."""

    def __init__(self, file: IO[bytes], name: Path) -> None:
        self._name = name
        with self._damage():
            self._zip = ZipFile(file)
            self.manifest = self._read_manifest()

    def check(self) -> None:
        """Read everything; a `DamagedBackupError` if anything is not as it was written."""
        for table in self.manifest.tables:
            with self._damage(), self._zip.open(_path(table.name)) as file:
                n, hash = 0, sha256()
                while chunk := file.read(CHUNK_BYTES):
                    hash.update(chunk)
                    n += chunk.count(b"\n")
                if (n, hash.hexdigest()) != (table.rows, table.sha256):
                    raise ValueError(f"the digest of the table {table.name} is another")

    def rows(self, table: TableEntry) -> Iterator[list[Any]]:
        """All rows of a table, of an archive that has been checked."""
        with self._zip.open(_path(table.name)) as file:
            yield from map(json.loads, BufferedReader(file, CHUNK_BYTES))  # type: ignore[type-var]  # is one

    def _read_manifest(self) -> Manifest:
        if self._zip.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
            raise ValueError("its manifest is too large")
        found = json.loads(self._zip.read(MANIFEST))
        if found["format"] != FORMAT:
            raise ValueError("its manifest is that of another format")
        newer = found["version"] > FORMAT_VERSION or found["schema_revision"] not in known_revisions()
        if newer:
            raise NewerSchemaError(
                f"'{self._name}' was made by a newer version of crowdpilot; "
                f"install crowdpilot {found['crowdpilot']} or later"
            )
        return Manifest.model_validate(found)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Raise whatever shows that the file is damaged as a `DamagedBackupError`."""
        try:
            yield
        except NewerSchemaError:
            raise
        except (
            BadZipFile,
            zlib.error,
            EOFError,
            KeyError,
            TypeError,
            ValueError,
            NotImplementedError,
        ) as error:
            reason = "its manifest is incomplete" if isinstance(error, ValidationError) else str(error)
            raise DamagedBackupError(
                f"'{self._name}' is damaged or not a backup ({reason.strip(chr(39))}); take another copy"
            ) from error


def _path(table: str) -> str:
    return f"tables/{table}.jsonl"
