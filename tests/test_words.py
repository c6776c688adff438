"""The vocabulary: the field's own terms, and none of the metaphors that once stood in their place."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
SOURCES = sorted(p for folder in ("crowdpilot", "tests", "benchmarks", "examples", "scripts", "docs")
                 for p in (HOME / folder).rglob("*.py") if p != Path(__file__))  # fmt: skip
PAGES = sorted([*HOME.glob("*.md"), *(HOME / "docs").rglob("*.md"), *(HOME / "crowdpilot").rglob("*.html")])

ANYWHERE = re.compile(  # in names, docstrings, messages, comments, pages and docs
    r"(?i)(?<![a-z])("
    r"beliefs?|believe[sd]?|believing|(over)?heard|foretells?|foretold|foretelling|foresees?|foreseen|boldness|"
    r"takings?|lendings?|desks?|seats?|mirrors?|lessons?|wish(es)?|crews?|staff|strides?|couriers?|doors|journeys?|"
    r"programmes?|gifts?|refusals?"
    r")(?![a-z])"
)
IN_NAMES = re.compile(r"(?i)(places?|sights?|told|guard|reception|bench|hear|heat|climbs?|leaps?|sayings?)")
OF_OTHER_LIBRARIES = {"stride", "strides", "as_strided"}  # of arrays: numpy, torch
OF_PLATFORMS = {  # Prolific calls the workers that a study admits its places
    "crowdpilot/service/schemas/project.py", "crowdpilot/service/pages/dashboard/recruiting/page.py",
    "crowdpilot/service/requesters/recruiting/submissions_needed.py",
}  # fmt: skip
INSTEAD = "see the glossary in docs/glossary.md for the usual term"


def words_of(identifier: str) -> list[str]:
    """`LeaseQueue` and `lease_queue` are both lease and queue."""
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)


def tokens(path: Path) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(path.read_text()).readline)


def found_in_text(text: str, line: int = 1) -> list[str]:
    """The forbidden words in a piece of prose, each with its line."""
    return [f"{line + text.count(chr(10), 0, m.start())}: {m[1]}" for m in ANYWHERE.finditer(text)]


def is_wrong_name(name: str) -> bool:
    """Whether an identifier holds a forbidden word; the name of a test is a sentence."""
    words = words_of(name)
    if name.startswith("test_") or name in OF_OTHER_LIBRARIES:
        return name not in OF_OTHER_LIBRARIES and any(ANYWHERE.fullmatch(word) for word in words)
    return any(ANYWHERE.fullmatch(word) or IN_NAMES.fullmatch(word) for word in words)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(HOME)))
def test_code_speaks_the_language_of_the_field(path: Path) -> None:
    wrong: list[str] = found_in_text(str(path.relative_to(HOME)), line=0)
    for token in tokens(path):
        if token.type == tokenize.NAME:
            wrong += [f"{token.start[0]}: {token.string}"] * is_wrong_name(token.string)
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            wrong += found_in_text(token.string, token.start[0])
    if path.name == "vision.py":
        wrong = [word for word in wrong if not word.endswith(": stride")]
    name = path.relative_to(HOME).as_posix()
    if name in OF_PLATFORMS or "prolific" in name:
        wrong = [word for word in wrong if not re.search(r": (.*_)?places(_.*)?$", word, re.IGNORECASE)]
    assert wrong == [], INSTEAD


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(HOME)))
def test_pages_speak_the_language_of_the_field(path: Path) -> None:
    assert found_in_text(path.read_text()) == [], INSTEAD


@pytest.mark.parametrize("path", sorted((HOME / "crowdpilot").rglob("*.py")), ids=lambda path: path.stem)
def test_what_is_given_is_called_by_what_it_is(path: Path) -> None:
    """In tests `given` is hypothesis'."""
    names = {token.string for token in tokens(path) if token.type == tokenize.NAME}
    assert "given" not in names | {path.stem}
