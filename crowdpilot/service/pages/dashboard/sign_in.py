"""Sign-in to the dashboard: with an API key or a link, kept in a signed cookie for half a day."""

from __future__ import annotations

import secrets as random
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.datastructures import FormData

from crowdpilot.service.errors import ForbiddenError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.pages.dashboard.sessions import (
    SESSION_SECONDS,
    csrf_token,
    read_login_token,
    read_session,
    sign_session,
)
from crowdpilot.service.pages.rendering import page
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import TokenError, TokenExpiredError, digest, is_same
from crowdpilot.service.store import keys
from crowdpilot.service.store.engine import Row, Store

SESSION_COOKIE, LOGIN_COOKIE = "session", "login"  # who is signed in; who sees the form to sign in
LOGIN_COOKIE_SECONDS = 3600.0
MAX_FILES_PER_FORM, MAX_FIELDS_PER_FORM = 5000, 1000
HOME = "/projects"
STALE_PAGE = "the page is out of date; load it again and repeat what you did"


class SignInRequiredError(Exception):
    """The sender is not signed in, or not any more."""


class Requester(NamedTuple):
    """Somebody who is signed in: the row of their API key, and the CSRF token of their session."""

    key: Row
    csrf: str

    @property
    def id(self) -> str:
        """The id of the key."""
        return str(self.key.id)

    @property
    def name(self) -> str:
        """The name of the key."""
        return str(self.key.name)

    @property
    def writes(self) -> bool:
        """Whether they may change projects."""
        return "write" in self.key.scopes

    @property
    def admin(self) -> bool:
        """Whether they may make and revoke keys."""
        return "admin" in self.key.scopes


