"""Wrong keys and failed sign-ins are written down and limited, and lock out nobody who has a right key."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from crowdpilot.service.requesters import wrong_keys
from crowdpilot.service.signing import new_key
from crowdpilot.service.store.requesters import action_log, keys
from tests.service.harness.dashboard import DashboardService, csrf
from tests.service.harness.service import sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    made = DashboardService(sqlite_url(tmp_path))
    yield made
    made.close()


def from_address(service: DashboardService, address: str) -> TestClient:
    return TestClient(
        service.app, base_url=service.settings.address, client=(address, 1), raise_server_exceptions=False
    )


def status(client: TestClient, key: str) -> int:
    return client.get("/api/projects", headers={"X-API-Key": key}).status_code


def refused(service: DashboardService) -> list[Any]:
    with service.store.reading() as c:
        return list(action_log.read(c, categories=[action_log.REFUSED], n=10_000))


def test_too_many_wrong_keys_of_an_address_are_refused_without_a_look_into_the_database(
    service: DashboardService,
) -> None:
    client, n = from_address(service, "192.0.2.1"), wrong_keys.MAX_PER_ADDRESS
    assert [status(client, new_key()[0]) for _ in range(n + 3)] == [401] * n + [429] * 3
    queries: list[str] = []
    for engine in (service.app.state.store._read, service.app.state.store._write):
        event.listen(engine, "before_cursor_execute", lambda *args: queries.append(args[2]))
    assert status(client, new_key()[0]) == 429
    assert queries == []
    entries = refused(service)
    assert len(entries) == n
    assert {(entry.actor, entry.action, entry.address) for entry in entries} == {
        ("unknown", "wrong key", "192.0.2.1")
    }


def test_a_key_that_is_in_use_is_served_while_others_at_its_address_guess(service: DashboardService) -> None:
    client = from_address(service, "192.0.2.1")
    assert status(client, service.keys["read"]) == 200
    for _ in range(wrong_keys.MAX_PER_ADDRESS + 5):
        status(client, new_key()[0])
    assert status(client, new_key()[0]) == 429
    assert status(client, service.keys["read"]) == 200
    with service.store.writing() as c:
        keys.revoke(c, service.keys["read"].split("_")[1])
    assert status(client, service.keys["read"]) in (401, 429)


def test_other_addresses_are_not_limited_but_one_network_of_ipv6_is_one(service: DashboardService) -> None:
    for n in range(wrong_keys.MAX_PER_ADDRESS):
        status(from_address(service, f"2001:db8::{n:x}"), new_key()[0])
    assert status(from_address(service, "2001:db8::ffff"), new_key()[0]) == 429
    assert status(from_address(service, "2001:db9::1"), new_key()[0]) == 401
    assert status(from_address(service, "192.0.2.1"), service.keys["write"]) == 200


def test_the_limit_ends_with_its_period(service: DashboardService, monkeypatch: pytest.MonkeyPatch) -> None:
    client = from_address(service, "192.0.2.1")
    for _ in range(wrong_keys.MAX_PER_ADDRESS + 1):
        status(client, new_key()[0])
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + wrong_keys.PERIOD_SECONDS)
    assert status(client, new_key()[0]) == 401


def test_the_limit_is_shared_by_processes(service: DashboardService, tmp_path: Path) -> None:
    for _ in range(wrong_keys.MAX_PER_ADDRESS):
        status(from_address(service, "192.0.2.1"), new_key()[0])
    other = DashboardService(service.settings.database)
    answers = [status(from_address(other, "192.0.2.1"), new_key()[0]) for _ in range(2)]
    assert answers == [401, 429]  # the first tells it
    assert len(refused(service)) == wrong_keys.MAX_PER_ADDRESS
    other.close()


def test_many_addresses_write_no_more_than_the_service_allows(
    service: DashboardService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrong_keys, "MAX_PER_PROCESS", 30)
    for n in range(60):
        assert status(from_address(service, f"192.0.2.{n}"), new_key()[0]) == 401
    assert len(refused(service)) == 30


def test_what_is_written_down_holds_no_key(service: DashboardService) -> None:
    secret = service.keys["read"]
    for wrong in (secret[:-1] + "~", "hunter2", "cp_x_y", "é", new_key()[0]):
        service.http.get("/api/projects", headers={"X-API-Key": wrong.encode()})
    entries = refused(service)
    assert len(entries) == 5
    assert [entry.detail for entry in entries if entry.detail] == [{"key": secret.split("_")[1]}]
    assert not any(secret.split("_")[2][:8] in str(entry.detail) for entry in entries)


def test_failed_sign_ins_are_written_down_and_limited(service: DashboardService) -> None:
    visitor = TestClient(service.app, base_url=service.settings.address, client=("192.0.2.9", 1),
                         headers={"accept": "text/html"})  # fmt: skip
    token = csrf(visitor.get("/login").text)
    assert visitor.get("/login", params={"token": "forged"}).status_code == 403
    statuses = [visitor.post("/login", data={"csrf": token, "key": f"cp_{n}_x\x00"}).status_code
                for n in range(wrong_keys.MAX_PER_ADDRESS + 2)]  # fmt: skip
    assert set(statuses[: wrong_keys.MAX_PER_ADDRESS - 1]) == {422}
    assert statuses[-1] == 429
    actions = [entry.action for entry in refused(service)]
    assert actions.count("wrong link") == 1
    assert actions.count("wrong key") == wrong_keys.MAX_PER_ADDRESS - 1
    assert {entry.address for entry in refused(service)} == {"192.0.2.9"}


def test_a_large_upload_with_a_wrong_key_counts_too(service: DashboardService) -> None:
    client = from_address(service, "192.0.2.1")
    for _ in range(wrong_keys.MAX_PER_ADDRESS):
        client.post("/api/projects", content=b"[" * 200_000, headers={"X-API-Key": new_key()[0]})
    assert len(refused(service)) == wrong_keys.MAX_PER_ADDRESS
    assert status(client, new_key()[0]) == 429
