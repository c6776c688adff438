"""People: what requesters are told of votes and of those who gave them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, func, select, update

from crowdpilot.service.store import workers as staff
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import items, votes, workers
from crowdpilot.service.store.votes import VOTED

STEP = 5000  # rows read at once


def given(c: Connection, project: str) -> Iterator[Sequence[Record]]:
    """All votes with the names of their items and the kinds of their workers, as they came, in parts."""
    columns = (votes.c.item.label("id"), items.c.name.label("item"), votes.c.criterion, votes.c.worker,
               workers.c.kind, votes.c.label, votes.c.seconds, votes.c.time, votes.c.key)  # fmt: skip
    joined = votes.join(items, items.c.id == votes.c.item).join(workers, workers.c.id == votes.c.worker)
    mine = votes.c.project == project, votes.c.state == VOTED
    order = votes.c.at, votes.c.worker, votes.c.item, votes.c.criterion
    query = select(*columns).select_from(joined).where(*mine).order_by(*order)
    yield from c.execution_options(yield_per=STEP).execute(query).partitions()


def quickest(c: Connection, project: str, below: float) -> dict[int, int]:
    """How many votes of each worker took less time than this."""
    hasty = votes.c.project == project, votes.c.state == VOTED, votes.c.seconds < below
    rows = c.execute(select(votes.c.worker, func.count().label("n")).where(*hasty).group_by(votes.c.worker))
    return {row.worker: row.n for row in rows}


def erase(c: Connection, project: str, worker: int) -> None:
    """Forget who a worker is, and by which keys their votes are known elsewhere."""
    staff.erase(c, project, worker)
    c.execute(update(votes).where(votes.c.worker == worker).values(key=None))
