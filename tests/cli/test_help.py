"""Help of a command comes at once: nothing that computes is loaded for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.cli import COMMANDS
from tests.test_architecture import HEAVY

NAMES = [name for panel in COMMANDS.values() for name in panel]
LOADED = """
import contextlib, io, sys
from crowdpilot.cli import app
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        app([name, "--help"], prog_name="crowdpilot", standalone_mode=False)
    print(f"Usage: crowdpilot {name}" in printed.getvalue(), name, *sys.modules)
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """Top-level packages that the help of each command loads, one after the other in one process."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *NAMES],
        env={**os.environ, "PYTHONPATH": str(Path(crowdpilot.__file__).parents[1])},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["True"] * len(NAMES)
    packages = {name: {module.partition(".")[0] for module in modules} for _, name, *modules in lines}
    before = [set(), *packages.values()]
    return {name: packages[name] - earlier for name, earlier in zip(packages, before, strict=False)}


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_loads_nothing_that_computes(name: str, loaded: dict[str, set[str]]) -> None:
    heavy = {*HEAVY, "numpy", "scipy", "sqlalchemy", "fastapi", "jinja2"} - {"typer", "rich"}
    assert loaded[name] & heavy == set()
