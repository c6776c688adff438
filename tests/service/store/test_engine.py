"""Connections to both kinds of database behave alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.errors import RequestError, ServiceUnavailableError
from crowdpilot.service.logs import describe
from crowdpilot.service.store import Store, migrate, projects
from tests.service.harness.fault_crowd import make_project


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = Store(database_url)
    migrate(made)
    yield made
    made.close()


def test_a_read_transaction_sees_one_state(store: Store) -> None:
    project = make_project(store, 3, 1, 900)
    with store.reading() as reader:
        before = projects.find(reader, project).change_number
        with store.writing() as writer:
            projects.next_change(writer, project)
        assert projects.find(reader, project).change_number == before
    with store.reading() as reader:
        assert projects.find(reader, project).change_number == before + 1


def test_a_failed_write_transaction_is_rolled_back(store: Store) -> None:
    project = make_project(store, 3, 1, 900)

    def fail() -> None:
        with store.writing() as c:
            projects.change(c, project, name="other")
            projects.find(c, "nothing")

    with pytest.raises(RequestError):
        fail()
    with store.reading() as c:
        assert projects.find(c, project).name == "faults"


def test_migrating_twice_changes_nothing(store: Store) -> None:
    project = make_project(store, 3, 1, 900)
    migrate(store)
    with store.reading() as c:
        assert projects.find(c, project).id == project


def test_sqlite_is_durable(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'test.db'}")
    with store.writing() as c:
        found = [c.execute(text(f"PRAGMA {name}")).scalar_one() for name in ("journal_mode", "synchronous")]
    store.close()
    assert found == ["wal", 2]


def test_a_missing_database_is_unavailable(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path / 'no folder' / 'x.db'}", "postgresql://nobody@127.0.0.1:9/nothing"):
        store = Store(url)
        with pytest.raises(ServiceUnavailableError), store.writing():
            pass
        store.close()


def test_the_log_of_an_error_does_not_hold_the_values_of_a_statement(store: Store) -> None:
    with pytest.raises(IntegrityError) as caught, store.writing() as c:
        c.execute(
            text("INSERT INTO members (id, name) VALUES (:id, :name)"), {"id": "x", "name": "Ann Smith"}
        )
    assert "IntegrityError" in describe(caught.value)
    assert "Ann Smith" not in describe(caught.value)
