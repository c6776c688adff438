"""Cookies of people who sign in to the dashboard, and where they go next."""

from __future__ import annotations

from typing import Literal

from fastapi.responses import Response

from crowdpilot.service.http.base_path import cookie_path
from crowdpilot.service.pages.dashboard.access.requester import SESSION_COOKIE
from crowdpilot.service.pages.dashboard.access.sessions import SESSION_SECONDS, sign_session
from crowdpilot.service.pages.rendering import page
from crowdpilot.service.settings import Settings

HOME = "/projects"
DASHBOARD_PATHS = (HOME, "/keys", "/members", "/log")


def set_session(response: Response, settings: Settings, session: str) -> None:
    """Keep the session with this id in a cookie."""
    set_cookie(response, settings, SESSION_COOKIE, sign_session(settings.secret, session), SESSION_SECONDS)


def set_cookie(
    response: Response, settings: Settings, name: str, value: str, seconds: float,
    *, same_site: Literal["strict", "lax"] = "strict",
) -> None:  # fmt: skip
    """Set a cookie that no script reads and that goes to our own pages only."""
    response.set_cookie(
        name, value, max_age=int(seconds), path=cookie_path(), httponly=True, samesite=same_site,
        secure=settings.secure,
    )  # fmt: skip


def welcome(settings: Settings, session: str, next: str) -> Response:
    """A page for somebody who has come from another site and is signed in now.

    It goes on by itself instead of a redirect, with which a browser would not send the strict cookie.
    """
    response = page("dashboard/welcome.html", next=next if is_dashboard_path(next) else HOME)
    set_session(response, settings, session)
    return response


def is_dashboard_path(address: str) -> bool:
    """Whether an address is on the dashboard, so that nobody is sent to another site."""
    path = address.partition("?")[0]
    if any(sign in address for sign in ("//", "\\", "..")) or not address.isprintable():
        return False
    return path in DASHBOARD_PATHS or path.startswith(tuple(f"{one}/" for one in DASHBOARD_PATHS))
