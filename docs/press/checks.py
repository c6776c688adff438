"""What must be true of the site that was built: links lead somewhere, the search knows every term."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

from docs.press import glossary


class _Page(HTMLParser):
    """The places of a page that can be led to, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places.update(value for name in ("id", "name") if (value := given.get(name)))
        if tag != "link" or given.get("rel") == "stylesheet":  # others say what a page is called elsewhere
            self.links += [value for name in ("href", "src") if (value := given.get(name))]


def dead_links(site: Path) -> Iterator[str]:
    """Every link within the site that leads nowhere, and every file asked of elsewhere."""
    pages = {path: _Page(path.read_text()) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            if problem := _problem(site, pages, path, link):
                yield f"{path.relative_to(site)}: {link} {problem}"


def _problem(site: Path, pages: dict[Path, _Page], path: Path, link: str) -> str | None:
    address, place = urldefrag(link)
    if "://" in address or address.startswith(("mailto:", "data:", "javascript:", "//")):
        return None
    base = site if address.startswith("/") else path.parent
    target = (base / unquote(address).lstrip("/")).resolve() if address else path
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return "leads nowhere"
    if place and target in pages and unquote(place) not in pages[target].places:
        return "leads to no place on its page"
    return None


def lost_terms(site: Path, text: str) -> list[str]:
    """The entries of the glossary that the search of the site does not know."""
    index = json.loads((site / "search" / "search_index.json").read_text())
    known = {
        doc["location"].partition("glossary/#")[2]: doc
        for doc in index["docs"]
        if "glossary/#" in doc["location"]
    }
    return [entry.term for entry in glossary.entries(text) if entry.anchor not in known]
