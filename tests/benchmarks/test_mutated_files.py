"""The benchmark of changed files counts every file once by layout, and once for each of its changes."""

from __future__ import annotations

from benchmarks.mutated_files import OUTCOMES, measure, render
from tests.io.mutated.trials import run


def test_every_file_is_counted() -> None:
    trials = list(run(range(30)))
    record = measure(trials)
    changes = sum(max(1, len(trial.mutations)) for trial in trials)
    assert sum(record["all"][outcome] for outcome in OUTCOMES) == 30
    assert sum(row[outcome] for row in record["layouts"].values() for outcome in OUTCOMES) == 30
    assert sum(row[outcome] for row in record["mutations"].values() for outcome in OUTCOMES) == changes
    assert "30 files" in render(record)
