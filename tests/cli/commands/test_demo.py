from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough  # it starts the service and takes half a minute


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
