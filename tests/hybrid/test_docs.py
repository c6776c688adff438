"""The page about the room says what is true."""

from __future__ import annotations

import doctest
from pathlib import Path

import crowdpilot
from crowdpilot.hybrid import FUSIONS, POLICIES

PAGE = Path(crowdpilot.__file__).parents[1] / "docs" / "hybrid.md"


def test_its_examples_run() -> None:
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_every_policy_and_fusion_is_listed() -> None:
    listed = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [n for n in (*POLICIES, *FUSIONS) if not any(line.startswith(f"| `{n}") for line in listed)] == []
