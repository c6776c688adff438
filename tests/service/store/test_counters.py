from __future__ import annotations

from crowdpilot.service.store import counters
from tests.service.harness.service import migrated_store


def test_events_are_counted_by_name_and_period(database_url: str) -> None:
    store = migrated_store(database_url)
    with store.writing() as c:
        assert [counters.add(c, "a", 60.0, now=t) for t in (0.0, 59.0, 60.0, 61.0)] == [1, 2, 1, 2]
        assert counters.add(c, "b", 60.0, now=61.0) == 1
        assert counters.read(c, "a", 60.0, now=70.0) == 2
        assert counters.read(c, "a", 60.0, now=121.0) == 0
        counters.reset(c, "a")
        assert counters.read(c, "a", 60.0, now=70.0) == 0
    store.close()


def test_counters_of_long_ago_are_forgotten(database_url: str) -> None:
    store = migrated_store(database_url)
    with store.writing() as c:
        counters.add(c, "old", 60.0, now=1e6)
        counters.add(c, "new", 60.0, now=2e6)
        counters.prune(c, now=2e6)
        assert counters.read(c, "old", 60.0, now=1e6) == 0
        assert counters.read(c, "new", 60.0, now=2e6) == 1
    store.close()
