"""The page about the command line equals the help of the commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import crowdpilot

HOME = Path(crowdpilot.__file__).parents[1]


def test_the_page_is_up_to_date() -> None:
    """If it is not, `make docs` writes it again."""
    command = ["typer", "crowdpilot.cli", "utils", "docs", "--name", "crowdpilot"]
    printed = subprocess.run(
        [sys.executable, "-m", *command], cwd=HOME, check=True, capture_output=True, text=True
    )
    page = (HOME / "docs" / "cli.md").read_text()
    assert page.split("\n", 1)[1].strip() == printed.stdout.split("\n", 1)[1].strip()
