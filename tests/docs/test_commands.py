"""Commands behind a `$`, which install, stay or take hours and so are not run, are checked."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from packaging.requirements import Requirement
from typer.core import TyperGroup

from crowdpilot.cli import app
from docs.hooks.blocks import blocks

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NOT_OURS = ("docker", "pipx", "uvx", "git", "cd")  # tests/packaging has what they do
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {ROOT / "docs" / "cli.md"})]


def commands(page: Path) -> list[str]:
    """The commands of a page, without their comments and their output."""
    code = "\n".join(block.code for block in blocks(page.read_text()) if block.language == "console")
    return [line.replace("\\\n", " ") for line in re.findall(r"^\$ ((?:.*\\\n)*.*)", code, re.MULTILINE)]


def check(command: str) -> None:
    """Raise if a command names what is not there: an extra, an option, a module."""
    match shlex.split(command, comments=True):
        case ["pip", "install", *_, wanted]:
            here = re.sub(r"^\.(?=\[|$)", "crowdpilot", wanted)
            assert Requirement(here).extras <= EXTRAS.keys(), f"{command}: no such extra"
        case ["crowdpilot", *words]:
            found = typer.main.get_command(app)
            while isinstance(found, TyperGroup) and words:
                found = found.get_command(typer.Context(found), word := words.pop(0))
                assert found, f"{command}: no command {word}"
            found.make_context("crowdpilot", words)  # parses them, and runs nothing
        case ["python", "-m", module, *words]:
            assert importlib.util.find_spec(module), f"{command}: no such module"
            options = [word for word in words if word.startswith("--")]
            assert not options or all(option in usage(module) for option in options), (
                f"{command}: no such option"
            )
        case [program, *_]:
            assert program in NOT_OURS, f"{command}: nobody knows how to check it"


def usage(module: str) -> str:
    return subprocess.check_output([sys.executable, "-m", module, "--help"], cwd=ROOT, text=True)


def marked(page: Path) -> Any:
    """A page as a parameter; to ask benchmarks for their options takes half a minute."""
    marks = [pytest.mark.thorough] if "benchmarks" in page.name else []
    return pytest.param(page, id=page.name, marks=marks)


@pytest.mark.parametrize("page", [marked(page) for page in PAGES if commands(page)])
def test_commands_that_are_shown_exist(page: Path) -> None:
    for command in commands(page):
        check(command)


@pytest.mark.parametrize(
    "command",
    [
        "crowdpilot serve --nonsense",
        "crowdpilot nonsense",
        "pip install 'crowdpilot[nonsense]'",
        "python -m benchmarks.nonsense",
        "python -m benchmarks.speed --nonsense",
        "nonsense",
    ],
)
def test_a_command_that_is_wrong_is_found(command: str) -> None:
    with pytest.raises(Exception, match=r"[Nn]o such|nobody knows|no command"):
        check(command)
