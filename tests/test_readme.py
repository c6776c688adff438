"""What the README shows can be done."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import crowdpilot
from crowdpilot.aggregate import MODELS
from crowdpilot.cli import app

HOME = Path(crowdpilot.__file__).parents[1]
README = (HOME / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def draw_tasks(folder: Path) -> None:
    """The content of the three tasks, as numbers and as pictures, and that of new ones."""
    rng = np.random.default_rng(0)
    np.savez(folder / "features.npz", task=["owl", "eel", "emu"], x=rng.normal(size=(3, 4)))
    np.savez(folder / "new.npz", task=["ant", "bee"], x=rng.normal(size=(2, 4)))
    (folder / "texts.csv").write_text("task,text\nowl,it flies at night\neel,it swims\nemu,it runs\n")
    (folder / "photos").mkdir()
    for name in ("owl", "eel", "emu"):
        pixels = rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "photos" / f"{name}.png")


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the file of votes that the README shows."""
    (votes,) = blocks("csv")
    (tmp_path / "votes.csv").write_text(votes)
    draw_tasks(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_its_commands_run_one_after_the_other(newcomer: Path) -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("crowdpilot ")]
    results = [CliRunner().invoke(app, shlex.split(line, comments=True)[1:]) for line in lines]
    assert len(results) >= 9
    assert [result.stderr for result in results if result.exit_code] == []
    assert results[0].stdout.startswith("task,label,confidence\nowl,bird,")
    made = {
        "labels.csv",
        "workers.csv",
        "crowd.csv",
        "truth.csv",
        "crowd_labels.csv",
        "crowd.parquet",
        "new.csv",
    }
    assert made <= {path.name for path in newcomer.iterdir()}


def test_its_python_runs(newcomer: Path) -> None:
    names: dict[str, Any] = {}
    exec("".join(blocks("python")), names)
    assert names["result"].labels.tolist() == ["bird", "fish", "bird"]


def test_its_strategies_exist() -> None:
    table = README.partition("## Strategies")[2].partition("\n## ")[0]
    rows = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 20
    assert named - set(MODELS) == set()


def test_its_links_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (HOME / link.partition("#")[0]).exists()] == []


def test_its_targets_are_in_the_makefile() -> None:
    makefile = (HOME / "Makefile").read_text()
    targets = set(re.findall(r"^make ([\w-]+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert targets == {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
