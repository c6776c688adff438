"""What a restore refuses, each in one sentence and without changing anything; older schemas are migrated."""

from __future__ import annotations

import errno
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text

from crowdpilot.service.store import Store, migrate
from crowdpilot.service.store.backup.archive import MANIFEST
from crowdpilot.service.store.backup.restoring import open_backup, read_backup_secret, restore_backup
from crowdpilot.service.store.backup.saving import save_backup
from crowdpilot.service.store.backup.table_rows import reflect
from crowdpilot.service.store.migration import NewerSchemaError, is_current, known_revisions, upgrade
from tests.service.harness.fault_crowd import make_project
from tests.service.harness.service import migrated_store, sqlite_url

SECRET, PASSPHRASE = "s" * 40, "correct horse battery"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of a project with three items."""
    store = migrated_store(f"sqlite:///{tmp_path / 'origin.db'}")
    make_project(store, 3, 1, 900)
    save_backup(store, tmp_path / "backup", secret=SECRET)
    store.close()
    return tmp_path / "backup"


def restore(file: Path, url: str, **options: Any) -> None:
    with open_backup(file) as archive:
        restore_backup(archive, url, **options)


def count(url: str, table: str = "items") -> int:
    store = Store(url)
    with store.reading() as c:
        n = int(c.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())
    store.close()
    return n


def test_a_backup_is_private_and_never_replaced_unasked(backup: Path, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'origin.db'}")
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600
    with pytest.raises(FileExistsError, match="already; name another"):
        save_backup(store, backup)
    save_backup(store, backup, replace=True)
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600
    store.close()


def test_nothing_is_left_of_a_backup_that_fails(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'empty.db'}")
    with pytest.raises(ValueError, match="the database is empty"):
        save_backup(store, tmp_path / "backup")
    store.close()
    assert {path.name for path in tmp_path.iterdir()} == {"empty.db"}


def test_a_database_that_is_not_empty_is_replaced_only_if_asked(backup: Path, database_url: str) -> None:
    store = migrated_store(database_url)
    make_project(store, 5, 1, 900)
    store.close()
    with pytest.raises(ValueError, match=r"not empty; .* --force"):
        restore(backup, database_url)
    assert count(database_url) == 5
    restore(backup, database_url, replace=True)
    assert count(database_url) == 3


def test_a_database_that_nobody_used_is_empty(backup: Path, database_url: str) -> None:
    migrated_store(database_url).close()
    restore(backup, database_url)
    assert count(database_url) == 3


def test_tables_of_other_programs_are_never_dropped(backup: Path, database_url: str) -> None:
    store = Store(database_url)
    with store.writing() as c:
        c.execute(text("CREATE TABLE invoices (id INTEGER)"))
    store.close()
    with pytest.raises(ValueError, match=r"not of crowdpilot \(invoices\)"):
        restore(backup, database_url, replace=True)
    assert count(database_url, "invoices") == 0


def test_a_database_in_use_is_refused(backup: Path, database_url: str) -> None:
    store = migrated_store(database_url)
    with store.reading() as c:
        c.execute(text("SELECT 1 FROM projects"))
    with pytest.raises(ValueError, match=r"service is running .*; stop it first"):
        restore(backup, database_url, replace=True)  # an idle connection is enough
    store.close()
    restore(backup, database_url, replace=True)


def test_a_restore_that_fails_changes_nothing(backup: Path, database_url: str) -> None:
    store = migrated_store(database_url)
    make_project(store, 5, 1, 900)
    store.close()

    def fail(_: object) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        restore(backup, database_url, replace=True, before_commit=fail)
    assert count(database_url) == 5


def test_a_file_that_was_made_for_a_restore_that_fails_is_removed(backup: Path, tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise KeyboardInterrupt

    before = set(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        restore(backup, f"sqlite:///{tmp_path / 'new.db'}", before_commit=fail)
    assert set(tmp_path.iterdir()) == before


def test_a_new_file_is_private(backup: Path, tmp_path: Path) -> None:
    restore(backup, f"sqlite:///{tmp_path / 'new.db'}")
    assert stat.S_IMODE(os.stat(tmp_path / "new.db").st_mode) == 0o600


def test_what_is_not_a_database_is_refused(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are my notes\n" * 100)
    with pytest.raises(ValueError, match="not a database"):
        restore(backup, f"sqlite:///{tmp_path / 'notes.txt'}", replace=True)


def test_a_damaged_backup_is_refused(backup: Path, tmp_path: Path) -> None:
    """Whichever byte is another: it is told, or it is not part of what is read (such as a date)."""
    whole, url = backup.read_bytes(), f"sqlite:///{tmp_path / 'new.db'}"
    sentences = []
    for n in range(0, len(whole), len(whole) // 60):
        backup.write_bytes(whole[:n] + bytes([whole[n] ^ 0x41]) + whole[n + 1 :])
        try:
            restore(backup, url)
        except ValueError as error:
            sentences.append(str(error))
        else:
            assert count(url) == 3
            (tmp_path / "new.db").unlink()
    assert len(sentences) > 30  # the rest of the bytes are dates and the like
    assert all("is damaged or not a backup (" in s or "newer version" in s for s in sentences)


def test_a_truncated_backup_is_refused(backup: Path, tmp_path: Path) -> None:
    whole = backup.read_bytes()
    for n in range(0, len(whole), len(whole) // 20):
        backup.write_bytes(whole[:n])
        with pytest.raises(ValueError, match="is damaged or not a backup"):
            restore(backup, f"sqlite:///{tmp_path / 'new.db'}")
    assert not (tmp_path / "new.db").exists()


def rewrite(backup: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest of a backup."""
    with zipfile.ZipFile(backup) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts[MANIFEST])
    change(manifest)
    with zipfile.ZipFile(backup, "w") as archive:
        for name, data in {**parts, MANIFEST: json.dumps(manifest).encode()}.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(("name", "value"), [("version", 2), ("schema_revision", "9999")])
