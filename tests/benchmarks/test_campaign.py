from __future__ import annotations

from benchmarks.campaign import LIMITS, measure, report


def test_everything_that_has_a_limit_is_timed_as_often_as_asked():
    found = measure(items=80, K=3, calls=3, n=2, seed=0)
    assert {name: len(found[name]) for name in LIMITS} == {"ask": 3, "tell": 3}
    assert all(clock >= 0 and work >= 0 for times in found.values() for clock, work in times)
    table = report(found, 80, 3, 3, 2)
    assert table.count("\n|") == len(found) + 2
