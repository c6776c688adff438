"""Queries on votes that came from Label Studio: by the annotations that they are, and by item and worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Join, Select, func, select

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.items import chunks
from crowdpilot.service.store.tables import items, votes, workers
from crowdpilot.service.store.votes import VOTED
from crowdpilot.service.store.workers import BLOCKED

PLATFORM = "label_studio"


def of_items(c: Connection, project: str, item_ids: Sequence[int]) -> list[Row]:
    """The votes from Label Studio on these items, with the names of item and worker."""
    found: list[Row] = []
    for part in chunks(item_ids):
        found += c.execute(_select(project).where(votes.c.item.in_(part)))
    return found


def keys(c: Connection, project: str) -> list[Row]:
    """All votes from Label Studio that are annotations, with their keys and the ids of their items."""
    return list(c.execute(_select(project).where(votes.c.key.is_not(None))))


def count(c: Connection, project: str) -> int:
    """How many votes came from Label Studio."""
    counted = select(func.count()).select_from(_joined()).where(*_own(project))
    return int(c.execute(counted).scalar_one())


def blocked(c: Connection, project: str) -> set[str]:
    """Names of the users of Label Studio whose votes are refused."""
    own = workers.c.project == project, workers.c.platform == PLATFORM, workers.c.state == BLOCKED
    return set(c.execute(select(workers.c.external).where(*own)).scalars())


def workers_by_name(c: Connection, project: str) -> dict[str, int]:
    """Ids of the workers from Label Studio, by their names there."""
    own = workers.c.project == project, workers.c.platform == PLATFORM, workers.c.external.is_not(None)
    return {row.external: row.id for row in c.execute(select(workers.c.external, workers.c.id).where(*own))}


def last_times(c: Connection, project: str) -> dict[str, float]:
    """When each user of Label Studio who is not blocked gave their last vote, in seconds since 1970."""
    last = select(workers.c.external, func.max(votes.c.time)).select_from(_joined())
    there = last.where(*_own(project), workers.c.state != BLOCKED).group_by(workers.c.external)
    return {name: float(moment or 0.0) for name, moment in c.execute(there) if name is not None}


def _joined() -> Join:
    found = votes.join(workers, workers.c.id == votes.c.worker)
    return found.join(items, items.c.id == votes.c.item)


def _own(project: str) -> tuple[ColumnElement[bool], ...]:
    return votes.c.project == project, workers.c.platform == PLATFORM, votes.c.state == VOTED


def _select(project: str) -> Select[*tuple[Any, ...]]:
    columns = votes.c.key, votes.c.item, votes.c.label, votes.c.time, votes.c.worker
    named = select(*columns, items.c.name, workers.c.external).select_from(_joined())
    return named.where(*_own(project))
