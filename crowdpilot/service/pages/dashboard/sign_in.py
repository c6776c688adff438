"""Signing in to the dashboard: with an API key or a link, kept in a signed cookie for half a day."""

from __future__ import annotations

import secrets as random
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.datastructures import FormData

from crowdpilot.service.errors import ForbiddenError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.pages.rendering import page
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import derive, digest, same, sign, unsign
from crowdpilot.service.store import history, keys
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

SESSION, DOOR = "session", "door"  # cookies: who is signed in, and who is about to
LASTS = 12 * 3600.0
HOME = "/projects"
STALE = "the page is out of date; load it again and repeat what you did"


class SignIn(Exception):
    """Who asks is not signed in, or not any more."""


class Requester(NamedTuple):
    """Somebody who is signed in with a key."""

    key: Record
    csrf: str

    @property
    def id(self) -> str:
        """Of the key."""
        return str(self.key.id)

    @property
    def name(self) -> str:
        """Of the key."""
        return str(self.key.name)

    @property
    def writes(self) -> bool:
        """Whether they may change anything."""
        return "write" in self.key.scopes

    @property
    def admin(self) -> bool:
        """Whether they may make and revoke keys."""
        return "admin" in self.key.scopes


class Page(APIRoute):
    """A route of the dashboard: who is not signed in is sent to do so."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except SignIn:
                if "hx-request" in request.headers:
                    return Response(status_code=204, headers={"HX-Redirect": "/login"})
                return _go(f"/login?next={quote(request.url.path)}" if request.method == "GET" else "/login")
            except RequestError as error:
                if "text/html" not in request.headers.get("accept", ""):
                    raise
                return page("dashboard/refused.html", error.status, words=str(error))

        return answer


def signed_in(request: Request, store: StoreOf, settings: SettingsOf) -> Requester:
    """Who asks, by their cookie, as long as their key is good."""
    try:
        session = unsign(settings.secret, SESSION, request.cookies.get(SESSION, ""))
    except ValueError:
        raise SignIn from None
    if session["until"] < time.time():
        raise SignIn
    key = _key(store, session["key"])
    return Requester(key, derive(settings.secret, "csrf", session["id"]))


Reading = Annotated[Requester, Depends(signed_in)]


async def _sent(request: Request) -> AsyncIterator[FormData]:
    async with request.form(max_files=5000, max_fields=1000) as form:
        yield form


Sent = Annotated[FormData, Depends(_sent)]


def own_form(request: Request, who: Reading, sent: Sent) -> Requester:
    """Who posts a form of our own pages and may change something; refused with 403 otherwise."""
    given = request.headers.get("X-CSRF-Token") or sent.get("csrf")
    if not isinstance(given, str) or not same(given, who.csrf):
        raise ForbiddenError(STALE)
    return who


def writer(who: Annotated[Requester, Depends(own_form)]) -> Requester:
    """The same, with a key that allows to write."""
    if not who.writes:
        raise ForbiddenError("your key only allows to read; sign in with one that allows to write")
    return who


def admin(who: Annotated[Requester, Depends(own_form)]) -> Requester:
    """The same, with a key that allows everything."""
    return only_admin(who)


def only_admin(who: Reading) -> Requester:
    """Somebody whose key allows everything, who only looks."""
    if not who.admin:
        raise ForbiddenError("your key does not allow to see or change keys; sign in with one that does")
    return who


Posting = Annotated[Requester, Depends(own_form)]
Writing = Annotated[Requester, Depends(writer)]
Admin = Annotated[Requester, Depends(admin)]
AdminReading = Annotated[Requester, Depends(only_admin)]


# Routes ---------------------------------------------------------------------------------------


def login_pages() -> APIRouter:
    """The routes for signing in and out."""
    routes = APIRouter(include_in_schema=False, route_class=Page)
    routes.add_api_route("/", start, methods=["GET"], response_model=None)
    routes.add_api_route("/login", show_login, methods=["GET"], response_model=None)
    routes.add_api_route("/login", log_in, methods=["POST"], response_model=None)
    routes.add_api_route("/logout", log_out, methods=["POST"], response_model=None)
    return routes


def start(who: Reading) -> Response:
    """Where everybody begins."""
    return _go(HOME)


def show_login(request: Request, store: StoreOf, settings: SettingsOf, next: str = "") -> Response:
    """The form that takes a key; with a link nothing needs to be typed."""
    if token := request.query_params.get("token", ""):
        return _by_link(store, settings, token, next)
    return _form(request, settings, next)


def log_in(request: Request, sent: Sent, store: StoreOf, settings: SettingsOf) -> Response:
    """Sign in with a key."""
    given, next = (str(sent.get(name, "")) for name in ("csrf", "next"))
    if not same(given, derive(settings.secret, "csrf", request.cookies.get(DOOR, ""))):
        raise ForbiddenError(STALE)
    try:
        with store.writing() as c:
            key = keys.find(c, str(sent.get("key", "")).strip())
            keys.note(c, key.id, "sign in")
    except RequestError:
        return _form(request, settings, next, "This key is not valid. Check that you have copied all of it.")
    response = _go(next if _is_ours(next) else HOME)
    _seat(response, settings, key.id)
    response.delete_cookie(DOOR)
    return response


def log_out(who: Posting) -> Response:
    """Sign out."""
    response = _go("/login")
    response.delete_cookie(SESSION)
    return response


def _by_link(store: Store, settings: Settings, token: str, next: str) -> Response:
    """Sign in once with a link.

    The browser goes on by itself instead of being sent on: a strict cookie would not be sent along when
    the link was opened from another site.
    """
    try:
        said = unsign(settings.secret, "login", token)
    except ValueError:
        raise ForbiddenError("this link is not valid; copy all of it, or sign in with a key") from None
    with store.writing() as c:
        if said["until"] < time.time() or history.is_used(c, said["key"], digest(token)):
            raise ForbiddenError(
                "this link has been used or has ended; start the service again for a new one"
            )
        keys.note(c, said["key"], history.LINK, link=digest(token))
    key = _key(store, said["key"])
    response = page("dashboard/welcome.html", next=next if _is_ours(next) else HOME)
    _seat(response, settings, key.id)
    return response


def _form(request: Request, settings: Settings, next: str, wrong: str = "") -> Response:
    door = request.cookies.get(DOOR) or random.token_hex(16)
    csrf = derive(settings.secret, "csrf", door)
    response = page("dashboard/login.html", 422 if wrong else 200, csrf=csrf, next=next, wrong=wrong)
    _give(response, settings, DOOR, door, 3600.0)
    return response


def _seat(response: Response, settings: Settings, key: str) -> None:
    session = {"id": random.token_hex(16), "key": key, "until": time.time() + LASTS}
    _give(response, settings, SESSION, sign(settings.secret, SESSION, session), LASTS)


def _give(response: Response, settings: Settings, name: str, value: str, lasts: float) -> None:
    response.set_cookie(
        name, value, max_age=int(lasts), httponly=True, samesite="strict", secure=settings.secure
    )


def _key(store: Store, id: str) -> Record:
    with store.reading() as c:
        found = [key for key in keys.listed(c) if key.id == id and key.revoked is None]
    if not found:
        raise SignIn
    return found[0]


def _is_ours(address: str) -> bool:
    """Whether an address is on the dashboard, so that nobody is sent elsewhere."""
    return address.startswith((HOME, "/keys")) and "//" not in address and "\\" not in address


def _go(where: str) -> Response:
    return RedirectResponse(where, 303, {"Cache-Control": "no-store"})
