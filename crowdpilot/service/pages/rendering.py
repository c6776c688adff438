"""Rendering: templates with everything escaped, addresses of static files, and pages for errors."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from crowdpilot.service.platforms import Platform, mturk

HERE = Path(__file__).parent
STATIC = HERE / "static"  # to be served at /static
OURS = Platform("Crowdpilot")  # nobody frames our pages, and forms come back to us
SOURCES = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; base-uri 'none'"
)


class Trouble(NamedTuple):
    """How an error is told to people."""

    icon: str
    title: str
    words: str = ""  # instead of the detail, where that says little
    again: bool = False  # whether to try again may help


TROUBLES = {
    401: Trouble("lock", "Please open your link again"),
    403: Trouble("lock", "This is not open to you"),
    404: Trouble(
        "search", "There is nothing here", "Check the link you were given, or ask who sent it to you."
    ),
    409: Trouble("hand", "That is not possible now"),
    429: Trouble("clock", "A little slower, please", "Wait a minute, then go on. Your work is saved.", True),
    503: Trouble("cloud", "One moment, please", "We are back in a moment. Your work is saved.", True),
}
WRONG = Trouble("hand", "That did not work")
BROKEN = Trouble(
    "cloud", "Something went wrong on our side", "Your work is saved. Try again in a moment.", True
)


@cache
def static(name: str) -> str:
    """The address of a static file, which changes when its content does."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()
    return f"/static/{name}?v={digest[:10]}"


@cache
def templates() -> Environment:
    """All templates; an undefined name is an error, never an empty string."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["static"] = static
    return found


def render(template: str, /, **data: Any) -> str:
    """The text of a page or of a part of it."""
    return templates().get_template(template).render(data)


def page(template: str, /, status: int = 200, platform: Platform = OURS, **data: Any) -> HTMLResponse:
    """A page as an answer, which no cache may keep and which loads nothing from elsewhere but images."""
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": f"{SOURCES}; {platform.policy}"}
    return HTMLResponse(render(template, status=status, **data), status, headers)


def error_page(request: Request, status: int, detail: str) -> HTMLResponse:
    """An error in plain words."""
    trouble = TROUBLES.get(status, BROKEN if status >= 500 else WRONG)
    words = trouble.words or _sentence(detail)
    again = f"?{request.url.query}" if trouble.again and request.method == "GET" else ""
    framed = mturk.PLATFORM if "back" in request.cookies or request.url.path.endswith("/mturk") else OURS
    told = {"kind": trouble.icon, "title": trouble.title, "words": words, "again": again}
    return page("worker/error.html", status, framed, **told)


def _sentence(detail: str) -> str:
    """A detail as people write a sentence."""
    return detail[:1].upper() + detail[1:] + ("" if detail.endswith((".", "!", "?")) else ".")
