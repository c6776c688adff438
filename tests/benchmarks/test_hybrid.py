from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import hybrid
from benchmarks.hybrid_tables import Curves, area, needed, render
from crowdpilot.simulation import one_coin


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "dog"
    folder.mkdir()
    votes, truth = one_coin(tasks=60, skill=[0.9, 0.8, 0.8, 0.7, 0.7, 0.6], seed=0)
    rows = zip(votes.task.tolist(), votes.worker.tolist(), votes.label.tolist(), strict=True)
    said = "".join(f"{t},{w},{label}\n" for t, w, label in rows)
    (folder / "answers.csv").write_text("task,worker,label\n" + said)
    (folder / "truth.csv").write_text("task,label\n" + "".join(f"{t},{k}\n" for t, k in enumerate(truth)))
    return tmp_path


def test_all_policies_are_run_and_compared(data):
    work = hybrid.jobs_for(data, ["dog"], 1)
    runs = [hybrid.run(*job) for job in work if job[2] in ("value", "fixed[votes=5]")]
    found = {"price": 0.02, "campaigns": len(runs), "of": len(work), "seconds": 1.0}
    text = render(found | {"curves": hybrid.summarize(runs)})
    assert text.count("| dog, ") >= 9  # three tables, three ratios
    assert "nan" not in text


def test_a_missed_positive_costs_the_ratio():
    np.testing.assert_array_equal(hybrid.costs_of(2, 5, 0.1).errors, [[0, 1], [5, 0]])
    np.testing.assert_array_equal(hybrid.costs_of(3, 5, 0.1).errors, [[0, 5, 5], [1, 0, 1], [1, 1, 0]])


def test_curves_are_read_as_they_are_drawn():
    curve = {"grid": [0.0, 1.0, 2.0], "loss": [0.4, 0.2, 0.1], "end": {"votes": 2.0, "loss": 0.1}, "seeds": 1}
    assert needed(curve, 0.2) == 1.0
    assert np.isinf(needed(curve, 0.05))
    assert area(curve, 2.0) == pytest.approx(0.225, abs=0.001)


def test_others_are_given_the_best_stop_but_not_a_blind_one():
    curve = {"grid": [0.0, 0.5, 1.0, 2.0], "loss": [0.0, 0.3, 0.2, 0.19], "seeds": 1}
    curves = Curves({"price": 0.02, "curves": {"x|posterior_threshold[threshold=.9995]|1|0.02": curve}})
    total, votes, loss = curves.others("x", "1")["posterior_threshold[threshold=.9995]"]
    assert (total, votes, loss) == pytest.approx((0.22, 1.0, 0.2))
