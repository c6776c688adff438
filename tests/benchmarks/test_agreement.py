"""The benchmark of agreement compares what it says, on few inputs and without peers."""

from __future__ import annotations

from benchmarks import agreement


def test_all_measures_are_those_of_others() -> None:
    rows = agreement.compare(inputs=4, with_peers=False)
    assert {row["package"] for row in rows} == {"krippendorff", "statsmodels", "scikit-learn"}
    assert all(row["largest_difference"] < 1e-9 and row["values"] >= 4 for row in rows)


def test_reading_and_measuring_are_timed_and_shown() -> None:
    seconds = agreement.time_all(rows=1000, repeats=2)
    assert all(len(times) == 2 and min(times) > 0 for times in seconds.values())
    row = {"package": "irrCAC", "measure": "AC1", "inputs": 200, "values": 200, "largest_difference": 2e-15}
    record = {"machine": "2 cores", "load": 0.5, "equality": [row], "rows": 1000, "seconds": seconds}
    text = agreement.render(record)
    assert "| AC1 | irrCAC | 200 | 200 | 2.0e-15 |" in text
    assert "1,000 simulated votes on 100 tasks" in text
    assert "| reading the file |" in text
