"""Invitation links: a signed token with the id of an invitation, which says whom it admits."""

from __future__ import annotations

import secrets

from crowdpilot.service.errors import InvalidLinkError, translatable
from crowdpilot.service.platforms.platform import Arrival, Platform
from crowdpilot.service.signing import sign, unsign

PLATFORM = Platform("Invitation link")
MAX_WORKER_CHARACTERS = 200
NOT_VALID = translatable("the invitation is not valid; ask for a new link")


def sign_invitation(secret: str, project: str, id: str) -> str:
    """The token of an invitation to a project, by its id.

    Examples
    --------
    >>> token = sign_invitation("s" * 32, "birds", "1f2e")
    >>> read_invitation("s" * 32, "birds", token)
    '1f2e'
    """
    return sign(secret, _purpose(project), id)


def invitation_url(address: str, secret: str, project: str, id: str) -> str:
    """The link of an invitation at the address of the service."""
    return f"{address}/w/{project}?invite={sign_invitation(secret, project, id)}"


def read_invitation(secret: str, project: str, token: str) -> str:
    """The id of the invitation in a token; a `ValueError` if it is not valid here."""
    try:
        id = unsign(secret, _purpose(project), token)
    except ValueError:
        raise InvalidLinkError(NOT_VALID) from None
    if not isinstance(id, str):  # as tokens were before invitations were stored
        raise InvalidLinkError(NOT_VALID)
    return id


def arrive(id: str, kind: str, worker: str | None) -> Arrival:
    """The arrival of a worker with an invitation of this id; without a name they are a new guest."""
    external = worker or f"guest-{secrets.token_hex(16)}"
    return Arrival("link", external, kind=kind, invitation=id, guest=worker is None)


def _purpose(project: str) -> str:
    return f"invite:{project}"
