"""Erasure of the personal data of workers, and all that is stored about one of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Text, cast, select, update

from crowdpilot.service.store import workers
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import tasks as ls_tasks
from crowdpilot.service.store.label_studio import votes as ls_votes
from crowdpilot.service.store.tables import action_log, assignments, invitations, items, votes
from crowdpilot.service.store.tables import comments as comment_table
from crowdpilot.service.store.tables import workers as worker_table
from crowdpilot.service.store.workers import ERASED


def erase(c: Connection, project: str, worker: int, digest: str | None) -> None:
    """Erase the personal data of a worker, in a write transaction; votes stay, without idempotency keys.

    `digest` is a keyed hash of their identity, by which they are refused if they come again.
    """
    row = workers.find(c, project, worker)
    empty = {"external": None, "consent": None, "notes": None}
    workers.exclude(c, project, worker, ERASED, **empty, identity_digest=digest or row.identity_digest)
    c.execute(update(votes).where(votes.c.worker == worker).values(key=None))
    comments.delete_of_worker(c, project, worker)
    number = cast(assignments.c.id, Text)
    c.execute(update(assignments).where(assignments.c.worker == worker).values(external=number))
    if row.external is not None:
        named = invitations.c.project == project, invitations.c.worker == row.external
        c.execute(update(invitations).where(*named).values(worker=ERASED, revoked=time.time()))
    if row.external is not None and row.platform == ls_votes.PLATFORM:
        ls_tasks.forget_annotator(c, project, row.external)


def is_erased(c: Connection, project: str, digests: Sequence[str]) -> bool:
    """Whether the personal data of a worker with one of these hashes of their identity was erased."""
    own = worker_table.c.project == project, worker_table.c.identity_digest.in_(digests)
    return c.execute(select(worker_table.c.id).where(*own).limit(1)).first() is not None


def with_identity(c: Connection, project: str, n: int) -> Sequence[Row]:
    """Up to `n` workers of a project whose personal data is stored."""
    own = worker_table.c.project == project, worker_table.c.state != ERASED
    return c.execute(select(worker_table).where(*own).order_by(worker_table.c.id).limit(n)).all()


def stored_data(c: Connection, project: str, worker: int, actors: Sequence[str]) -> dict[str, Any]:
    """All that is stored about a worker, table by table; `actors` are their names in the log."""
    row = workers.find(c, project, worker)
    columns = [column for column in votes.c if column.name not in ("project", "worker")]
    answers = select(*columns, items.c.name.label("item_name")).join(items, items.c.id == votes.c.item)
    logged = action_log.c.project == project, action_log.c.actor.in_(actors)
    about = select(action_log).where(action_log.c.project == project)
    return {
        "worker": {name: value for name, value in row._mapping.items() if name != "nonce"},
        "invitation": [dict(found._mapping) for found in c.execute(
            select(invitations).where(invitations.c.project == project, invitations.c.id == row.invitation)
        )],
        "assignments": [dict(found._mapping) for found in c.execute(
            select(assignments).where(assignments.c.worker == worker).order_by(assignments.c.id)
        )],
        "votes": [dict(found._mapping) for found in c.execute(
            answers.where(votes.c.worker == worker).order_by(votes.c.change_number)
        )],
        "comments": [dict(found._mapping) for found in c.execute(
            select(comment_table).where(comment_table.c.worker == worker).order_by(comment_table.c.id)
        )],
        "log": [dict(found._mapping) for found in c.execute(
            select(action_log).where(*logged).order_by(action_log.c.id)
        )] + [dict(found._mapping) for found in c.execute(about.order_by(action_log.c.id))
              if found.detail.get("worker") == worker],
    }  # fmt: skip
