"""The signed session of a worker, bound to project, platform, worker and assignment; completion codes."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from crowdpilot.service.errors import AuthenticationError
from crowdpilot.service.signing import TokenExpiredError, derive, derive_all, is_derived, sign, unsign

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none of which is taken for another


class Session(NamedTuple):
    """A worker at work on a project."""

    project: str
    worker: int
    platform: str
    assignment: str


def sign_session(secret: str, session: Session) -> str:
    """The token that a browser or a program of the worker carries."""
    return sign(secret, "worker_session", list(session))


def read_session(secret: str, token: str, max_age_seconds: float) -> Session:
    """The session in a token; an `AuthenticationError` if the token is not valid or older than this."""
    try:
        return Session(*unsign(secret, "worker_session", token, max_age_seconds=max_age_seconds))
    except TokenExpiredError:
        again = "the session has ended; open the link to the project again to go on"
        raise AuthenticationError(again) from None
    except (ValueError, TypeError):
        raise AuthenticationError("the session is not valid; open the link to the project again") from None


def form_token(secret: str, session: Session) -> str:
    """What a form or a script of this worker's pages sends along, so that no other page can post for them."""
    return derive(secret, "form", *session)


def is_form_token(secret: str, session: Session, token: str) -> bool:
    """Whether a form or a script of this worker's pages was given this token."""
    return is_derived(secret, token, "form", *session)


def code_to_show(secret: str, session: Session, spec: Mapping[str, Any]) -> str:
    """The code that ends a worker's visit: that of the study on Prolific where it has one, else their own."""
    study = (spec.get("prolific") or {}) if session.platform == "prolific" else {}
    return study.get("code") or completion_code(secret, session)


def completion_code(secret: str, session: Session) -> str:
    """What shows a platform that this worker has finished; only the server can make it."""
    return completion_codes(secret, session)[0]


def completion_codes(secret: str, session: Session) -> tuple[str, ...]:
    """The completion code of this worker by each key of the secret, of which they may have seen any."""
    drawn = (sha256(text.encode()).digest() for text in derive_all(secret, "code", *session))
    return tuple("".join(LETTERS[byte % len(LETTERS)] for byte in each[:12]) for each in drawn)
