"""Links of all Markdown files lead somewhere in the tree as it is, without a site being built."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify

from docs.hooks.blocks import COMMENT, FENCE

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
IMAGE_OR_LINK = re.compile(r"(?:src|href)=[\"']([^\"']+)[\"']")
HEADING = re.compile(r"^#{1,6} +(.+?)(?: *\{ *#([\w-]+) *\})?$", re.MULTILINE)


def markdown_files() -> list[Path]:
    """All Markdown files of the project; a copy without git has them too."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    files = [ROOT / name for name in listed.stdout.split()] or [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
    ]
    return sorted(path for path in files if path.exists())


def prose(text: str) -> str:
    """A page without blocks, comments and code in a line."""
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "x", COMMENT.sub(" ", FENCE.sub("\n", text)))


def links(text: str) -> list[str]:
    """The relative links of a page."""
    found = [*LINK.findall(prose(text)), *IMAGE_OR_LINK.findall(prose(text))]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def code_host_slug(heading: str) -> str:
    """The anchor that a code host gives a heading: every blank becomes a hyphen."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The anchors of a page that a code host and the site agree on."""
    text = COMMENT.sub(" ", FENCE.sub("\n", page.read_text()))
    plain = [(re.sub(r"[`*]|\]\([^)]*\)|\[", "", head), own) for head, own in HEADING.findall(text)]
    return {
        own or slugify(head, "-") for head, own in plain if own or slugify(head, "-") == code_host_slug(head)
    }


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    lost = []
    for link in links(page.read_text()):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            lost.append(link)
    return lost


@pytest.mark.parametrize("page", markdown_files(), ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_and_anchors_exist_in_the_tree(page: Path) -> None:
    assert broken(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A `b` c\n\n[x](#a-b-c) [x](#d) [x](page.md) [x](lost.md) `[x](code.md)` [x](https://example.org)\n"
        "```md\n[x](block.md)\n```\n<a href='gone.md'>x</a> ![x](page.md#a-b-c)\n"
    )
    assert broken(page) == ["#d", "lost.md", "gone.md"]
