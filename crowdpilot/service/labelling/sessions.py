"""Seats: the signed session of a worker, bound to project, platform, worker and assignment."""

from __future__ import annotations

import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from crowdpilot.service.errors import Refused
from crowdpilot.service.signing import derive, sign, unsign

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none of which is taken for another


class Seat(NamedTuple):
    """A worker at work on a project."""

    project: str
    worker: int
    platform: str
    assignment: str
    expires: float


def seal(secret: str, seat: Seat) -> str:
    """The token that a browser or a program of the worker carries."""
    return sign(secret, "seat", list(seat))


def unseal(secret: str, token: str) -> Seat:
    """The seat that a token stands for; refused with 401 if it is not valid any more."""
    try:
        seat = Seat(*unsign(secret, "seat", token))
    except (ValueError, TypeError):
        raise Refused(401, "the session is not valid; open the link to the project again") from None
    if seat.expires < time.time():
        raise Refused(401, "the session has ended; open the link to the project again to go on")
    return seat


def form_token(secret: str, seat: Seat) -> str:
    """What a form or a script of this worker's pages sends along, so that no other page can post for them."""
    return derive(secret, "form", *seat[:4])


def code_to_show(secret: str, seat: Seat, spec: Mapping[str, Any]) -> str:
    """The code that ends a worker's visit: that of the study on Prolific where it has one, else their own."""
    study = (spec.get("prolific") or {}) if seat.platform == "prolific" else {}
    return study.get("code") or completion_code(secret, seat)


def completion_code(secret: str, seat: Seat) -> str:
    """What shows a platform that this worker has finished; only the server can make it."""
    drawn = sha256(derive(secret, "code", *seat[:4]).encode()).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in drawn[:12])
