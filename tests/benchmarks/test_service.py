"""The load benchmark measures what it says, on few items and workers."""

from __future__ import annotations

import pytest

from benchmarks import service
from benchmarks.service import BARE, COLUMNS, OURS


@pytest.mark.slow
def test_the_service_and_the_bare_endpoint_take_turns_under_the_same_load() -> None:
    found = service.compare("sqlite", 3, items=3000, workers=5, rounds=1, seconds=1.0)
    assert list(found) == [OURS, *BARE]
    assert all(one["votes_per_second"] > 0 and one["vote_p99"] >= one["vote_p50"] for one in found.values())
    assert found[OURS]["next_p99"] > 0
    assert found[next(iter(BARE))]["next_p99"] is None
    assert service.ratio(found) > 0


def test_memory_for_each_vote_is_the_slope_after_the_first_votes() -> None:
    samples = [(0, 50.0), (10_000, 90.0), (20_000, 100.0), (120_000, 110.0), (220_000, 120.0)]
    found = service.growth(samples)
    assert found["per_vote"] == pytest.approx(10 * 1024**2 / 100_000)
    assert (found["first_mb"], found["last_mb"], found["votes"]) == (100.0, 120.0, 220_000)
    assert service.growth(samples[:2])["per_vote"] is None


def test_the_report_compares_with_the_faster_bare_endpoint() -> None:
    slow, fast = (dict.fromkeys(COLUMNS.values(), rate) for rate in (400.0, 800.0))
    cases = {
        "sqlite, 2 classes": dict(zip((OURS, *BARE), (slow | {"next_p50": None}, slow, fast), strict=True))
    }
    memory = service.growth([(20_000, 100.0), (120_000, 110.0)])
    record = {
        "machine": "2 cores", "items": 100_000, "workers": 200, "rounds": 3, "seconds": 10.0,
        "cases": cases, "memory": memory,
    }  # fmt: skip
    text = service.render(record)
    assert "takes 0.50 votes for each row" in text
    assert "| service | 400 | 400 | 400 | 400 | – | 400 |" in text
    assert "105 bytes for each vote" in text
