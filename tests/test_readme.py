"""The README: every block runs, as those of the docs do; its links, targets and lists are right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import crowdpilot
from crowdpilot.aggregation import MODELS
from docs.hooks import notebook
from docs.hooks.blocks import blocks
from tests.docs.test_commands import check

HOME = Path(crowdpilot.__file__).parents[1]
README = (HOME / "README.md").read_text()
OURS = [block for block in blocks(README) if not block.code.startswith("make ")]


@pytest.mark.thorough  # a Jupyter kernel, and a process for each command
def test_every_block_runs(tmp_path: Path) -> None:
    """Except the block with `make demo` and `make test`, which would run these tests again."""
    outputs = notebook.run(OURS, tmp_path)
    assert len(outputs) == len(OURS)
    assert {"csv", "python", "text", "sh", "console"} == {block.language for block in OURS}
    assert len([block for block in blocks(README) if block.code.startswith("make ")]) == 1


def test_python_blocks_print_what_is_shown_below_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    shown = [block for block in OURS if block.language in ("csv", "python", "text")]
    for block, below in zip(shown, [*shown[1:], None], strict=True):
        if block.language == "csv":
            Path(block.options["title"]).write_text(block.code)
        elif block.language == "python":
            exec(block.code, names)
            printed = below.code if below is not None and below.language == "text" else ""
            assert capsys.readouterr().out == printed
    assert len([block for block in shown if block.language == "text"]) == 3


def test_commands_exist_with_their_options() -> None:
    lines = [line for block in OURS if block.language == "sh" for line in block.code.splitlines()]
    assert len(lines) >= 5
    for line in lines:
        check(line)


def test_all_strategies_are_named() -> None:
    listed = README.partition("## Strategies")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(MODELS)
    assert f"{len(MODELS)} aggregators" in README


def test_its_links_have_targets() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (HOME / link.partition("#")[0]).exists()] == []


def test_its_targets_are_in_the_makefile() -> None:
    makefile = (HOME / "Makefile").read_text()
    targets = set(re.findall(r"(?:^|`)make ([\w-]+)", README, re.MULTILINE))
    assert {"demo", "test", "site"} == targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
