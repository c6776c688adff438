"""Languages of the worker pages: which one a request is answered in, and the sentences of each.

The sentences stand in English in templates, scripts and code; `locale/LANGUAGE/LC_MESSAGES/worker.po` has
them in each other language. `make messages` brings those files up to date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from babel import Locale, negotiate_locale
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_currency, format_decimal
from babel.support import NullTranslations, Translations
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from crowdpilot.service.errors import translatable
from crowdpilot.service.schemas.project import LANGUAGES

FOLDER = Path(__file__).parent
LOCALES = FOLDER / "locale"
ENGLISH = LANGUAGES[0]
WORKER_PATH = re.compile(r"/w/([^/]*)")
WORKER_SCRIPTS = (  # of all worker pages
    "pages.js", "outbox.js", "item_media.js", "image_tools.js", "remarks.js", "answer_search.js",
    "presence.js", "waiting.js", "worker.js",
)  # fmt: skip
SCRIPT_KEYWORDS = {"say": None, "sayCount": (2, 3)}  # as babel counts arguments
GENERAL_ERROR = translatable("that did not work; load the page again and repeat what you did")
PLURAL_NUMBERS = 200  # among which there is one of each plural category
MAX_ACCEPTED = 20  # languages of a browser that are looked at

# Of the request being answered: templates and messages are functions that do not know the request.
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def use(language: str) -> None:
    """Answer the present request in this language."""
    _language.set(language if language in LANGUAGES else ENGLISH)


def language() -> str:
    """The language of the present request, such as `de`."""
    return _language.get()


def direction() -> str:
    """Whether the language of the present request is written from left to right, or right to left."""
    return Locale(language()).text_direction


def preferred(accept: str) -> str:
    """The language that fits the header `Accept-Language` best, else English.

    Examples
    --------
    >>> preferred("pt-BR, de-AT;q=0.8, en;q=0.5"), preferred("tlh"), preferred("")
    ('de', 'en', 'en')
    """
    ranges = [part.strip().partition(";") for part in accept.split(",")[:MAX_ACCEPTED]]
    wanted = sorted(
        ((_weight(rest), name.strip().lower()) for name, _, rest in ranges), key=lambda one: -one[0]
    )
    names = [name for weight, name in wanted if weight > 0]
    return negotiate_locale(names, LANGUAGES, sep="-") or ENGLISH


def _weight(parameters: str) -> float:
    found = re.fullmatch(r"\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", parameters)
    return float(found[1]) if found else 1.0


class LanguageMiddleware:
    """Chooses the language of each request: for worker pages the project's or the browser's, else English.

    Parameters
    ----------
    app
        The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            use(_choose(scope))
        await self.app(scope, receive, send)


def _choose(scope: Scope) -> str:
    found = WORKER_PATH.match(scope["path"])
    if not found:
        return ENGLISH
    accept = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    known: dict[str, str] = scope["app"].state.project_languages
    return known.get(found[1]) or preferred(accept)


def use_project(app: FastAPI, project: str, spec: Mapping[str, Any]) -> None:
    """Answer in the language of a project, if it has one, now and from the beginning of later requests."""
    known: dict[str, str] = app.state.project_languages
    known[project] = spec["language"]
    if spec["language"]:
        use(spec["language"])


@cache
def catalogue(language: str) -> NullTranslations:
    """The sentences of a language."""
    if language == ENGLISH:
        return NullTranslations()
    compiled = BytesIO()
    with (LOCALES / language / "LC_MESSAGES" / "worker.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return Translations(compiled)


def find(message: str) -> str:
    """A sentence in the language of the present request, with its placeholders."""
    return catalogue(language()).gettext(message)


def find_plural(singular: str, plural: str, num: int) -> str:
    """The form of a sentence for a number, with its placeholders."""
    return catalogue(language()).ngettext(singular, plural, num)


def gettext(message: str, /, **values: object) -> str:
    """A sentence in the language of the present request, with its values filled in."""
    return find(message) % values if values else find(message)


def ngettext(singular: str, plural: str, num: int, /, **values: object) -> str:
    """The same, of a sentence that depends on a number, `%(num)s`."""
    return find_plural(singular, plural, num) % {"num": format_number(num), **values}


def translate_error(message: str, values: Mapping[str, object]) -> str:
    """The message of an error; one that is in no catalogue, such as a framework's, becomes a general one."""
    if language() != ENGLISH and find(message) == message:
        return gettext(GENERAL_ERROR)
    return gettext(message, **values)


def format_number(value: float) -> str:
    """A number as it is written in the language of the present request."""
    return format_decimal(value, locale=language())


def format_money(amount: float, currency: str) -> str:
    """An amount of money as it is written in the language of the present request."""
    return format_currency(amount, currency, locale=language())


@cache
def script_messages(script: str) -> tuple[tuple[str, ...], ...]:
    """The sentences in calls of `say` and `sayCount`: a singular, or a singular and a plural."""
    with (FOLDER / "static" / script).open("rb") as file:
        found = [words for _, words, _, _ in extract("javascript", file, SCRIPT_KEYWORDS)]
    return tuple((words,) if isinstance(words, str) else tuple(words) for words in found)


def script_words() -> dict[str, str | dict[str, str]]:
    """The sentences of the scripts in the language of the present request, by the English ones.

    One that depends on a number has a form for each plural category, as `Intl.PluralRules` names them.
    """
    if language() == ENGLISH:
        return {}
    found = [messages for script in WORKER_SCRIPTS for messages in script_messages(script)]
    return {messages[0]: _script_word(messages) for messages in found}


def _script_word(messages: tuple[str, ...]) -> str | dict[str, str]:
    if len(messages) == 1:
        return find(messages[0])
    category = Locale(language()).plural_form
    return {category(n): find_plural(messages[0], messages[1], n) for n in range(PLURAL_NUMBERS)}
