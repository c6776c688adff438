"""Parts of pages that are made from the package: `python -m docs.hooks.generated` writes them into the pages.

They stand in the pages between two comments, so that a reader of the tree sees them, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from docs.hooks import api_index, code_map, notebook_pages, tables

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PART = re.compile(
    r"(?P<begin><!-- made by docs/hooks: (?P<name>\w+) -->\n\n).*?(?P<end>\n\n<!-- end -->)", re.DOTALL
)
MADE_PAGES = {  # of the site, and the file of the project that each is made of
    "changelog.md": "../CHANGELOG.md",
    "benchmarks/": "../benchmarks/results/",
    "notebooks/": "../examples/notebooks/",
}


def pages() -> str:
    """The pages of the site in the order of its menu, as nested lists."""
    return "\n".join(_menu(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"], ""))


def _menu(entries: list[Any], indent: str) -> Iterator[str]:
    for entry in entries:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            yield f"{indent}- {title}"
            yield from _menu(target, f"{indent}    ")
        elif not target.startswith("reference/"):
            yield f"{indent}- [{title}]({_in_tree(target)})"


def _in_tree(target: str) -> str:
    """The file behind an entry of the menu."""
    if target in (notebooks := notebook_pages.pages()):
        return f"../{notebooks[target].relative_to(ROOT).as_posix()}"
    for made, file in MADE_PAGES.items():
        if target.startswith(made):
            found = file + target.removeprefix(made)
            return found.replace(".md", ".ipynb") if made == "notebooks/" else found
    return target


PARTS: dict[str, Callable[[], str]] = {
    "api_index": api_index.index,
    "architecture": tables.architecture,
    "code_map": code_map.code_map,
    "datasets": tables.datasets,
    "pages": pages,
    "strategies": tables.strategies,
}


def filled(text: str) -> str:
    """A page with its parts as they are now."""
    return PART.sub(lambda found: found["begin"] + PARTS[found["name"]]() + found["end"], text)


def on_site(markdown: str, uri: str) -> str:
    """A page whose links lead to pages of the site where the tree has files."""
    if uri == "api.md":
        made = api_index.index(lambda name: name.reference)
        markdown = PART.sub(lambda found: found["begin"] + made + found["end"], markdown)
    for made, file in MADE_PAGES.items():
        markdown = re.sub(rf"\]\(((?:\.\./)*){re.escape(file)}", rf"](\1{made}", markdown)
    return markdown


def with_parts() -> list[Path]:
    """The pages that have such parts."""
    return [page for page in sorted(DOCS.rglob("*.md")) if PART.search(page.read_text())]


if __name__ == "__main__":
    for page in with_parts():
        page.write_text(filled(page.read_text()))
