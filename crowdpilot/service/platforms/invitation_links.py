"""Plain invitation links: a signed token, for one person by name or for everybody who has it."""

from __future__ import annotations

import math
import secrets
import time

from crowdpilot.service.platforms.arrival import Arrival, Platform
from crowdpilot.service.signing import sign, unsign

PLATFORM = Platform("Invitation link")
LONGEST_KIND, LONGEST_WORKER = 32, 200


def invite(
    secret: str, project: str, *, kind: str = "crowd", worker: str = "", expires: float | None = None
) -> str:
    """A token that lets people into a project.

    Parameters
    ----------
    secret
        Signs the token.
    project
        The only project that it opens.
    kind
        What kind of worker comes with it.
    worker
        Who comes with it; without a name each arrival is somebody new.
    expires
        When it ends, in seconds since 1970; never if not given.

    Examples
    --------
    >>> token = invite("s" * 32, "birds", kind="expert", worker="ana")
    >>> admit("s" * 32, "birds", token)[:4]
    ('link', 'ana', '', 'expert')
    """
    if not 0 < len(kind) <= LONGEST_KIND or len(worker) > LONGEST_WORKER:
        raise ValueError(
            f"the kind may have 1 to {LONGEST_KIND} characters and the worker up to {LONGEST_WORKER}"
        )
    if expires is not None and not math.isfinite(expires):
        raise ValueError("an invitation ends at a time in seconds, or never if none is given")
    return sign(secret, _purpose(project), [kind, worker, expires])


def admit(secret: str, project: str, token: str, *, now: float | None = None) -> Arrival:
    """Who comes with a token; a `ValueError` if it is not valid for this project, or not any more."""
    try:
        kind, worker, expires = unsign(secret, _purpose(project), token)
    except ValueError:
        raise ValueError("the invitation is not valid; ask for a new link") from None
    if expires is not None and expires <= (time.time() if now is None else now):
        raise ValueError("the invitation has ended; ask for a new link")
    return Arrival("link", worker or f"guest-{secrets.token_hex(16)}", kind=kind)


def _purpose(project: str) -> str:
    return f"invite:{project}"
