"""Rendering: templates with everything escaped, and addresses of static files that change with them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

HERE = Path(__file__).parent
STATIC = HERE / "static"  # to be served at /static


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


def render(template: str, /, **data: object) -> str:
    """The text of a page or of a part of it."""
    return templates().get_template(template).render(data)


def page(template: str, /, status: int = 200, **data: object) -> HTMLResponse:
    """A page as an answer, which no cache may keep."""
    return HTMLResponse(render(template, **data), status, {"Cache-Control": "no-store"})
