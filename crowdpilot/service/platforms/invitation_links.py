"""Invitation links: a signed token for one worker by name, or for everybody who has the link."""

from __future__ import annotations

import math
import secrets
import time
from typing import Any

from crowdpilot.service.platforms.platform import Arrival, Platform
from crowdpilot.service.signing import sign, unsign

PLATFORM = Platform("Invitation link")
MAX_KIND_CHARACTERS, MAX_WORKER_CHARACTERS = 32, 200


def invite(
    secret: str, project: str, *, kind: str = "crowd", worker: str = "", expires: float | None = None
) -> str:
    """A token that admits workers to a project.

    Parameters
    ----------
    secret
        Signs the token.
    project
        The only project that it opens.
    kind
        The kind of worker that it admits.
    worker
        The name of the worker; without one each arrival is a new guest.
    expires
        When it expires, in seconds since 1970; never if not given.

    Examples
    --------
    >>> token = invite("s" * 32, "birds", kind="expert", worker="ana")
    >>> admit("s" * 32, "birds", token)[:4]
    ('link', 'ana', '', 'expert')
    """
    if not 0 < len(kind) <= MAX_KIND_CHARACTERS or len(worker) > MAX_WORKER_CHARACTERS:
        raise ValueError(
            f"the kind may have 1 to {MAX_KIND_CHARACTERS} characters "
            f"and the worker up to {MAX_WORKER_CHARACTERS}"
        )
    if expires is not None and not math.isfinite(expires):
        raise ValueError("an invitation expires at a time in seconds, or never if none is given")
    return sign(secret, _purpose(project), [kind, worker, expires])


def invitation_url(address: str, secret: str, project: str, **options: Any) -> str:
    """The link to a project at the address of the service; options are those of `invite`."""
    return f"{address}/w/{project}?invite={invite(secret, project, **options)}"


def admit(secret: str, project: str, token: str, *, now: float | None = None) -> Arrival:
    """The arrival of a worker with a token; a `ValueError` if it is not valid here or has expired."""
    try:
        kind, worker, expires = unsign(secret, _purpose(project), token)
    except ValueError:
        raise ValueError("the invitation is not valid; ask for a new link") from None
    if expires is not None and expires <= (time.time() if now is None else now):
        raise ValueError("the invitation has expired; ask for a new link")
    return Arrival("link", worker or f"guest-{secrets.token_hex(16)}", kind=kind)


def _purpose(project: str) -> str:
    return f"invite:{project}"
