"""What `crowdpilot` alone says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import crowdpilot
from crowdpilot.cli.welcome import find_votes
from tests.cli.listing import commands

Run = Callable[..., Result]


def steps(page: str) -> list[str]:
    return re.findall(r"^  crowdpilot (.+?)(?:   .*)?$", page, re.MULTILINE)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder."""
    monkeypatch.chdir(tmp_path)


def test_it_says_in_a_few_lines_what_to_do_next(nowhere: None, cli: Run) -> None:
    result = cli()
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) < 20
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert "aggregate votes.csv" in steps(result.stdout)
    assert "--help" in steps(result.stdout)


def test_every_step_is_a_command(nowhere: None, cli: Run) -> None:
    named = {step.split()[0] for step in steps(cli().stdout)} - {"--help"}
    assert named <= {name.split()[0] for name in commands()}
    assert len(named) >= 4


def test_votes_that_lie_here_are_named(here: Path, cli: Run) -> None:
    (here / "votes.csv").rename("my crowd.csv")
    (here / "bad.csv").unlink()
    (here / "a.csv").write_text("x,y\n1,2\n")
    page = cli().stdout
    assert "my crowd.csv looks like votes" in page
    assert "aggregate 'my crowd.csv'" in steps(page)
    assert cli("aggregate", "my crowd.csv").exit_code == 0


@pytest.mark.parametrize(
    ("first", "is_votes"),
    [
        ("task,worker,label", True),
        ("Item ID;Annotator;Answer", True),
        ("WorkerId\tInput.url\tAnswer.choice", True),
        ("task,label", False),
        ("date,amount", False),
        ("", False),
    ],
)
def test_votes_are_known_by_the_names_of_columns(first: str, is_votes: bool, tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text(f"{first}\n1,2,3\n")
    assert (find_votes(tmp_path) is not None) == is_votes


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\0" * 5000)
    (tmp_path / "c.csv").symlink_to("nowhere")
    assert find_votes(tmp_path) is None


HEAVY = {"numpy", "scipy", "pyarrow", "torch", "matplotlib", "fastapi", "sqlalchemy", "pandas", "sklearn"}
CODE = """
import atexit, runpy, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
runpy.run_module("crowdpilot", run_name="__main__")
"""


def loaded_by(*typed: str) -> set[str]:
    """The modules in memory when a command has ended."""
    env = {**os.environ, "PYTHONPATH": str(Path(crowdpilot.__file__).parents[1])}
    command = [sys.executable, "-c", CODE, *typed]
    return set(subprocess.run(command, env=env, capture_output=True, text=True).stderr.split())


@pytest.mark.parametrize("typed", ["", "--help", "--version", "agregate votes.csv"])
def test_nothing_heavy_is_loaded_to_say_so(typed: str, here: Path) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(*typed.split())}
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_commands_are_loaded_only_when_they_are_called(here: Path) -> None:
    names = [name for name in loaded_by("--help") if name.startswith("crowdpilot.cli.")]
    loaded = ("common_options", "group", "peerannot_arguments", "shared", "shared.output")
    assert set(names) == {f"crowdpilot.cli.{name}" for name in loaded}
