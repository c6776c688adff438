"""Terms of the glossary: what they are, and links to them from the first use on every page."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown.extensions.toc import slugify

ENTRY = re.compile(
    r"^## (?P<term>.+?)\n+(?:\*Also:\* (?P<also>.+?)\n+)?(?P<meaning>.*?)(?=^## |\Z)", re.M | re.S
)
APART = {
    "a",
    "code",
    "pre",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "script",
    "style",
    "button",
    "label",
    "svg",
    "th",
}
EMPTY = {"br", "hr", "img", "input", "link", "meta", "source", "wbr", "col"}


@dataclass(frozen=True)
class Entry:
    """A term, other ways to write it, which of them are names in code, and what it means."""

    term: str
    also: tuple[str, ...]
    meaning: str
    coded: frozenset[str] = frozenset()

    @property
    def anchor(self) -> str:
        """Where it stands on its page."""
        return slugify(self.term, "-")

    @property
    def brief(self) -> str:
        """The first sentence, without marks."""
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
    """Links the first use of each term on a page to its entry; `names in code` mean other things in prose."""

    def __init__(self, text: str) -> None:
        self._entries = {e.anchor: e for e in entries(text)}
        names = {n: e.anchor for e in self._entries.values() for n in (e.term, *e.also) if n not in e.coded}
        self._exact = {name: anchor for name, anchor in names.items() if name.lower() != name}
        self._any = {name: anchor for name, anchor in names.items() if name.lower() == name}
        found = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w./-])(?:{found})(?:e?s)?(?![\w-])", re.I)

    def link(self, page: str, address: str) -> str:
        """The HTML of a page with links to the entries at an address."""
        writer = _Writer(self, address)
        writer.feed(page)
        writer.close()
        return "".join(writer.out)

    def anchor(self, word: str) -> str | None:
        """The entry of a word as it stands on a page; abbreviations keep their capitals."""
        for name in (word, word.removesuffix("s"), word.removesuffix("es")):
            if found := self._exact.get(name) or self._any.get(name.lower()):
                return found
        return None

    def in_text(self, text: str, seen: set[str], address: str) -> str:
        """Text with a link at each term that was not seen before."""

        def linked(match: re.Match[str]) -> str:
            anchor = self.anchor(html.unescape(match[0]))
            if anchor is None or anchor in seen:
                return match[0]
            seen.add(anchor)
            brief = html.escape(self._entries[anchor].brief, quote=True)
            return f'<a class="term" href="{address}#{anchor}" title="{brief}">{match[0]}</a>'

        return self._pattern.sub(linked, text)


@dataclass
class _Writer(HTMLParser):
    """Writes a page again as it was, but for the text that may hold terms."""

    linker: Linker
    address: str
    out: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=False)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.out.append(self.get_starttag_text() or "")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.out.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self.out.append(f"</{tag}>")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        apart = APART.intersection(self.open)
        self.out.append(data if apart else self.linker.in_text(data, self.seen, self.address))

    def handle_entityref(self, name: str) -> None:
        self.out.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.out.append(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self.out.append(f"<!--{data}-->")
