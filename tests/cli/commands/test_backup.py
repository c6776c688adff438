"""`crowdpilot backup` and `crowdpilot restore`, from one database to another."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import Result

from crowdpilot.service.settings import load_settings
from crowdpilot.service.store import Store
from crowdpilot.service.store.requesters import action_log
from tests.equip import postgres_binaries
from tests.service.harness.fault_crowd import make_project
from tests.service.harness.postgres import Postgres
from tests.service.harness.service import migrated_store
from tests.service.harness.waiting import need

Run = Callable[..., Result]
PASSPHRASE = "correct horse battery"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder to work in, with a database of one project in old/ and its secret, which is returned."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CROWDPILOT_SECRET", raising=False)
    for name in ("old", "new"):
        Path(name).mkdir()
    Path("old/a.db").touch(0o600)
    store = migrated_store("sqlite:///old/a.db")
    make_project(store, 3, 1, 900)
    store.close()
    return load_settings("old/a.db", "http://x.org").secret


def sentence(result: Result) -> str:
    """The only line that a command says before it gives up."""
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    return line


def test_a_backup_and_a_restore_move_everything(old: str, cli: Run) -> None:
    saved = cli("backup", "a.backup", "-d", "old/a.db")
    assert (saved.exit_code, saved.stdout) == (0, "")
    assert " tables" in saved.stderr
    assert "also holds the secrets, not encrypted" in saved.stderr
    restored = cli("restore", "a.backup", "-d", "new/b.db")
    assert (restored.exit_code, restored.stdout) == (0, "")
    assert "the secrets are in 'new/crowdpilot.secret'" in restored.stderr
    assert load_settings("new/b.db", "http://x.org").secret == old
    store = Store("sqlite:///new/b.db")
    with store.reading() as c:
        assert [row.action for row in action_log.read(c)] == ["restore"]
    store.close()
    for name in ("a.backup", "new/b.db", "new/crowdpilot.secret"):
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o600
    assert sorted(path.name for path in Path().rglob("*") if path.is_file() and path.name[0] == ".") == []


def test_the_secrets_are_encrypted_by_a_passphrase(
    old: str, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("passphrase").write_text(f"{PASSPHRASE}\n")
    assert "chmod 600" in sentence(cli("backup", "a", "-d", "old/a.db", "--passphrase-file", "passphrase"))
    os.chmod("passphrase", 0o600)
    saved = cli("backup", "a", "-d", "old/a.db", "--passphrase-file", "passphrase")
    assert (saved.exit_code, "not encrypted" in saved.stderr) == (0, False)
    assert "give the passphrase" in sentence(cli("restore", "a", "-d", "new/b.db"))
    monkeypatch.setenv("CROWDPILOT_PASSPHRASE", "not this one")
    assert "passphrase is not that of the backup" in sentence(cli("restore", "a", "-d", "new/b.db"))
    assert list(Path("new").iterdir()) == []
    monkeypatch.setenv("CROWDPILOT_PASSPHRASE", PASSPHRASE)
    assert cli("restore", "a", "-d", "new/b.db").exit_code == 0
    assert load_settings("new/b.db", "http://x.org").secret == old


def test_a_backup_may_have_no_secrets(old: str, cli: Run) -> None:
    assert cli("backup", "a", "-d", "old/a.db", "--without-secrets").exit_code == 0
    restored = cli("restore", "a", "-d", "new/b.db")
    assert restored.exit_code == 0
    assert "the backup has no secrets" in restored.stderr
    assert [path.name for path in Path("new").iterdir()] == ["b.db"]


def test_a_missing_secret_is_told(old: str, cli: Run) -> None:
    os.remove("old/crowdpilot.secret")
    saved = cli("backup", "a", "-d", "old/a.db")
    assert saved.exit_code == 0
    assert "there is no secret in 'old/crowdpilot.secret'" in saved.stderr
    assert not os.path.exists("old/crowdpilot.secret")


def test_other_secrets_are_replaced_only_if_asked(
    old: str, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("backup", "a", "-d", "old/a.db").exit_code == 0
    other = load_settings("new/b.db", "http://x.org").secret
    assert "has other keys than the backup" in sentence(cli("restore", "a", "-d", "new/b.db"))
    assert cli("restore", "a", "-d", "new/b.db", "--without-secrets").exit_code == 0
    assert load_settings("new/b.db", "http://x.org").secret == other
    with monkeypatch.context() as patch:
        patch.setenv("CROWDPILOT_SECRET", other)
        refused = cli("restore", "a", "-d", "new/b.db", "--force")
        assert "CROWDPILOT_SECRET has other keys" in sentence(refused)
    assert cli("restore", "a", "-d", "new/b.db", "--force").exit_code == 0
    assert load_settings("new/b.db", "http://x.org").secret == old


def test_a_secret_that_was_rotated_since_is_kept(old: str, cli: Run) -> None:
    assert cli("backup", "a", "-d", "old/a.db").exit_code == 0
    assert cli("secrets", "rotate", "-d", "old/a.db").exit_code == 0
    rotated = load_settings("old/a.db", "http://x.org").secret
    assert cli("restore", "a", "-d", "old/a.db", "--force").exit_code == 0
    assert load_settings("old/a.db", "http://x.org").secret == rotated


def test_a_file_is_replaced_only_if_asked(old: str, cli: Run) -> None:
    Path("a").write_text("precious")
    assert "already" in sentence(cli("backup", "a", "-d", "old/a.db"))
    assert Path("a").read_text() == "precious"
    assert cli("backup", "a", "-d", "old/a.db", "--force").exit_code == 0


def test_a_database_that_is_not_there_is_not_made(old: str, cli: Run) -> None:
    assert "there is no database 'new/b.db'" in sentence(cli("backup", "a", "-d", "new/b.db"))
    assert list(Path("new").iterdir()) == []
    assert not os.path.exists("a")


@pytest.mark.parametrize(
    "typed", ["backup a -d old/a.db", "keys list -d old/a.db", "serve --port 0 -d old/a.db"]
)
def test_a_database_of_a_newer_version_is_refused(old: str, cli: Run, typed: str) -> None:
    store = Store("sqlite:///old/a.db")
    with store.writing() as c:
        c.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    assert "made by a newer version of crowdpilot" in sentence(cli(*typed.split()))


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    need(postgres_binaries(), "postgresql")
    server = Postgres.make()
    yield server
    server.remove()


@pytest.mark.thorough
def test_a_service_moves_to_postgresql_and_back(old: str, cli: Run, postgres: Postgres) -> None:
    with postgres.database() as url:
        assert cli("backup", "a", "-d", "old/a.db").exit_code == 0
        assert cli("restore", "a", "-d", url).exit_code == 0
        assert Path("crowdpilot.secret").read_text() == old
        assert "not empty" in sentence(cli("restore", "a", "-d", url))
        assert cli("backup", "b", "-d", url).exit_code == 0
    assert cli("restore", "b", "-d", "new/b.db").exit_code == 0
    assert load_settings("new/b.db", "http://x.org").secret == old
