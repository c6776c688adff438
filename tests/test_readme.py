"""What the README shows can be done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.aggregate import MODELS

HOME = Path(crowdpilot.__file__).parents[1]
README = (HOME / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the file of votes that the README shows."""
    folder = tmp_path_factory.mktemp("newcomer")
    (votes,) = blocks("csv")
    (folder / "votes.csv").write_text(votes)
    return folder


def run(command: list[str], folder: Path) -> str:
    env = {**os.environ, "PYTHONPATH": str(HOME), "PYTHONWARNINGS": "error"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_commands_run_one_after_the_other(folder: Path) -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("crowdpilot ")]
    as_module = 'crowdpilot() { "$PYTHON" -m crowdpilot "$@"; }'
    script = "\n".join(["set -e", f"PYTHON='{sys.executable}'", as_module, *lines])
    shown = run(["bash", "-c", script], folder)
    assert len(lines) >= 9
    assert shown.startswith("task,label,confidence\nowl,bird,")
    made = {"labels.csv", "workers.csv", "crowd.csv", "truth.csv", "crowd_labels.csv", "crowd.parquet"}
    assert made <= {path.name for path in folder.iterdir()}


def test_its_python_runs(folder: Path) -> None:
    code = "".join(blocks("python")) + "print(*result.labels)"
    assert run([sys.executable, "-c", code], folder) == "bird fish bird\n"


def test_its_strategies_exist() -> None:
    table = README.partition("## Strategies")[2].partition("\n## ")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 20
    assert named - set(MODELS) == set()


def test_its_links_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (HOME / link).exists()] == []


def test_its_targets_are_in_the_makefile() -> None:
    makefile = (HOME / "Makefile").read_text()
    targets = set(re.findall(r"^make ([\w-]+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert targets == {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
