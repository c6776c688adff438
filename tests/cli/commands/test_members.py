from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot.cli.shared.serve_options.openid import OpenIDOptions
from crowdpilot.service.store import Store
from crowdpilot.service.store.requesters import action_log, members
from tests.service.harness.service import PLAIN, create_project, migrated_store

Run = Callable[..., Result]


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "a.db")


def listed(cli: Run, database: str) -> dict[str, dict[str, str]]:
    rows = csv.DictReader(StringIO(cli("members", "list", "-d", database).stdout))
    return {row["name"]: row for row in rows}


def test_members_are_added_listed_and_removed(cli: Run, database: str) -> None:
    assert cli("members", "add", "ann", "-d", database).exit_code == 0
    assert cli("members", "add", "root", "--operator", "-d", database).exit_code == 0
    assert {name: row["operator"] for name, row in listed(cli, database).items()} == {
        "ann": "",
        "root": "yes",
    }
    again = cli("members", "add", "ann", "-d", database)
    assert (again.exit_code, "already" in again.stderr) == (2, True)
    assert cli("members", "remove", "ann", "-d", database).exit_code == 0
    assert list(listed(cli, database)) == ["root"]
    gone = cli("members", "remove", "ann", "-d", database)
    assert (gone.exit_code, "no member called 'ann'" in gone.stderr) == (2, True)
    last = cli("members", "remove", "root", "-d", database)
    assert (last.exit_code, "last operator" in last.stderr) == (2, True)
    assert cli("members", "add", "local", "-d", database).exit_code == 2


def test_members_have_roles_in_projects_and_in_the_service(cli: Run, database: str) -> None:
    store = migrated_store(f"sqlite:///{database}")
    project = create_project(store, PLAIN)
    cli("members", "add", "bob", "-d", database)
    assert cli("members", "role", "bob", "write", project, "-d", database).exit_code == 0
    assert listed(cli, database)["bob"]["projects"] == f"write in {project}"
    last = cli("members", "role", "ann", "read", project, "-d", database)
    assert (last.exit_code, "last admin" in last.stderr) == (2, True)
    assert cli("members", "role", "bob", "none", project, "-d", database).exit_code == 0
    assert cli("members", "role", "bob", "operator", "-d", database).exit_code == 0
    with store.reading() as c:
        row = members.find_by_name(c, "bob")
        assert row is not None
        assert row.operator
        assert members.role(c, project, row.id) is None
        assert {entry.actor for entry in action_log.read(c, categories=["access"])} == {"command line"}
    for wrong in (("write",), ("operator", project), ("king", project), ("write", "0" * 12)):
        assert cli("members", "role", "bob", *wrong, "-d", database).exit_code == 2, wrong
    store.close()


def test_a_key_for_a_project_that_is_not_there_is_refused_in_one_line(cli: Run, database: str) -> None:
    result = cli("keys", "create", "ann", "--project", "0" * 12, "-d", database)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    store = Store(f"sqlite:///{database}")
    with store.reading() as c:
        assert members.list_all(c) == []
    store.close()


def test_the_secret_of_a_provider_is_in_the_environment_or_in_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("from the file\n")
    options = OpenIDOptions("https://login.example.org", "id", file, ["@example.org"], None, "")
    file.chmod(0o644)
    with pytest.raises(ValueError, match="chmod 600"):
        options.provider({})
    file.chmod(0o600)
    assert options.provider({}).client_secret == "from the file"
    assert options.provider({"CROWDPILOT_OIDC_SECRET": "x"}).client_secret == "x"
    assert "from the file" not in repr(options.provider({}))
    assert OpenIDOptions().provider({}) is None


def test_the_log_says_with_which_settings_the_service_was_started(
    cli: Run, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdpilot.service.processes.supervise", lambda *args, **options: None)
    monkeypatch.setenv("CROWDPILOT_OIDC_SECRET", "hidden")
    provider = ("--oidc-issuer", "https://login.example.org", "--oidc-client-id", "id", "--oidc-allow", "*")
    result = cli("serve", "-d", database, "--host", "0.0.0.0", "--port", "0", "--web", "2", *provider)
    assert result.exit_code == 0, result.stderr
    store = Store(f"sqlite:///{database}")
    with store.reading() as c:
        (entry,) = action_log.read(c)
    store.close()
    assert (entry.action, entry.category, entry.detail["web"]) == ("start service", "access", 2)
    assert entry.detail["oidc_issuer"] == "https://login.example.org"
    assert "hidden" not in str(entry.detail)
