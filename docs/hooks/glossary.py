"""Entries of the glossary, and links to them from the first use of a term on every page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from bs4 import BeautifulSoup
from bs4.element import PreformattedString
from markdown.extensions.toc import slugify

ENTRY = re.compile(
    r"^## (?P<term>.+?)\n+(?:\*Also:\* (?P<also>.+?)\n+)?(?P<meaning>.*?)(?=^## |\Z)", re.M | re.S
)
NO_LINKS_IN = {
    "a", "button", "code", "h1", "h2", "h3", "h4", "h5", "h6", "label", "pre", "script", "style", "svg", "th",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A term, other ways to write it, which of them are names in code, and what it means."""

    term: str
    also: tuple[str, ...]
    meaning: str
    coded: frozenset[str] = frozenset()

    @property
    def anchor(self) -> str:
        """The id of its heading."""
        return slugify(self.term, "-")

    @property
    def brief(self) -> str:
        """The first sentence, without markup."""
        text = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", " ".join(self.meaning.split())).replace("`", "")
        return re.split(r"(?<=[.!?]) (?=[A-Z])", text)[0]


def entries(text: str) -> list[Entry]:
    """The entries of the page, in its order."""
    return [
        Entry(
            match["term"].strip().strip("`"),
            tuple(name.strip().strip("`") for name in (match["also"] or "").split(",") if name.strip()),
            match["meaning"].strip(),
            frozenset(re.findall(r"`([^`]+)`", f"{match['term']} {match['also']}")),
        )
        for match in ENTRY.finditer(text)
    ]


def terms(text: str) -> dict[str, str]:
    """The anchor of every term and of every other way to write it, in small letters."""
    return {name.lower(): entry.anchor for entry in entries(text) for name in (entry.term, *entry.also)}


class Linker:
    """Links the first use of each term in the text of a page; names in code mean other things there."""

    def __init__(self, text: str) -> None:
        self.names = {n: e for e in entries(text) for n in (e.term, *e.also) if n not in e.coded}
        found = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        self.pattern = re.compile(rf"(?<![\w./-])(?:{found})(?:e?s)?(?![\w-])", re.I)

    def link(self, page: str, address: str) -> str:
        """The HTML of a page with links to the entries at an address."""
        soup, seen = BeautifulSoup(page, "html.parser"), set[str]()

        def linked(match: re.Match[str]) -> str:
            entry = self.entry(match[0])
            if entry is None or entry.anchor in seen:
                return match[0]
            seen.add(entry.anchor)
            title = escape(entry.brief)
            return f'<a class="term" href="{address}#{entry.anchor}" title="{title}">{match[0]}</a>'

        for text in soup.find_all(string=self.pattern):
            inside = NO_LINKS_IN.intersection(parent.name for parent in text.parents)
            is_output = text.find_parent(class_="notebook-output") is not None
            if not (inside or is_output or isinstance(text, PreformattedString)):
                text.replace_with(
                    BeautifulSoup(self.pattern.sub(linked, escape(text, quote=False)), "html.parser")
                )
        return str(soup)

    def entry(self, word: str) -> Entry | None:
        """The entry of a word as it stands on a page; a term with capitals keeps them."""
        for name in (word, word.removesuffix("s"), word.removesuffix("es")):
            if found := self.names.get(name) or self.names.get(name.lower()):
                return found
        return None
