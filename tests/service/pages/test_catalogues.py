"""The catalogues: complete, with the same placeholders, and no sentence of a worker page outside of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.jslexer import tokenize
from jinja2 import nodes

from crowdpilot.service.pages.languages import ENGLISH, WORKER_SCRIPTS, script_messages
from crowdpilot.service.pages.rendering import templates
from crowdpilot.service.schemas.project import LANGUAGES
from scripts import messages

OTHERS = [language for language in LANGUAGES if language != ENGLISH]
PLACEHOLDER = re.compile(r"%\(\w+\)s")
TAG = re.compile(r"<[^>]+>")
NAMES = {"Crowdpilot", "Prolific", "MTurk", "Amazon Mechanical Turk"}
WORDS = re.compile(r"[A-Z]?[a-z]{2,}")  # a word of a sentence
BEGINNING = re.compile(r"[A-Z][a-z’']+([ .,:!?…]|$)")  # of a sentence, or a word on a button
SHOWN_ATTRIBUTES = {
    "alt",
    "aria-label",
    "aria-description",
    "aria-valuetext",
    "placeholder",
    "title",
    "label",
}
TRANSLATING = {"_", "gettext", "ngettext"}
NOT_SHOWN = re.compile(r"{% trans.*?{% endtrans %}|{% block \w+_class %}.*?{% endblock %}", re.S)
KEYS = {"Escape", "Enter", "Backspace", "Tab", "Home", "End", "Space", "Delete"}  # of `event.key`
OTHER_CALLS = {"steps"}  # whose texts are translated in there
MARKED = {"_", "gettext", "ngettext", "translatable"}


def texts(message: Message) -> list[str]:
    """The translation, or all its plural forms."""
    return [message.string] if isinstance(message.string, str) else list(message.string)


def ids(message: Message) -> list[str]:
    return [message.id] if isinstance(message.id, str) else list(message.id)


@pytest.fixture(scope="module")
def wanted() -> set[str | tuple[str, ...]]:
    return {message.id for message in messages.template() if message.id}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_exactly_the_sentences_of_the_pages(
    language: str, wanted: set[str | tuple[str, ...]]
) -> None:
    there = {message.id for message in messages.read(language) if message.id}
    assert there == wanted, "run make messages, then translate what is new"


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_translated(language: str) -> None:
    catalogue = messages.read(language)
    assert [m.id for m in catalogue if m.id and (m.fuzzy or not all(texts(m)))] == []
    assert [
        m.id for m in catalogue if not isinstance(m.id, str) and len(m.string) != catalogue.num_plurals
    ] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_placeholders_and_tags_of_its_sentence(language: str) -> None:
    """A plural form for a single number may leave the number out; nothing else of HTML may come in."""
    for message in messages.read(language):
        for pattern in (PLACEHOLDER, TAG):
            most = set(pattern.findall(ids(message)[-1]))
            least = most if isinstance(message.id, str) else most - {"%(num)s"}
            for text in texts(message) if message.id else []:
                assert least <= set(pattern.findall(text)) <= most, text
        if message.id:
            plain = "".join(TAG.sub("", text) for text in texts(message))
            assert not set('<>&"') & set(plain), plain


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_ends_as_its_sentence_does(language: str) -> None:
    """Messages of errors get their full stop where they are shown."""
    for message in messages.read(language):
        for text in texts(message) if message.id else []:
            assert text.endswith((".", "!", "؟", "?")) == ids(message)[-1].endswith((".", "!", "?")), text
            assert text == text.strip() or ids(message)[-1] != ids(message)[-1].strip(), text


def test_no_sentence_of_the_pages_has_a_bare_percent_sign(wanted: set[str | tuple[str, ...]]) -> None:
    every = [text for id in wanted for text in ([id] if isinstance(id, str) else id)]
    assert [text for text in every if "%" in PLACEHOLDER.sub("", text)] == []


# Templates ------------------------------------------------------------------------------------------


class Text(HTMLParser):
    """Collects the texts of a page that people see or hear."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.skipped = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attributes if name in SHOWN_ATTRIBUTES and value]
        self.skipped += tag in ("kbd", "script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in ("kbd", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self.skipped and data.strip():
            self.found.append(" ".join(data.split()))


def shown_texts(html: str) -> list[str]:
    parser = Text()
    parser.feed(html)
    return parser.found


@pytest.mark.parametrize("path", messages.TEMPLATES, ids=lambda path: path.name)
def test_a_template_has_no_sentence_of_its_own(path: Path) -> None:
    source = re.sub(r"{#.*?#}", "", path.read_text(), flags=re.S)
    source = re.sub(
        r"{% trans.*?{% endtrans %}|{% block \w+_class %}.*?{% endblock %}", "", source, flags=re.S
    )
    bare = [
        text
        for text in shown_texts(re.sub(r"{{.*?}}|{%.*?%}", " ", source, flags=re.S))
        if WORDS.search(text)
    ]
    assert [text for text in bare if text not in NAMES] == [], "put it into _()"


@pytest.mark.parametrize("path", messages.TEMPLATES, ids=lambda path: path.name)
def test_an_expression_in_a_template_has_no_bare_sentence(path: Path) -> None:
    tree = templates().parse(path.read_text())
    assert sorted(set(_bare_texts(tree))) == [], "put it into _()"


def _bare_texts(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Call):
        name = getattr(node.node, "name", getattr(node.node, "attr", ""))
        if name in TRANSLATING | OTHER_CALLS:
            return
    if isinstance(node, nodes.Const) and isinstance(node.value, str) and BEGINNING.match(node.value):
        yield node.value
    for child in node.iter_child_nodes():
        yield from _bare_texts(child)


# Scripts --------------------------------------------------------------------------------------------


def test_every_script_of_a_worker_page_is_in_the_catalogues() -> None:
    loaded = {
        name for path in messages.TEMPLATES for name in re.findall(r"static\('(\w+\.js)'\)", path.read_text())
    }
    assert loaded == set(WORKER_SCRIPTS)


@pytest.mark.parametrize("path", messages.SCRIPTS, ids=lambda path: path.name)
def test_a_script_has_no_sentence_outside_of_the_catalogues(path: Path) -> None:
    tokens = list(tokenize(path.read_text()))
    texts = [token.value[1:-1] for token in tokens if token.type in ("string", "template_string")]
    known = {text for message in script_messages(path.name) for text in message}
    assert [text for text in texts if BEGINNING.match(text) and text not in known | KEYS | NAMES] == [], (
        "put it into say()"
    )
    assert [text for text in texts if "${say" in text] == [], "call say() outside of the template string"


# Code -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [p for p in messages.CODE if p.exists()], ids=lambda path: path.stem)
def test_code_marks_what_workers_see(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert _unmarked_errors(tree) == [], (
        "an f-string cannot be translated: ConflictError('… %(name)s …', name=…)"
    )
    if path.parent.name == "worker":
        assert _unmarked_texts(tree) == [], "put it into _()"


def _calls(tree: ast.Module) -> list[tuple[str, ast.Call]]:
    """All calls of functions and classes, with their names."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(call.func.id, call) for call in calls if isinstance(call.func, ast.Name)]


def _unmarked_errors(tree: ast.Module) -> list[str]:
    """Errors whose message is an f-string, or a constant of the module that is not marked."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    plain = [node for node in assigned if isinstance(node.value, ast.Constant)]
    constants = {target.id for node in plain for target in node.targets if isinstance(target, ast.Name)}
    errors = [
        call for name, call in _calls(tree) if name.endswith("Error") and name not in messages.NOT_SHOWN
    ]
    messages_of = [call.args[0] for call in errors if call.args]
    wrong = [m for m in messages_of if isinstance(m, ast.JoinedStr) or getattr(m, "id", "") in constants]
    return [ast.unparse(message) for message in wrong]


def _unmarked_texts(tree: ast.Module) -> list[str]:
    """Texts that begin like a sentence, besides docstrings and what is marked."""
    marked = {id(text) for name, call in _calls(tree) if name in MARKED for text in ast.walk(call)}
    marked |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in marked]
    texts = [node.value for node in constants if isinstance(node.value, str)]
    return [text for text in texts if BEGINNING.match(text) and text not in NAMES]
