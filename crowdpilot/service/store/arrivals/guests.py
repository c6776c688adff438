"""Queries on guests: their answers to gold items, by which they are checked; whether their votes count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, func, select, text

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.items import OPEN, chunks
from crowdpilot.service.store.tables import HAS_GOLD, items, votes, workers
from crowdpilot.service.store.votes import IN_ORDER, ROWS_PER_FETCH, VOTED
from crowdpilot.service.store.workers import BLOCKED

IS_GOLD = text(HAS_GOLD.replace("gold", "items.gold"))  # as the partial index on gold items says it


def count_gold_items(c: Connection, project: str, most: int) -> int:
    """The number of gold items that may be asked about, counted up to `most`; by the index on gold items."""
    own = select(items.c.id).where(items.c.project == project, items.c.state == OPEN, IS_GOLD)
    return int(c.execute(select(func.count()).select_from(own.limit(most).subquery())).scalar_one())


def have_gold(c: Connection, ids: Sequence[int]) -> bool:
    """Whether one of these items is a gold item; by the primary key."""
    found = (
        c.execute(select(items.c.id).where(items.c.id.in_(part), IS_GOLD).limit(1)).first()
        for part in chunks(ids)
    )
    return any(row is not None for row in found)


def gold_answers(c: Connection, ids: Sequence[int]) -> list[Row]:
    """Worker, criterion, label and known class of each vote of these workers on gold items, in order."""
    columns = votes.c.worker, votes.c.criterion, votes.c.label, items.c.gold
    joined = votes.join(items, items.c.id == votes.c.item)
    return [
        row
        for part in chunks(ids)
        for row in c.execute(
            select(*columns)
            .select_from(joined)
            .where(votes.c.worker.in_(part), votes.c.state == VOTED, IS_GOLD)
            .order_by(*IN_ORDER)
        )
    ]


def trust(c: Connection, project: str, ids: Sequence[int] | None = None) -> dict[int, bool]:
    """Which of these workers (or of all) are guests, and whether their votes count; no blocked ones.

    What happens to the votes of a blocked worker was chosen when they were blocked.
    """
    own = workers.c.project == project, workers.c.guest, workers.c.state != BLOCKED
    query = select(workers.c.id, workers.c.trusted).where(*own)
    if ids is not None:
        query = query.where(workers.c.id.in_(ids))
    return {row.id: bool(row.trusted) for row in c.execute(query)}


def votes_of(c: Connection, ids: Sequence[int]) -> Iterator[Sequence[Row]]:
    """All leases and answers of these workers, in parts; in the read transaction of a replica."""
    columns = (votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state, votes.c.label,
               votes.c.lease_number)  # fmt: skip
    for part in chunks(ids):
        query = select(*columns).where(votes.c.worker.in_(part)).order_by(*IN_ORDER)
        yield from c.execution_options(yield_per=ROWS_PER_FETCH).execute(query).partitions()
