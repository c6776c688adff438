"""A key that is limited gives nobody more: not by another key, not by a session, not by a role."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import PLAIN, create_project, sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path))
    yield made
    made.close()


def make_key(service: DashboardService, name: str, scope: str, *, operator: bool = False, **more: Any) -> str:
    with service.store.writing() as c:
        return keys.create(c, members.find_or_create(c, name, operator=operator).id, name, scope, **more)


def sign_in(service: DashboardService, key: str) -> TestClient:
    client = service.visitor()
    assert client.post("/login", data={"csrf": csrf(client.get("/login").text), "key": key}).is_success
    return client


def test_a_key_of_one_project_makes_no_key(service: DashboardService) -> None:
    project = create_project(service.store, PLAIN)
    key = make_key(service, "ann", "admin", projects=[project])
    client = sign_in(service, key)
    answer = client.post(
        "/keys", data={"csrf": csrf(client.get("/projects").text), "name": "x", "scope": "read"}
    )
    assert answer.status_code == 403
    sent = {"name": "x", "scope": "read"}
    assert service.http.post("/api/keys", json=sent, headers={"X-API-Key": key}).status_code == 403
    with service.store.reading() as c:
        assert [row.name for row in keys.list_all(c)] == ["ann"]


def test_a_key_of_one_project_is_no_operator(service: DashboardService) -> None:
    project = create_project(service.store, PLAIN)
    make_key(service, "bob", "admin")
    key = make_key(service, "root", "admin", operator=True, projects=[project])
    assert "bob" not in sign_in(service, key).get("/keys").text
    for path in ("/api/keys", "/api/members", "/api/log"):
        assert service.http.get(path, headers={"X-API-Key": key}).status_code == 403, path


def test_a_key_that_expires_makes_no_key_that_outlives_it(service: DashboardService) -> None:
    soon = time.time() + 3600
    key = make_key(service, "ann", "admin", expires=soon)
    client = sign_in(service, key)
    client.post("/keys", data={"csrf": csrf(client.get("/keys").text), "name": "x", "scope": "read"})
    for expires in (None, soon + 3600):
        sent = {"name": "x", "scope": "read", "expires": expires}
        assert service.http.post("/api/keys", json=sent, headers={"X-API-Key": key}).status_code == 201
    with service.store.reading() as c:
        assert [row.expires for row in keys.list_all(c)] == [soon] * 4


@pytest.mark.parametrize("scope", ["read", "label-ops", "write"])
def test_a_lesser_key_makes_no_key(service: DashboardService, scope: str) -> None:
    key = make_key(service, "ann", scope)
    sent = {"name": "x", "scope": "read"}
    assert service.http.post("/api/keys", json=sent, headers={"X-API-Key": key}).status_code == 403


def test_a_key_of_one_project_creates_no_other(service: DashboardService) -> None:
    key = make_key(service, "ann", "admin", projects=[create_project(service.store, PLAIN)])
    assert service.http.post("/api/projects", json=PLAIN, headers={"X-API-Key": key}).status_code == 403
    assert len(service.rows()) == 1
