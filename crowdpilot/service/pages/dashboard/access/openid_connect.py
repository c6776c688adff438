"""Pages that sign in by OpenID Connect: to the provider, and back."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from crowdpilot.service.errors import ForbiddenError, NotFoundError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf, network_address
from crowdpilot.service.http.base_path import cookie_path
from crowdpilot.service.pages.dashboard.access.cookies import is_dashboard_path, set_cookie, welcome
from crowdpilot.service.pages.dashboard.formatting import router
from crowdpilot.service.requesters.openid_connect import FAILED, Attempt, OpenIDConnect
from crowdpilot.service.requesters.sign_in import sign_in_member
from crowdpilot.service.signing import TokenError, digest, sign, unsign
from crowdpilot.service.store.requesters import action_log, sessions

CALLBACK = "/login/oidc/callback"
ATTEMPT_COOKIE = ATTEMPT_PURPOSE = "oidc"
ATTEMPT_SECONDS = 600.0  # in which somebody signs in at the provider


def pages() -> APIRouter:
    """Routes to the provider and back."""
    return router([("GET", "/login/oidc", begin), ("GET", CALLBACK, finish)])


def _provider(request: Request) -> OpenIDConnect:
    provider: OpenIDConnect | None = request.app.state.identity_provider
    if provider is None:
        raise NotFoundError("there is no provider of sign-ins; sign in with a key")
    return provider


def begin(request: Request, settings: SettingsOf, next: str = "") -> Response:
    """Send somebody to the provider; a cookie remembers which browser has begun."""
    url, attempt = _provider(request).begin()
    kept = [*attempt, next if is_dashboard_path(next) else ""]
    response = RedirectResponse(url, 303, {"Cache-Control": "no-store"})
    token = sign(settings.secret, ATTEMPT_PURPOSE, kept)
    # Lax: they come back from another site.
    set_cookie(response, settings, ATTEMPT_COOKIE, token, ATTEMPT_SECONDS, same_site="lax")
    return response


def finish(request: Request, store: StoreOf, settings: SettingsOf) -> Response:
    """Sign in whom the provider has sent back, in a session of its own."""
    provider = _provider(request)
    try:
        token = request.cookies.get(ATTEMPT_COOKIE, "")
        *parts, next = unsign(settings.secret, ATTEMPT_PURPOSE, token, max_age_seconds=ATTEMPT_SECONDS)
        attempt = Attempt(*parts)
        claims = provider.finish(attempt, request.query_params)
        with store.writing() as c:
            member = sign_in_member(c, provider.settings, claims)
            session = sessions.start(c, member.id, link=digest(attempt.state))  # each attempt signs in once
            action_log.write(c, member.id, "sign in by OpenID Connect", category=action_log.SIGN_IN)
    except (TokenError, RequestError) as error:
        request.app.state.keys.record(network_address(request), "failed sign-in")
        raise error if isinstance(error, RequestError) else ForbiddenError(FAILED) from None
    response = welcome(settings, session, next)
    response.delete_cookie(ATTEMPT_COOKIE, cookie_path())
    return response