class DashboardRoute(APIRoute):
    """A route of the dashboard: who is not signed in is sent to do so, and errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def respond(request: Request) -> Response:
            try:
                return await handle(request)
            except SignInRequiredError:
                if "hx-request" in request.headers:
                    return Response(status_code=204, headers={"HX-Redirect": "/login"})
                back = f"?next={quote(request.url.path)}" if request.method == "GET" else ""
                return go(f"/login{back}")
            except RequestError as error:
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                return page("dashboard/error.html", error.status, words=str(error))

        return respond


def signed_in(request: Request, store: StoreOf, settings: SettingsOf) -> Requester:
    """The requester of the session cookie, as long as their key is not revoked."""
    try:
        session = read_session(settings.secret, request.cookies.get(SESSION_COOKIE, ""))
    except TokenError:
        raise SignInRequiredError from None
    return Requester(_find_key(store, session.key), csrf_token(settings.secret, session.id))


Reading = Annotated[Requester, Depends(signed_in)]


async def read_form(request: Request) -> AsyncIterator[FormData]:
    """The form of a request, with its files."""
    async with request.form(max_files=MAX_FILES_PER_FORM, max_fields=MAX_FIELDS_PER_FORM) as form:
        yield form


Form = Annotated[FormData, Depends(read_form)]


def posting(request: Request, requester: Reading, form: Form) -> Requester:
    """A requester who posts a form of our own pages; a `ForbiddenError` without its CSRF token."""
    token = request.headers.get("X-CSRF-Token") or form.get("csrf")
    if not isinstance(token, str) or not is_same(token, requester.csrf):
        raise ForbiddenError(STALE_PAGE)
    return requester


def writing(requester: Annotated[Requester, Depends(posting)]) -> Requester:
    """A requester who posts a form, with a key that allows to write."""
    if not requester.writes:
        raise ForbiddenError("your key only allows to read; sign in with one that allows to write")
    return requester


def reading_as_admin(requester: Reading) -> Requester:
    """A requester whose key allows everything, who reads."""
    if not requester.admin:
        raise ForbiddenError("your key does not allow to see or change keys; sign in with one that does")
    return requester


def posting_as_admin(requester: Annotated[Requester, Depends(posting)]) -> Requester:
    """A requester whose key allows everything, who posts a form."""
    return reading_as_admin(requester)


Posting = Annotated[Requester, Depends(posting)]
Writing = Annotated[Requester, Depends(writing)]
ReadingAsAdmin = Annotated[Requester, Depends(reading_as_admin)]
PostingAsAdmin = Annotated[Requester, Depends(posting_as_admin)]


# Routes ---------------------------------------------------------------------------------------


def sign_in_pages() -> APIRouter:
    """The routes for signing in and out."""
    routes = APIRouter(include_in_schema=False, route_class=DashboardRoute)
    routes.add_api_route("/", show_home, methods=["GET"], response_model=None)
    routes.add_api_route("/login", show_login, methods=["GET"], response_model=None)
    routes.add_api_route("/login", log_in, methods=["POST"], response_model=None)
    routes.add_api_route("/logout", log_out, methods=["POST"], response_model=None)
    return routes


def show_home(requester: Reading) -> Response:
    """The first page."""
    return go(HOME)


def show_login(request: Request, store: StoreOf, settings: SettingsOf, next: str = "") -> Response:
    """The form that takes a key; with a login link nothing needs to be typed."""
    if token := request.query_params.get("token", ""):
        return _log_in_by_link(store, settings, token, next)
    return _login_form(request, settings, next)


def log_in(request: Request, form: Form, store: StoreOf, settings: SettingsOf) -> Response:
    """Sign in with a key."""
    token, next = (str(form.get(name, "")) for name in ("csrf", "next"))
    if not is_same(token, csrf_token(settings.secret, request.cookies.get(LOGIN_COOKIE, ""))):
        raise ForbiddenError(STALE_PAGE)
    try:
        with store.writing() as c:
            key = keys.find(c, str(form.get("key", "")).strip())
            keys.log_action(c, key.id, "sign in")
    except RequestError:
        wrong = "This key is not valid. Check that you have copied all of it."
        return _login_form(request, settings, next, wrong)
    response = go(next if _is_dashboard_path(next) else HOME)
    _start_session(response, settings, key.id)
    response.delete_cookie(LOGIN_COOKIE)
    return response


def log_out(requester: Posting) -> Response:
    """Sign out."""
    response = go("/login")
    response.delete_cookie(SESSION_COOKIE)
    return response


def _log_in_by_link(store: Store, settings: Settings, token: str, next: str) -> Response:
    """Sign in once with a link.

    The page goes on by itself instead of a redirect: a strict cookie would not be sent along when the link
    was opened from another site.
    """
    try:
        key_id = read_login_token(settings.secret, token)
    except TokenExpiredError:
        raise ForbiddenError("this link has expired; start the service again for a new one") from None
    except TokenError:
        raise ForbiddenError("this link is not valid; copy all of it, or sign in with a key") from None
    with store.writing() as c:
        if keys.is_link_used(c, key_id, digest(token)):
            raise ForbiddenError("this link has been used; start the service again for a new one")
        keys.log_action(c, key_id, keys.SIGN_IN_BY_LINK, link=digest(token))
    key = _find_key(store, key_id)
    response = page("dashboard/welcome.html", next=next if _is_dashboard_path(next) else HOME)
    _start_session(response, settings, key.id)
    return response


def _login_form(request: Request, settings: Settings, next: str, wrong: str = "") -> Response:
    visitor = request.cookies.get(LOGIN_COOKIE) or random.token_hex(16)
    csrf = csrf_token(settings.secret, visitor)
    response = page("dashboard/login.html", 422 if wrong else 200, csrf=csrf, next=next, wrong=wrong)
    _set_cookie(response, settings, LOGIN_COOKIE, visitor, LOGIN_COOKIE_SECONDS)
    return response


def _start_session(response: Response, settings: Settings, key: str) -> None:
    _set_cookie(response, settings, SESSION_COOKIE, sign_session(settings.secret, key), SESSION_SECONDS)


def _set_cookie(response: Response, settings: Settings, name: str, value: str, seconds: float) -> None:
    response.set_cookie(
        name, value, max_age=int(seconds), httponly=True, samesite="strict", secure=settings.secure
    )


def _find_key(store: Store, id: str) -> Row:
    with store.reading() as c:
        valid = [key for key in keys.list_all(c) if key.id == id and key.revoked is None]
    if not valid:
        raise SignInRequiredError
    return valid[0]


def _is_dashboard_path(address: str) -> bool:
    """Whether an address is on the dashboard, so that nobody is sent to another site."""
    return address.startswith((HOME, "/keys")) and "//" not in address and "\\" not in address


def go(where: str) -> Response:
    """Send somebody to another page, such as after a change."""
    return RedirectResponse(where, 303, {"Cache-Control": "no-store"})
