"""Signed tokens of requesters: the session in a cookie, the link that signs in once, CSRF tokens."""

from __future__ import annotations

import secrets

from crowdpilot.service.signing import derive, is_derived, sign, unsign

SESSION_SECONDS = 12 * 3600.0
LOGIN_LINK_SECONDS = 3600.0
SESSION_PURPOSE, LOGIN_PURPOSE = "requester_session", "login"


def sign_session(secret: str, id: str) -> str:
    """The token of the session with this id."""
    return sign(secret, SESSION_PURPOSE, id)


def read_session(secret: str, token: str) -> str:
    """The id of the session in a token; a `TokenError` if it is not valid or has expired."""
    return str(unsign(secret, SESSION_PURPOSE, token, max_age_seconds=SESSION_SECONDS))


def login_path(secret: str, key: str) -> str:
    """The address of a page that signs in, once and soon, as the key with this id."""
    return f"/login?token={sign(secret, LOGIN_PURPOSE, [key, secrets.token_hex(8)])}"


def read_login_token(secret: str, token: str) -> str:
    """The id of the key that a login link signs in; a `TokenError` if it is not valid or has expired."""
    key, _ = unsign(secret, LOGIN_PURPOSE, token, max_age_seconds=LOGIN_LINK_SECONDS)
    return str(key)


def csrf_token(secret: str, session: str) -> str:
    """What the forms of a session send along, so that no page of another site can post them."""
    return derive(secret, "csrf", session)


def is_csrf_token(secret: str, session: str, token: str) -> bool:
    """Whether the forms of a session were given this token."""
    return is_derived(secret, token, "csrf", session)
