"""Liveness, readiness that probes a write, and metrics for operators and for this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.http import readiness
from crowdpilot.service.http.readiness import Readiness
from crowdpilot.service.store import Store, counters
from tests.service.harness.service import Service, migrated_store, sqlite_url

LOCAL = "http://127.0.0.1"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path))
    yield made
    made.close()


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = migrated_store(database_url)
    yield made
    made.close()


def test_it_is_ready_when_the_database_takes_a_write(store: Store) -> None:
    assert Readiness(store).check() == "ready"
    with store.reading() as c:
        assert counters.read(c, "readiness", readiness.COUNTER_SECONDS) == 1


def test_one_who_asks_often_makes_few_writes(store: Store) -> None:
    ready = Readiness(store)
    threads = [threading.Thread(target=ready.check) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as c:
        assert counters.read(c, "readiness", readiness.COUNTER_SECONDS) < 5


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("database or disk is full", "full"),
        ("could not extend file: No space left on device", "full"),
        ("attempt to write a readonly database", "readonly"),
        ("cannot execute INSERT in a read-only transaction", "readonly"),
        ("database is locked", "locked"),
        ("connection refused", "unreachable"),
    ],
)
def test_one_word_says_why_it_is_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, word: str
) -> None:
    store = migrated_store(sqlite_url(tmp_path))

    def fail(*_: Any) -> None:
        raise ServiceUnavailableError(said)

    monkeypatch.setattr(counters, "add", fail)
    assert Readiness(store).check() == word
    store.close()


def test_a_database_that_takes_no_writes_is_not_ready(service: Service) -> None:
    """Reading still works, which is why a query alone would not notice."""
    with service.app.state.store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.rollback()
    answer = service.http.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "readonly"})


def test_without_a_database_or_a_schema_it_is_not_ready(tmp_path: Path) -> None:
    for url, word in (
        (f"sqlite:///{tmp_path / 'no folder' / 'x.db'}", "unreachable"),
        (f"sqlite:///{tmp_path / 'empty.db'}", "unmigrated"),
    ):
        store = Store(url)
        assert Readiness(store).check() == word
        store.close()


def test_strangers_see_no_metrics(service: Service) -> None:
    assert service.http.get("/metrics").status_code == 401


def test_a_program_on_this_machine_sees_metrics(service: Service) -> None:
    client = TestClient(service.app, base_url=LOCAL, client=("127.0.0.1", 5000))
    text = client.get("/metrics").text
    assert 'crowdpilot_votes{state="voted"} 0' in text
    assert 'crowdpilot_requests_total{status="200"}' in client.get("/metrics").text


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "192.0.2.1"},
        {"x-forwarded-for": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"},
        {"x-real-ip": "127.0.0.1"},
        {"host": "label.example.org"},
    ],
)
def test_what_a_proxy_on_this_machine_passes_on_is_not_local(
    service: Service, headers: dict[str, str]
) -> None:
    client = TestClient(service.app, base_url=LOCAL, client=("127.0.0.1", 5000), headers=headers)
    assert client.get("/metrics").status_code == 401


def test_metrics_need_the_key_of_an_operator(service: Service) -> None:
    from crowdpilot.service.store.requesters import keys, members

    with service.store.writing() as c:
        operator = members.find_or_create(c, "operator", operator=True).id
        member = members.find_or_create(c, "member").id
        made = {
            200: keys.create(c, operator, "monitor", "read"),
            403: keys.create(c, member, "member", "admin"),
        }
        limited = keys.create(c, operator, "limited", "read", projects=["0" * 12])
    for status, key in (*made.items(), (403, limited), (401, "cp_0_0")):
        assert service.http.get("/metrics", headers={"X-API-Key": key}).status_code == status
