"""Parts of pages that are made from the package are up to date, so that the tree can be read unbuilt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.reporting import plots
from docs.hooks import api_index, generated
from docs.hooks.generated import DOCS, PARTS, filled, on_site, with_parts


@pytest.mark.parametrize("page", with_parts(), ids=lambda page: page.name)
def test_made_parts_of_a_page_are_of_this_version(page: Path) -> None:
    """If one is not, `make docs` writes it again."""
    assert page.read_text() == filled(page.read_text())


def test_every_part_stands_on_a_page() -> None:
    used = {found["name"] for page in with_parts() for found in generated.PART.finditer(page.read_text())}
    assert used == PARTS.keys()


def test_every_public_name_has_a_sentence_and_a_file() -> None:
    names = [*api_index.verbs_and_nouns(), *(n for m in api_index.modules() for n in api_index.names_of(m))]
    assert {name.name for name in api_index.verbs_and_nouns()} == set(crowdpilot.__all__)
    assert [n.name for n in names if not n.sentence.endswith((".", "?"))] == []
    assert [n.file for n in names if not (generated.ROOT / n.file).is_file()] == []


def test_the_tree_has_an_entrance_with_every_page() -> None:
    entrance = (DOCS / "README.md").read_text()
    left_out = {"README.md"}
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - left_out
    assert sorted(page for page in pages if f"]({page})" not in entrance) == []


def test_no_page_shows_a_list_only_when_the_site_is_built() -> None:
    made = re.compile(r"Markdown\(")
    assert [page.name for page in DOCS.rglob("*.md") if made.search(page.read_text())] == []


def test_links_to_files_of_the_project_become_pages_of_the_site() -> None:
    text = "[a](../CHANGELOG.md) [b](../benchmarks/results/speed.md#x) [c](votes.md)"
    assert on_site(text, "votes.md") == "[a](changelog.md) [b](benchmarks/speed.md#x) [c](votes.md)"
    deep = "[a](../../CHANGELOG.md) [b](../../benchmarks/results/speed.md)"
    assert on_site(deep, "tutorials/labels.md") == "[a](../changelog.md) [b](../benchmarks/speed.md)"


def test_the_gallery_has_every_plot_with_its_code() -> None:
    page = (DOCS / "plots.md").read_text()
    parts = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    assert sorted(parts) == sorted(plots.__all__)
    assert [name for name, part in parts.items() if f"plots.{name}(" not in part] == []
