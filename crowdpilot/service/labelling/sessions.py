"""The signed session of a worker, bound to project, worker, assignment and nonce; completion codes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from crowdpilot.service.errors import AuthenticationError
from crowdpilot.service.signing import TokenExpiredError, derive, derive_all, is_derived, sign, unsign
from crowdpilot.service.store.arrivals.assignments import SESSION_ENDED
from crowdpilot.service.store.engine import Row

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none of which is taken for another
VERIFIED_SECONDS = 60  # after which a token is verified again, and its age compared
MAX_VERIFIED = 10_000  # tokens in memory


class Session(NamedTuple):
    """A worker at work on an assignment of a project; the nonce ends with the session on the server."""

    project: str
    worker: int
    platform: str
    assignment: int
    nonce: str


def sign_session(secret: str, session: Session) -> str:
    """The token that a browser or a program of the worker carries."""
    return sign(secret, "worker_session", list(session))


def read_session(secret: str, token: str, max_age_seconds: float) -> Session:
    """The session in a token; an `AuthenticationError` if the token is not valid or older than this."""
    return _verified(secret, token, max_age_seconds, int(time.time() // VERIFIED_SECONDS))


@lru_cache(MAX_VERIFIED)
def _verified(secret: str, token: str, max_age_seconds: float, period: int) -> Session:
    """The same, computed once for each token and period: a worker sends the same token with every vote."""
    try:
        return Session(*unsign(secret, "worker_session", token, max_age_seconds=max_age_seconds))
    except TokenExpiredError:
        raise AuthenticationError(SESSION_ENDED) from None
    except (ValueError, TypeError):
        raise AuthenticationError("the session is not valid; open the link to the project again") from None


def form_token(secret: str, session: Session) -> str:
    """What a form or a script of this worker's pages sends along, so that no other page can post for them."""
    return derive(secret, "form", *session)


def is_form_token(secret: str, session: Session, token: str) -> bool:
    """Whether a page of this worker has sent this token along."""
    return is_derived(secret, token, "form", *session)


def code_to_show(secret: str, project: str, worker: Row, spec: Mapping[str, Any]) -> str:
    """The code that ends an assignment: that of the study on Prolific where it has one, else its own.

    `worker` is the row of a worker with the assignment, of the module `assignments`.
    """
    study = (spec.get("prolific") or {}) if worker.platform == "prolific" else {}
    return study.get("code") or completion_codes(secret, project, worker)[0]


def completion_codes(secret: str, project: str, worker: Row) -> list[str]:
    """What shows a platform that an assignment is finished, by each key of the secret, the newest first."""
    parts = project, worker.id, worker.platform, worker.external
    return [_letters(text) for text in derive_all(secret, "code", *parts)]


def _letters(text: str) -> str:
    drawn = sha256(text.encode()).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in drawn[:12])
