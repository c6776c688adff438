from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot.service.errors import RequestError
from crowdpilot.service.store import Store
from crowdpilot.service.store.requesters import keys

Run = Callable[..., Result]


def test_a_key_is_made_listed_and_revoked(cli: Run, tmp_path: Path) -> None:
    database = str(tmp_path / "a.db")
    key = cli("keys", "create", "ann", "--scope", "read", "-d", database).stdout.strip()
    store = Store(f"sqlite:///{database}")
    with store.reading() as c:
        assert keys.find(c, key).scope == "read"
    (row,) = csv.DictReader(StringIO(cli("keys", "list", "-d", database).stdout))
    assert (row["name"], row["scope"], row["revoked"]) == ("ann", "read", "")
    assert key not in str(row)
    assert cli("keys", "revoke", row["id"], "-d", database).exit_code == 0
    with store.reading() as c, pytest.raises(RequestError, match="not valid"):
        keys.find(c, key)
    assert cli("keys", "revoke", row["id"], "-d", database).exit_code == 2
    store.close()


def test_a_scope_that_does_not_exist_is_refused(cli: Run, tmp_path: Path) -> None:
    result = cli("keys", "create", "ann", "--scope", "all", "-d", str(tmp_path / "a.db"))
    assert result.exit_code == 2
    assert "read, label-ops, write, admin" in result.stderr


def test_a_link_that_signs_in_is_printed_on_request(cli: Run, tmp_path: Path) -> None:
    result = cli("keys", "link", "-d", str(tmp_path / "a.db"), "--address", "https://label.example.org")
    assert result.stdout.startswith("https://label.example.org/login?token=")


def test_a_file_that_is_no_database_gets_no_secret_beside_it(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "wrong.txt").write_text("hello\n")
    result = cli("keys", "link", "-d", str(tmp_path / "wrong.txt"))
    assert result.exit_code == 2
    assert "file is not a database" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.txt"]
