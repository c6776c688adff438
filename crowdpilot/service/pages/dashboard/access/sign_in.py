"""Sign-in to the dashboard: with an API key or a link, kept in a signed cookie for half a day."""

from __future__ import annotations

import secrets as random

from fastapi import APIRouter, Request
from fastapi.responses import Response

from crowdpilot.service.errors import ForbiddenError, RateLimitError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf, find_key, network_address
from crowdpilot.service.http.base_path import cookie_path
from crowdpilot.service.pages.dashboard.access.cookies import (
    HOME,
    is_dashboard_path,
    set_cookie,
    set_session,
    welcome,
)
from crowdpilot.service.pages.dashboard.access.requester import (
    SESSION_COOKIE,
    STALE_PAGE,
    DashboardRoute,
    Form,
    Posting,
    Reading,
    SignInRequiredError,
    go,
)
from crowdpilot.service.pages.dashboard.access.sessions import (
    csrf_token,
    is_csrf_token,
    read_login_token,
)
from crowdpilot.service.pages.rendering import page, sentence
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import TokenError, TokenExpiredError, digest
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log, keys, sessions

LOGIN_COOKIE = "login"  # who sees the form to sign in
LOGIN_COOKIE_SECONDS = 3600.0


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
        return _log_in_by_link(request, store, settings, token, next)
    return _login_form(request, settings, next)


def log_in(request: Request, form: Form, store: StoreOf, settings: SettingsOf) -> Response:
    """Sign in with a key."""
    token, next = (str(form.get(name, "")) for name in ("csrf", "next"))
    if not is_csrf_token(settings.secret, request.cookies.get(LOGIN_COOKIE, ""), token):
        raise ForbiddenError(STALE_PAGE)
    try:
        key = find_key(request, str(form.get("key", "")).strip())
        with store.writing() as c:
            session = sessions.start(c, key.member, key=key.id)
            keys.record_use(c, key.id)
            action_log.write(c, key.id, "sign in", category=action_log.SIGN_IN)
    except RateLimitError as error:
        return _login_form(request, settings, next, sentence(str(error)), error.status)
    except RequestError:
        wrong = "This key is not valid. Check that you have copied all of it."
        return _login_form(request, settings, next, wrong)
    response = go(next if is_dashboard_path(next) else HOME)
    set_session(response, settings, session)
    response.delete_cookie(LOGIN_COOKIE, cookie_path())
    return response


def log_out(requester: Posting, store: StoreOf) -> Response:
    """Sign out: the session ends on the server, too."""
    with store.writing() as c:
        sessions.end(c, requester.session)
        action_log.write(c, requester.id, "sign out", category=action_log.SIGN_IN)
    response = go("/login")
    response.delete_cookie(SESSION_COOKIE, cookie_path())
    return response


def _log_in_by_link(request: Request, store: Store, settings: Settings, token: str, next: str) -> Response:
    """Sign in once with a link."""
    try:
        key_id = read_login_token(settings.secret, token)
    except TokenExpiredError:
        raise ForbiddenError("this link has expired; start the service again for a new one") from None
    except TokenError:
        request.app.state.keys.record(network_address(request), "wrong link")
        raise ForbiddenError("this link is not valid; copy all of it, or sign in with a key") from None
    with store.writing() as c:
        key = keys.find_by_id(c, key_id)
        if key is None:
            raise SignInRequiredError
        session = sessions.start(c, key.member, key=key.id, link=digest(token))
        action_log.write(c, key.id, "sign in by link", category=action_log.SIGN_IN)
    return welcome(settings, session, next)


def _login_form(
    request: Request, settings: Settings, next: str, wrong: str = "", status: int = 422
) -> Response:
    visitor = request.cookies.get(LOGIN_COOKIE) or random.token_hex(16)
    csrf = csrf_token(settings.secret, visitor)
    provider = settings.identity_provider and settings.identity_provider.title
    response = page(
        "dashboard/login.html", status if wrong else 200, csrf=csrf, next=next, wrong=wrong, provider=provider
    )
    set_cookie(response, settings, LOGIN_COOKIE, visitor, LOGIN_COOKIE_SECONDS)
    return response
