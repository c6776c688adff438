"""The speed benchmark measures what it says, on few votes and without peers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks import peers, speed
from benchmarks.process import Job, run, save_columns
from benchmarks.simulated_votes import simulate_votes


def test_made_up_votes_have_the_sizes_asked_for_and_come_in_no_order() -> None:
    votes = simulate_votes(600, tasks=120, workers=20, classes=4)
    assert (len(votes), len(votes.tasks), len(votes.workers), len(votes.classes)) == (600, 120, 20, 4)
    assert (np.bincount(votes.task) == 5).all()
    assert (np.diff(votes.task) < 0).any()


def test_our_own_fits_run_for_the_iterations_asked_and_report_their_cost() -> None:
    job = Job("crowdpilot", "dawid_skene", {"max_iter": 7, **speed.NEVER_CONVERGED})
    comparison = speed.Comparison(
        "tiny", partial(speed.write_simulated, votes=600, tasks=120, workers=20), (job,)
    )
    (ours,) = speed.compare(comparison, peers=False, limit=60)
    assert ours["rounds"] == 7
    assert 0 < ours["memory_before_mb"] <= ours["memory_peak_mb"]
    assert ours["seconds"] > 0


def test_a_runner_gives_the_labels_by_name(tmp_path: Path) -> None:
    votes = simulate_votes(600, tasks=120, workers=20, classes=4)
    outcome = run(Job("crowdpilot", "majority_voting"), save_columns(tmp_path / "v.npz", votes), limit=60)
    assert outcome.labels is not None
    assert sorted(map(int, outcome.labels)) == list(range(120))
    assert set(outcome.labels.values()) <= {"0", "1", "2", "3"}


def test_a_fit_that_fails_or_takes_too_long_leaves_its_reason(tmp_path: Path) -> None:
    votes = save_columns(tmp_path / "v.npz", simulate_votes(600, tasks=120, workers=20, classes=4))
    assert run(Job("crowdpilot", "nobody"), votes, limit=60).reason == "KeyError: 'nobody'"
    assert run(Job("crowdpilot", "majority_voting"), votes, limit=0.001).reason == "more than 0.001 s"


def test_peers_that_are_not_installed_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CROWDPILOT_PEERS", str(tmp_path / "python"))
    with pytest.raises(ValueError, match=r"python -m benchmarks\.peers"):
        peers.python()


def test_the_report_shows_ratios_reasons_and_imports() -> None:
    ours = {"library": "crowdpilot", "seconds": 0.5, "rounds": 20}
    theirs = {"library": "crowd-kit", "seconds": 20.0, "rounds": 20, "time_ratio": 40.0}
    slow = {"library": "x", "reason": "too slow"}
    record = {
        "machine": "2 cores", "cases": {"DS": [ours, theirs], "GLAD": [slow]},
        "rows": 1000, "parquet_to_labels": {"auto": {"seconds": 3.0, "memory_peak_mb": 1234.0}},
        "import_seconds": {"numpy, scipy.sparse": 0.2, "crowdpilot": 0.25},
        "compile_seconds": 2.04,
    }  # fmt: skip
    text = speed.render(record)
    assert "| crowd-kit | 20 | 20.00 | 40.0 |" in text
    assert "x: too slow" in text
    assert "| auto | 3.0 | – | 1,234.0 |" in text
    assert "250 ms: 1.25 times" in text
    assert "takes\n2.0 s longer" in text


def test_the_command_goes_from_a_file_to_labels() -> None:
    measured = speed.run_command("majority_voting", rows=5000)
    assert measured["memory_peak_mb"] > 0
    assert measured["seconds"] > 0
