"""Sessions of requesters end on the server: by signing out, with their key or member, by a restore."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from crowdpilot.cli import app
from crowdpilot.service.pages.dashboard.access.requester import SESSION_COOKIE
from crowdpilot.service.pages.dashboard.access.sessions import sign_session
from crowdpilot.service.store.backup.saving import save_backup
from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.dashboard import DashboardService, csrf, post
from tests.service.harness.service import SECRET, sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path))
    yield made
    made.close()


def stolen(service: DashboardService, client: TestClient) -> TestClient:
    """A browser with the session cookie of another."""
    thief = service.visitor()
    thief.cookies.set(SESSION_COOKIE, client.cookies[SESSION_COOKIE])
    return thief


def is_in(client: TestClient) -> bool:
    return client.get("/projects", follow_redirects=False).status_code == 200


def test_a_stolen_cookie_is_refused_after_the_sign_out(service: DashboardService) -> None:
    client, other = service.signed_in(), service.signed_in()
    thief = stolen(service, client)
    token = csrf(thief.get("/projects").text)
    assert is_in(thief)
    post(client, "/logout", "/projects")
    assert not is_in(thief)
    answer = thief.post("/keys", data={"csrf": token, "name": "x", "scope": "admin"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert is_in(other)  # the session in another browser goes on


def test_sessions_end_with_their_key_and_with_their_member(service: DashboardService) -> None:
    by_key, by_member = service.signed_in("write"), service.signed_in("admin")
    with service.store.writing() as c:
        keys.revoke(c, service.keys["write"].split("_")[1])
    assert (is_in(by_key), is_in(by_member)) == (False, True)
    with service.store.writing() as c:
        owner = members.find_by_name(c, "ann")
        assert owner is not None
        members.remove(c, owner.id)
    assert not is_in(by_member)
    with service.store.writing() as c:
        members.create(c, "ann")  # of the same name, but somebody else
    assert not is_in(by_member)


def test_a_session_ends_when_its_key_expires(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service.store.writing() as c:
        owner = members.find_or_create(c, "ann")
        key = keys.create(c, owner.id, "short", "read", expires=time.time() + 60)
    client = service.visitor()
    client.post("/login", data={"csrf": csrf(client.get("/login").text), "key": key})
    assert is_in(client)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    assert not is_in(client)


def test_a_session_that_was_planted_is_not_taken_over(service: DashboardService) -> None:
    attacker, victim = service.signed_in("read"), service.visitor()
    planted = attacker.cookies[SESSION_COOKIE]
    victim.cookies.set(SESSION_COOKIE, planted, domain="testserver.local", path="/")
    fields = {"csrf": csrf(victim.get("/login").text), "key": service.keys["admin"]}
    answer = victim.post("/login", data=fields, follow_redirects=False)
    assert SESSION_COOKIE in answer.cookies
    assert answer.cookies[SESSION_COOKIE] != planted
    assert attacker.get("/keys").status_code == 403  # still a reader


def test_a_session_that_nobody_started_is_none(service: DashboardService) -> None:
    client = service.visitor()
    client.cookies.set(SESSION_COOKIE, sign_session(SECRET, "0" * 32))
    assert not is_in(client)


def test_the_store_keeps_no_id_of_a_session(service: DashboardService) -> None:
    client = service.signed_in()
    with service.store.reading() as c:
        rows = c.exec_driver_sql("SELECT * FROM requester_sessions").all()
    value = client.cookies[SESSION_COOKIE].split(".")[0]
    assert value not in str(rows)


def test_a_restored_backup_revives_no_session(service: DashboardService, tmp_path: Path) -> None:
    client = service.signed_in()
    thief = stolen(service, client)
    save_backup(service.store, tmp_path / "backup")
    post(client, "/logout", "/projects")
    url = sqlite_url(tmp_path)
    done = CliRunner().invoke(app, ["restore", str(tmp_path / "backup"), "-d", url, "--without-secrets"])
    assert done.exit_code == 0, done.output
    restored = DashboardService(url)
    assert not is_in(stolen(restored, thief))
    signed_in = restored.visitor()
    fields = {"csrf": csrf(signed_in.get("/login").text), "key": service.keys["admin"]}
    signed_in.post("/login", data=fields)
    assert is_in(signed_in)
    restored.close()
