"""Rendering of pages: escaped templates, addresses of static files, and error pages."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from crowdpilot.service.errors import translatable
from crowdpilot.service.http.base_path import url
from crowdpilot.service.pages import languages
from crowdpilot.service.pages.languages import gettext as _
from crowdpilot.service.pages.markdown import markdown
from crowdpilot.service.platforms import Platform, mturk_external_question

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"  # to be served at /static
OWN_PLATFORM = Platform("Crowdpilot")  # no frames, and forms are posted to us only
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "media-src 'self' https:; "
    "connect-src 'self'; base-uri 'none'"
)


class ErrorText(NamedTuple):
    """How an error page describes an error."""

    icon: str
    title: str
    words: str = ""  # instead of the message, where that says little
    again: bool = False  # whether to try again may help


ERROR_TEXTS = {
    401: ErrorText("lock", translatable("Please open your link again")),
    403: ErrorText("lock", translatable("This is not open to you")),
    404: ErrorText(
        "search",
        translatable("There is nothing here"),
        translatable("Check the link you were given, or ask who sent it to you."),
    ),
    409: ErrorText("hand", translatable("That is not possible now")),
    429: ErrorText(
        "clock",
        translatable("A little slower, please"),
        translatable("Wait a minute, then go on. Your work is saved."),
        True,
    ),
    503: ErrorText(
        "cloud",
        translatable("One moment, please"),
        translatable("We are back in a moment. Your work is saved."),
        True,
    ),
}
TOO_MANY_GUESTS = ErrorText("clock", translatable("Many people have just come"), again=True)
OTHER_REQUEST_ERROR = ErrorText("hand", translatable("That did not work"))
SERVER_ERROR = ErrorText(
    "cloud",
    translatable("Something went wrong on our side"),
    translatable("Your work is saved. Try again in a moment."),
    True,
)


def static(name: str) -> str:
    """The address of a static file, which changes when its content does."""
    return url(f"/static/{name}?v={_digest(name)[:10]}")


@cache
def _digest(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()


@cache
def templates() -> Environment:
    """All templates; an undefined name is an error, never an empty string."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.filters["markdown"] = markdown
    environment.globals.update(
        static=static, url=url, language=languages.language, direction=languages.direction,
        format_number=languages.format_number, format_money=languages.format_money,
        script_words=languages.script_words,
    )  # fmt: skip
    environment.install_gettext_callables(  # type: ignore[attr-defined]  # made by the extension
        languages.find, languages.find_plural, newstyle=True
    )
    return environment


def render(template: str, /, **data: Any) -> str:
    """The text of a page or of a part of it."""
    return templates().get_template(template).render(data)


def page(template: str, /, status: int = 200, platform: Platform = OWN_PLATFORM, **data: Any) -> HTMLResponse:
    """A page as an answer, which no cache may keep and which loads nothing from elsewhere but media."""
    policy = f"{CONTENT_SECURITY_POLICY}; {platform.policy}"
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": policy}
    return HTMLResponse(render(template, status=status, **data), status, headers)


def error_page(request: Request, status: int, message: str) -> HTMLResponse:
    """An error in plain words; its message is in the language of the request already."""
    text = ERROR_TEXTS.get(status, SERVER_ERROR if status >= 500 else OTHER_REQUEST_ERROR)
    if status == 429 and "invite" in request.query_params:
        text = TOO_MANY_GUESTS
    words = _(text.words) if text.words else sentence(message)
    again = f"?{request.url.query}" if text.again and request.method == "GET" else ""
    framed = (
        mturk_external_question.PLATFORM
        if "submit_to" in request.cookies or request.url.path.endswith("/mturk")
        else OWN_PLATFORM
    )
    data = {"kind": text.icon, "title": _(text.title), "words": words, "again": again}
    return page("worker/error.html", status, framed, **data)


def sentence(message: str) -> str:
    """A message with a capital letter and a full stop.

    Examples
    --------
    >>> sentence("check the link")
    'Check the link.'
    """
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "!", "?")) else ".")
