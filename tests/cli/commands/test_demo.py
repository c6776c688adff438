from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from crowdpilot.service.demo import SimulatedCrowd, compare
from crowdpilot.service.demo.cost_saving import majority_error


def test_it_labels_real_images_over_http_and_says_what_it_saved(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "crowdpilot", "demo", "--exit", "--no-open", "--seconds", "4",
               "--items", "60", "--folder", str(tmp_path)]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    found = re.search(
        r"60 images, (\d+) votes \((.+) each\), (\d+) wrong; .*: (-?\d+)% of the votes saved", result.stdout
    )
    assert found, result.stdout
    assert int(found[3]) <= 6
    assert "watch it at http://127.0.0.1" in result.stderr
    assert "<html" in (tmp_path / "report.html").read_text()


def test_the_crowd_is_as_good_as_it_is_said_to_be() -> None:
    crowd = SimulatedCrowd([0, 1, 2, 3] * 2000, classes=4, seed=0)
    right = (crowd.answers == crowd.truth).mean(axis=1)
    np.testing.assert_allclose(right[crowd.skill > 0], crowd.skill[crowd.skill > 0], atol=0.03)
    assert (crowd.answers[crowd.skill == 0] == 0).all()


def test_the_saving_is_beside_the_fewest_votes_that_err_as_rarely() -> None:
    crowd = SimulatedCrowd([0, 1] * 200, classes=2, seed=0)
    goal = majority_error(crowd, 5, seed=0)
    saving = compare(crowd, votes=2.0, error=goal)
    assert saving.reached
    assert saving.fixed <= 5
    assert saving.share == 1 - 2 / saving.fixed


def test_errors_that_no_majority_reaches_are_said_to_be_so() -> None:
    assert not compare(SimulatedCrowd([0, 1] * 50, classes=2, seed=0), votes=2.0, error=-1.0).reached
