"""Identities of workers: keyed hashes that recognise who was erased, and the erasure of personal data."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.signing import derive_all
from crowdpilot.service.store import workers
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.erasure import workers as stored

LOG_NAME_CHARACTERS = 16


def log_names(secret: str, platform: str, external: str) -> tuple[str, ...]:
    """What the log of actions may call a worker, by the newest key of the secret first."""
    return tuple(name[:LOG_NAME_CHARACTERS] for name in derive_all(secret, "log", platform, external))


def was_erased(c: Connection, secret: str, project: str, platform: str, external: str) -> bool:
    """Whether somebody who comes now has had their personal data erased in this project."""
    return stored.is_erased(c, project, derive_all(secret, "identity", project, platform, external))


def erase(c: Connection, secret: str, project: str, worker: int) -> None:
    """Erase the personal data of a worker, in a write transaction; they are recognised if they come again.

    A guest is not: nothing is known of them but a random number.
    """
    row = workers.find(c, project, worker)
    who = row.platform, row.external or ""
    digest = None
    if row.external is not None and not row.guest:
        digest = derive_all(secret, "identity", project, *who)[0]
    stored.erase(c, project, worker, digest)


def stored_data(c: Connection, secret: str, project: str, worker: int) -> dict[str, Any]:
    """All that is stored about a worker, table by table."""
    row: Row = workers.find(c, project, worker)
    return stored.stored_data(c, project, worker, log_names(secret, row.platform, row.external or ""))
