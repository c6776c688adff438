"""Saving a backup of a database in use: one read transaction sees all tables in one state."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import text

from crowdpilot.service.private_files import private_file
from crowdpilot.service.store.backup.archive import ArchiveReader, ArchiveWriter, Manifest
from crowdpilot.service.store.backup.encryption import encrypt
from crowdpilot.service.store.backup.table_rows import column_kinds, read_rows, reflect
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.migration import check_database, schema_revision
from crowdpilot.service.store.tables import metadata


def save_backup(
    store: Store, file: Path, *, secret: str | None = None, passphrase: str = "", replace: bool = False
) -> Manifest:
    """Write all tables to a file that only its owner can read; the service may run meanwhile.

    Parameters
    ----------
    store
        The database. Its schema may be an older one, which is kept.
    file
        Takes its name once it is complete and checked.
    secret
        Is saved too, if given.
    passphrase
        Encrypts the secret, if given.
    replace
        Whether a file that is there is replaced; else a `FileExistsError` is raised.
    """
    if file.exists() and not replace:
        raise FileExistsError(f"there is a file '{file}' already; name another, or replace it with --force")
    kept = encrypt(secret, passphrase) if secret and passphrase else secret
    with private_file(file, replace=replace) as draft, store.reading() as c:
        if not store.sqlite:
            c.execute(text("SET TRANSACTION READ ONLY"))
        check_database(c)
        revision = schema_revision(c)
        if revision is None:
            raise ValueError("the database is empty, so that there is nothing to save; name another")
        with ArchiveWriter(draft) as writer:
            for table in reflect(c).sorted_tables:
                if table.name in metadata.tables:  # others are not ours
                    writer.add_table(table.name, column_kinds(table), read_rows(c, table))
            manifest = writer.finish(revision, kept)
        draft.seek(0)
        ArchiveReader(draft, file).check()
    return manifest
