"""The base path: under https://example.org/label, every address of ours begins with /label.

Inside the service paths have no base: `BasePathMiddleware` strips it from requests, and `url` adds it to
whatever a browser is told: links, redirects, forms, images. So it works whether a proxy strips it or not.
"""

from __future__ import annotations

from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

# Of the request being answered: templates and redirects are functions that know neither request nor settings.
_base: ContextVar[str] = ContextVar("base", default="")


class BasePathMiddleware:
    """Strips the base path from requests that carry it.

    Parameters
    ----------
    app
        The application behind it.
    base
        Such as `/label`, or nothing.
    """

    def __init__(self, app: ASGIApp, *, base: str) -> None:
        self.app, self.base = app, base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _base.set(self.base)
            path = scope["path"]
            if self.base and (path == self.base or path.startswith(f"{self.base}/")):
                # In place, so that the handler of unexpected errors, further out, sees the same path.
                scope["path"] = path.removeprefix(self.base) or "/"
        await self.app(scope, receive, send)


def url(address: str) -> str:
    """An address for a browser: a path of ours gets the base path, any other address is left as it is."""
    ours = address.startswith("/") and not address.startswith("//")
    return f"{_base.get()}{address}" if ours else address


def cookie_path() -> str:
    """The path of cookies of the whole service."""
    return _base.get() or "/"