def test_a_backup_of_a_newer_version_is_refused(backup: Path, tmp_path: Path, name: str, value: Any) -> None:
    rewrite(backup, lambda manifest: manifest.update({name: value, "crowdpilot": "7.0"}))
    with pytest.raises(
        NewerSchemaError, match=r"made by a newer version .*; install crowdpilot 7.0 or later"
    ):
        restore(backup, f"sqlite:///{tmp_path / 'new.db'}")


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["tables"].pop(),
        lambda m: m["tables"][0]["columns"].popitem(),
        lambda m: m["tables"][0].update(columns={"id) SELECT 1; --": "text"}),
        lambda m: m["tables"][0].update(rows=m["tables"][0]["rows"] + 1),
        lambda m: m["tables"][0].update(name="../../x"),
        lambda m: m.pop("tables"),
        lambda m: m.update(format="another"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    backup: Path, tmp_path: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    rewrite(backup, change)
    with pytest.raises(ValueError, match="take another copy"):
        restore(backup, f"sqlite:///{tmp_path / 'new.db'}")


def test_the_secret_needs_the_passphrase(backup: Path, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'origin.db'}")
    save_backup(store, backup, secret=SECRET, passphrase=PASSPHRASE, replace=True)
    store.close()
    with open_backup(backup) as archive:
        assert SECRET not in str(archive.manifest)
        assert read_backup_secret(archive.manifest, PASSPHRASE) == SECRET
        for passphrase, sentence in (("wrong", "not that of the backup"), ("", "are encrypted; give")):
            with pytest.raises(ValueError, match=sentence):
                read_backup_secret(archive.manifest, passphrase)


def test_a_short_passphrase_is_refused(tmp_path: Path) -> None:
    store = migrated_store(sqlite_url(tmp_path))
    with pytest.raises(ValueError, match="shorter than 12 characters"):
        save_backup(store, tmp_path / "backup", secret=SECRET, passphrase="hello")
    store.close()


@pytest.mark.parametrize("revision", known_revisions())
def test_an_older_schema_is_saved_as_it_is_and_migrated_when_restored(
    database_url: str, tmp_path: Path, revision: str
) -> None:
    """So that a backup can be made before an upgrade, by the new version too."""
    store = Store(database_url)
    with store.writing() as c:
        upgrade(c, revision)
        projects = reflect(c).tables["projects"]
        row = {"id": "p", "name": "Ä", "spec": {}, "state": "open", "created": 1.5, "change_number": 0,
               "lease_requests": 0, "votes": 0, "fitted": 0, "update_number": 0, "done": False}  # fmt: skip
        c.execute(insert(projects).values(row))
    assert save_backup(store, tmp_path / "backup").schema_revision == revision
    store.close()
    restore(tmp_path / "backup", f"sqlite:///{tmp_path / 'new.db'}")
    restored = Store(f"sqlite:///{tmp_path / 'new.db'}")
    assert is_current(restored)
    migrate(restored)
    with restored.reading() as c:
        assert c.execute(text("SELECT name, created FROM projects")).one() == ("Ä", 1.5)
    restored.close()


def test_a_newer_database_is_not_saved(tmp_path: Path) -> None:
    store = migrated_store(sqlite_url(tmp_path))
    with store.writing() as c:
        c.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(NewerSchemaError, match="upgrade crowdpilot"):
        save_backup(store, tmp_path / "backup")
    store.close()


@pytest.mark.thorough
def test_what_a_database_cannot_hold_is_named(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """PostgreSQL has no character zero."""
    store = migrated_store(sqlite_url(tmp_path))
    make_project(store, 3, 1, 900)
    with store.writing() as c:
        c.execute(text("UPDATE items SET name = 'a' || char(0) WHERE name = 'i1'"))
    save_backup(store, tmp_path / "backup")
    store.close()
    with request.getfixturevalue("postgres").database() as url:
        with pytest.raises(ValueError, match=r"does not take the table items .* nothing was changed"):
            restore(tmp_path / "backup", url)
        empty = Store(url)
        with empty.reading() as c:
            assert not reflect(c).tables
        empty.close()


def test_a_full_disk_leaves_nothing(backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is that of the disk, and no draft is left."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    store = Store(f"sqlite:///{tmp_path / 'origin.db'}")
    before = {path.name for path in tmp_path.iterdir()}
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        save_backup(store, tmp_path / "another")
    store.close()
    assert {path.name for path in tmp_path.iterdir()} <= before
