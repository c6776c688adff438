"""What the README shows can be done: every block in it is run, as those of the docs are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.aggregation import MODELS
from docs.hooks import notebook
from docs.hooks.blocks import Block, blocks

HOME = Path(crowdpilot.__file__).parents[1]
README = (HOME / "README.md").read_text()
OURS = [block for block in blocks(README) if not block.code.startswith("make ")]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Block, str]]:
    """What comes of every block, in their order, in one folder."""
    found = notebook.run(OURS, tmp_path_factory.mktemp("readme"))
    return list(zip(OURS, (output.text for output in found), strict=True))


def test_every_block_runs(outputs: list[tuple[Block, str]]) -> None:
    """The two commands for a copy of the project are tried by whoever runs this."""
    kinds = [block.language for block, _ in outputs]
    assert {"csv", "python", "sh", "console"} == set(kinds)
    assert len([block for block in blocks(README) if block.code.startswith("make ")]) == 1


def test_the_library_gives_labels_and_skills(outputs: list[tuple[Block, str]]) -> None:
    said = next(text for block, text in outputs if block.language == "python")
    assert said.startswith("['bird' 'fish' 'bird']")
    assert all(name in said for name in ("ann", "bob", "cem"))


def test_all_strategies_are_named() -> None:
    listed = README.partition("## Strategies")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(MODELS)
    assert f"{len(MODELS)} aggregators" in README


def test_its_links_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (HOME / link.partition("#")[0]).exists()] == []


def test_its_targets_are_in_the_makefile() -> None:
    makefile = (HOME / "Makefile").read_text()
    targets = set(re.findall(r"(?:^|`)make ([\w-]+)", README, re.MULTILINE))
    assert {"demo", "test", "site"} == targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
