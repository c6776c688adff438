"""Queries on comments and flags: what workers say about items, one row for each item, criterion and worker.

A flag is open until a requester has resolved it; a worker who writes again opens it again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import comments, items, votes
from crowdpilot.service.store.votes import ANSWERED, LEASED


def write(
    c: Connection, project: str, item: int, criterion: int, worker: int, *, text: str, flagged: bool
) -> None:
    """Write what a worker says about an item in place of what they said before, in a write transaction.

    With neither a text nor a flag the row is deleted.
    """
    key = {"item": item, "criterion": criterion, "worker": worker}
    if not text and not flagged:
        c.execute(delete(comments).where(*(comments.c[name] == value for name, value in key.items())))
        return
    said = {"text": text, "flagged": flagged, "time": time.time(), "resolved": None}
    dialect = sqlite if c.dialect.name == "sqlite" else postgresql
    new = dialect.insert(comments).values(project=project, **key, **said)
    c.execute(new.on_conflict_do_update(index_elements=list(key), set_=said))


def may_write(c: Connection, item: int, criterion: int, worker: int) -> bool:
    """Whether a worker holds an item or has answered it; by the primary key of votes."""
    same = votes.c.item == item, votes.c.criterion == criterion, votes.c.worker == worker
    states = votes.c.state.in_((LEASED, *ANSWERED))
    return c.execute(select(votes.c.item).where(*same, states)).first() is not None


def about(c: Connection, project: str, item: int) -> Sequence[Row]:
    """All comments and flags on an item, in the order in which they came."""
    own = comments.c.project == project, comments.c.item == item
    return c.execute(select(comments).where(*own).order_by(comments.c.time, comments.c.id)).all()


def list_all(c: Connection, project: str, *, unresolved: bool = False) -> Sequence[Row]:
    """All comments and flags of a project with the name of the item as `item_name`, the newest first.

    `unresolved` leaves out those that a requester has seen to.
    """
    own = [comments.c.project == project, *([comments.c.resolved.is_(None)] if unresolved else [])]
    joined = select(comments, items.c.name.label("item_name")).join(items, items.c.id == comments.c.item)
    return c.execute(joined.where(*own).order_by(comments.c.time.desc(), comments.c.id.desc())).all()


def open_flags(c: Connection, project: str) -> dict[int, int]:
    """The number of open flags of each item that has any."""
    is_open = comments.c.project == project, comments.c.flagged, comments.c.resolved.is_(None)
    query = select(comments.c.item, func.count().label("n")).where(*is_open).group_by(comments.c.item)
    return {row.item: row.n for row in c.execute(query)}


def resolve(c: Connection, project: str, item: int) -> int:
    """Note that a requester has seen to all that was said about an item, in a write transaction; how many."""
    own = comments.c.project == project, comments.c.item == item, comments.c.resolved.is_(None)
    return c.execute(update(comments).where(*own).values(resolved=time.time())).rowcount


def delete_of_worker(c: Connection, project: str, worker: int) -> None:
    """Delete all that a worker said, in a write transaction: a text may tell who they are."""
    c.execute(delete(comments).where(comments.c.project == project, comments.c.worker == worker))
