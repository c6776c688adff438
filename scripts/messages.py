"""Bring the catalogues of the worker pages up to date: `python scripts/messages.py`.

It collects every sentence that workers may see, from templates, scripts and code, and writes those that a
catalogue lacks into it, without a translation. What is no longer used goes away.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from babel.messages import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from crowdpilot.service.pages.languages import ENGLISH, LOCALES, WORKER_SCRIPTS, script_messages
from crowdpilot.service.schemas.project import LANGUAGES

HOME = Path(__file__).parents[1]
SERVICE = HOME / "crowdpilot" / "service"
PAGES = SERVICE / "pages"
TEMPLATES = [PAGES / "templates" / "base.html", *sorted((PAGES / "templates" / "worker").rglob("*.html"))]
SCRIPTS = [PAGES / "static" / name for name in WORKER_SCRIPTS]
CODE = [  # whose messages reach workers
    *sorted((PAGES / "worker").rglob("*.py")),
    PAGES / "rendering.py",
    PAGES / "languages.py",
    *(SERVICE / "http" / name for name in ("responses.py", "rate_limits.py")),
    *sorted(set((SERVICE / "labelling").rglob("*.py")) - {SERVICE / "labelling" / "external_votes.py"}),
    *(SERVICE / "platforms" / name for name in (
        "invitation_links.py", "mturk_external_question.py", "platform.py", "prolific/arrival.py",
        "signed_tokens.py",
    )),
    *(SERVICE / "store" / name for name in (
        "answers/writing.py", "answers/undoing.py", "arrivals/assignments.py", "arrivals/invitations.py",
        "comments.py", "leases.py", "projects.py", "workers.py",
    )),
]  # fmt: skip
TEMPLATE_OPTIONS = {"newstyle_gettext": "true", "trimmed": "false", "silent": "false"}
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {forms}\\n"

"""
FUNCTIONS = {"_", "gettext", "translatable"}
NOT_SHOWN = {"ValueError", "ServiceUnavailableError"}  # errors whose messages workers never see


class Sentence(NamedTuple):
    """A sentence, or its singular and plural, and the file that has it."""

    words: str | tuple[str, ...]
    file: Path


def sentences() -> Iterator[Sentence]:
    """Every sentence that workers may see, as often as there are places that say it."""
    for path in TEMPLATES:
        with path.open("rb") as file:
            for _, _, words, _ in babel_extract(file, ("_", "gettext", "ngettext"), [], TEMPLATE_OPTIONS):
                texts = tuple(text for text in ([words] if isinstance(words, str) else words or []) if text)
                if texts:  # none: the name of a step, which is in the code
                    yield Sentence(_one_or_two(texts), path)
    for path in SCRIPTS:
        yield from (Sentence(_one_or_two(texts), path) for texts in script_messages(path.name))
    for path in CODE:
        if path.exists():
            yield from (Sentence(words, path) for words in _sentences_of_code(ast.parse(path.read_text())))


def _one_or_two(texts: tuple[str, ...]) -> str | tuple[str, ...]:
    return texts if len(texts) > 1 else texts[0]


def _sentences_of_code(tree: ast.AST) -> Iterator[str | tuple[str, ...]]:
    """The texts in calls of `gettext` and the like, and of errors."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        name = node.func.id
        texts = [
            arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        ]
        if name == "ngettext" and len(texts) == 2:
            yield texts[0], texts[1]
        elif texts and (name in FUNCTIONS or (name.endswith("Error") and name not in NOT_SHOWN)):
            yield texts[0]


def template() -> Catalog:
    """All sentences without translations, each with the files that have it."""
    found = Catalog(project="crowdpilot", charset="utf-8")
    for words, file in sentences():
        found.add(words, locations=[(file.relative_to(HOME).as_posix(), 0)])
    return found


def read(language: str) -> Catalog:
    """The catalogue of a language, empty if there is none yet."""
    path = path_of(language)
    if not path.exists():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def path_of(language: str) -> Path:
    """The file of a catalogue."""
    return LOCALES / language / "LC_MESSAGES" / "worker.po"


def updated(catalogue: Catalog, wanted: Catalog) -> Catalog:
    """A catalogue with exactly the wanted sentences, and the translations that are known."""
    result = Catalog(locale=catalogue.locale, charset="utf-8")
    for message in wanted:
        if message.id:
            known: Any = catalogue.get(message.id)
            words = known.string if known is not None and known.id == message.id else ""
            result.add(message.id, words, sorted(set(message.locations)), sorted(message.flags))
    return result


def main() -> None:
    """Update the catalogue of each language, and say what is not translated."""
    wanted = template()
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        result = updated(read(language), wanted)
        path_of(language).parent.mkdir(parents=True, exist_ok=True)
        with path_of(language).open("wb") as file:
            file.write(HEADER.format(language=language, forms=result.plural_forms).encode())
            write_po(file, result, width=110, omit_header=True, include_lineno=False, sort_by_file=True)
        missing = sum(not all([m.string] if isinstance(m.string, str) else m.string) for m in result if m.id)
        print(f"{language}: {len(result)} sentences, {missing} not translated")


if __name__ == "__main__":
    main()
