"""Service time: it never goes back, does not follow the wall clock, and runs at the speed of one process."""

from __future__ import annotations

import time

import pytest

from crowdpilot.service.store import clock
from crowdpilot.service.store.clock import MAX_STEP_SECONDS, Ticker
from tests.service.harness.service import migrated_store


class Hours:
    """A monotonic clock that a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.seconds)


def advance(store, ticker: Ticker) -> float:
    with store.writing() as c:
        return ticker.advance(c)


def test_service_time_follows_the_monotonic_clock_of_a_process(database_url, monkeypatch) -> None:
    store, hours, ticker = migrated_store(database_url), Hours(monkeypatch), Ticker()
    start = advance(store, ticker)
    for step in (1.0, 0.0, 2.5):
        hours.seconds += step
        monkeypatch.setattr(time, "time", lambda step=step: -1e6 * step)  # the wall clock is set
        advance(store, ticker)
    with store.reading() as c:
        assert clock.now(c) == pytest.approx(start + 3.5)
    store.close()


def test_several_processes_do_not_make_it_faster(database_url, monkeypatch) -> None:
    store, hours = migrated_store(database_url), Hours(monkeypatch)
    tickers = [Ticker() for _ in range(3)]
    start = advance(store, tickers[0])
    for n in range(60):
        hours.seconds += 1.0
        advance(store, tickers[n % 3])
        advance(store, tickers[(n + 1) % 3])
    with store.reading() as c:
        assert start < clock.now(c) <= start + 60.0
    store.close()


def test_it_stands_still_while_no_process_runs(database_url, monkeypatch) -> None:
    store, hours = migrated_store(database_url), Hours(monkeypatch)
    start = advance(store, Ticker())
    hours.seconds += 1e6
    assert advance(store, Ticker()) == start  # a process that has just started
    store.close()


def test_a_process_that_was_suspended_advances_it_by_little(database_url, monkeypatch) -> None:
    store, hours, ticker = migrated_store(database_url), Hours(monkeypatch), Ticker()
    start = advance(store, ticker)
    hours.seconds += 1e6
    assert advance(store, ticker) <= start + MAX_STEP_SECONDS
    store.close()
