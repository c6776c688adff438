from __future__ import annotations

import threading

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from crowdpilot.service.store import Store, migrate
from crowdpilot.service.store.migration import is_current, schema_revision
from crowdpilot.service.store.tables import metadata


def test_a_migrated_database_has_exactly_the_schema_of_the_tables(database_url):
    store = Store(database_url)
    assert not is_current(store)
    migrate(store)
    assert is_current(store)
    with store.reading() as c:
        assert compare_metadata(MigrationContext.configure(c), metadata) == []
    store.close()


def test_several_processes_may_migrate_at_once_and_again(database_url):
    stores = [Store(database_url) for _ in range(4)]
    failed: list[BaseException] = []

    def go(store: Store) -> None:
        try:
            migrate(store)
            migrate(store)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=go, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert all(is_current(store) for store in stores)
    for store in stores:
        store.close()


def test_a_database_of_a_newer_version_is_refused_and_not_changed(database_url):
    store = Store(database_url)
    migrate(store)
    with store.writing() as c:
        c.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ValueError, match=r"made by a newer version of crowdpilot.*; upgrade crowdpilot"):
        migrate(store)
    assert not is_current(store)
    with store.reading() as c:
        assert schema_revision(c) == "9999"
    store.close()
