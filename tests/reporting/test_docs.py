"""The page about reports lists all plots."""

from __future__ import annotations

from pathlib import Path

import crowdpilot
from crowdpilot.reporting import plots

PAGE = Path(crowdpilot.__file__).parents[1] / "docs" / "reporting.md"


def test_every_plot_is_listed() -> None:
    listed = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [name for name in plots.__all__ if not any(f"| `{name}" in line for line in listed)] == []


def test_its_picture_is_small() -> None:
    assert (PAGE.parent / "images" / "report.png").stat().st_size < 400_000
