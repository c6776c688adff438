"""The page about campaigns lists all policies and fusions, and its example runs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.hybrid import FUSIONS, POLICIES

PAGE = Path(crowdpilot.__file__).parents[1] / "docs" / "hybrid.md"


def test_every_policy_and_fusion_is_listed() -> None:
    listed = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [n for n in (*POLICIES, *FUSIONS) if not any(line.startswith(f"| `{n}") for line in listed)] == []


def test_the_example_of_a_campaign_saves_money(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(PAGE.parents[1] / "examples" / "campaign.py"), run_name="__main__")
    output = capsys.readouterr().out
    assert "it decides the same: yes" in output
    assert float(output.split("instead of ")[1].split(".\n")[0]) < 60
