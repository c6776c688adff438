"""Queries on leases: items that workers hold until a time, their extension, expiry and return.

A lease is a row of the table `votes` in the state `leased`. Its times are service time (`clock`).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, bindparam, case, func, insert, select, update

from crowdpilot.service.store import clock, projects
from crowdpilot.service.store.tables import votes, workers
from crowdpilot.service.store.votes import LEASED, RETURNED, SAME_VOTE, ItemCriterion

MAX_EXTENSION = 4  # how many times its length a lease lasts at most, however often it is extended
_LEASE_AGAIN = (
    update(votes)
    .where(SAME_VOTE)
    .values({name: bindparam(name) for name in ("state", "lease_number", "position", "leased", "expires")})
    .values(change_number=bindparam("_change_number"))
)


def create(
    c: Connection,
    project: str,
    new: Sequence[tuple[int, Sequence[ItemCriterion]]],
    until: float,
    number: int,
    *,
    now: float | None = None,
) -> None:
    """Lease items to workers from now until a time, under a change number, in a write transaction.

    `new` has pairs of a worker and their items. An item that the worker has returned is leased again.
    """
    begun = clock.now(c) if now is None else now
    rows = [{"project": project, "item": item, "criterion": criterion, "worker": worker, "state": LEASED,
             "lease_number": number, "position": n, "leased": begun, "expires": until,
             "change_number": number}
            for worker, leased in new for n, (item, criterion) in enumerate(leased)]  # fmt: skip
    columns = votes.c.item, votes.c.criterion, votes.c.worker
    some = votes.c.item.in_({row["item"] for row in rows})  # by the primary key
    before = {tuple(row) for row in c.execute(select(*columns).where(some))}
    known = [(row["item"], row["criterion"], row["worker"]) in before for row in rows]
    if not all(known):
        c.execute(insert(votes), [row for row, is_known in zip(rows, known, strict=True) if not is_known])
    if any(known):
        names = "item", "criterion", "worker", "change_number"
        again = [row for row, is_known in zip(rows, known, strict=True) if is_known]
        c.execute(_LEASE_AGAIN, [{**row, **{f"_{name}": row[name] for name in names}} for row in again])


def held_by(c: Connection, workers: Sequence[int]) -> dict[int, list[ItemCriterion]]:
    """What each of these workers holds, in the order of leasing; by the index on (worker, state)."""
    columns = votes.c.worker, votes.c.item, votes.c.criterion
    own = votes.c.worker.in_(workers), votes.c.state == LEASED
    held: dict[int, list[ItemCriterion]] = {}
    for row in c.execute(select(*columns).where(*own).order_by(votes.c.lease_number, votes.c.position)):
        held.setdefault(row.worker, []).append((row.item, row.criterion))
    return held


def extend(c: Connection, workers: Sequence[int], until: float, seconds: float) -> int:
    """Let all leases of these workers end at a time, in a write transaction; how many there are.

    None lasts longer than `MAX_EXTENSION` times the `seconds` of a lease in all. The change number stays.
    """
    last = votes.c.leased + MAX_EXTENSION * seconds
    expires = case((last < until, last), else_=until)
    own = votes.c.worker.in_(workers), votes.c.state == LEASED
    return c.execute(update(votes).where(*own).values(expires=expires)).rowcount


def shorten(c: Connection, worker: int, until: float) -> None:
    """Let no lease of a worker last longer than until a time, in a write transaction."""
    own = votes.c.worker == worker, votes.c.state == LEASED, votes.c.expires > until
    c.execute(update(votes).where(*own).values(expires=until))


def note_page(c: Connection, worker: int, page: str) -> None:
    """A labelling page of a worker is there, in a write transaction; `page` is its random id."""
    other = workers.c.id == worker, workers.c.page.is_distinct_from(page)
    c.execute(update(workers).where(*other).values(page=page))


def last_page(c: Connection, worker: int) -> str | None:
    """The id of the labelling page of a worker that was there last, if one ever was."""
    page: str | None = c.execute(select(workers.c.page).where(workers.c.id == worker)).scalar_one()
    return page


def last_expiry(c: Connection, project: str) -> float | None:
    """When the last of the leases of a project ends, if there are any; by the index on (project, expires)."""
    own = votes.c.project == project, votes.c.state == LEASED
    found: float | None = c.execute(select(func.max(votes.c.expires)).where(*own)).scalar_one()
    return found


def have_expired(c: Connection, project: str, now: float) -> bool:
    """Whether a lease of a project has expired; by the partial index on (project, expires)."""
    return c.execute(select(votes.c.item).where(*_expired(project, now)).limit(1)).first() is not None


def projects_with_expired(c: Connection, now: float) -> list[str]:
    """Ids of the projects with expired leases; by the partial index on (project, expires)."""
    late = votes.c.state == LEASED, votes.c.expires < now
    return [row.project for row in c.execute(select(votes.c.project).where(*late).distinct())]


def expire(c: Connection, project: str, now: float) -> int:
    """Return all expired leases, in a write transaction; their number."""
    if not have_expired(c, project, now):
        return 0
    number = int(projects.next_change(c, project).change_number)
    values = {"state": RETURNED, "change_number": number}
    return c.execute(update(votes).where(*_expired(project, now)).values(values)).rowcount


def _expired(project: str, now: float) -> tuple[ColumnElement[bool], ...]:
    return votes.c.project == project, votes.c.state == LEASED, votes.c.expires < now


def release(c: Connection, project: str, worker: int) -> None:
    """Return all leases of a worker, in a write transaction."""
    number = int(projects.next_change(c, project).change_number)
    own = votes.c.worker == worker, votes.c.state == LEASED
    c.execute(update(votes).where(*own).values(state=RETURNED, change_number=number))
