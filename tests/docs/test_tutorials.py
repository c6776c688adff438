"""Tutorials can be followed from the page alone: nothing that a reader does not see is needed.

The site runs the blocks of each page in an empty folder, so a page without hidden blocks makes all its files.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.hooks.blocks import blocks

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
OF_THE_PROJECT = re.compile(
    r"\bmake [a-z]+\b|\.venv\b|\b(?:docs|tests|benchmarks)[./]\w|/tmp/|constraints\.txt"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_block_of_a_tutorial_is_hidden(page: Path) -> None:
    assert [block.code for block in blocks(page.read_text()) if block.hidden] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_needs_no_copy_of_the_project(page: Path) -> None:
    run = [block.code for block in blocks(page.read_text()) if block.is_run]
    assert [found for code in run for found in OF_THE_PROJECT.findall(code)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_says_first_what_to_install(page: Path) -> None:
    assert "`pip install" in page.read_text().partition("\n## ")[0]
