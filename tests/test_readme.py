"""The README: every block runs, as those of the docs do; its links, targets and lists are right."""

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
    """Every block with its output, run in their order in one folder."""
    texts = [output.text for output in notebook.run(OURS, tmp_path_factory.mktemp("readme"))]
    return list(zip(OURS, texts, strict=True))


def test_every_block_runs(outputs: list[tuple[Block, str]]) -> None:
    """Except the block with `make demo` and `make test`, which would run these tests again."""
    kinds = [block.language for block, _ in outputs]
    assert {"csv", "python", "sh", "console"} == set(kinds)
    assert len([block for block in blocks(README) if block.code.startswith("make ")]) == 1


def test_the_library_gives_labels_and_skills(outputs: list[tuple[Block, str]]) -> None:
    printed = next(text for block, text in outputs if block.language == "python")
    assert printed.startswith("['bird' 'fish' 'bird']")
    assert all(name in printed for name in ("ann", "bob", "cem"))


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
