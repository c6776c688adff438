"""History: how votes came in over time, what was decided by then, and which links have signed somebody in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, cast, func, select

from crowdpilot.service.store.jobs import last as find_last
from crowdpilot.service.store.projects import find as find_project
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import audits, items, jobs, log, votes, workers

LINK = "sign in by link"
STEPS = (
    1,
    2,
    5,
    10,
    30,
    60,
    300,
    900,
    1800,
    3600,
    6 * 3600,
    86400,
    7 * 86400,
)  # seconds that one bucket may hold


class Pace(NamedTuple):
    """Votes in equal spans of time, from the first vote on."""

    start: float
    step: float  # seconds
    counts: list[int]


def pace(c: Connection, project: str, buckets: int = 40) -> Pace | None:
    """How many votes came in each span of time, from the first to the last; None before the first."""
    mine = votes.c.project == project, votes.c.state == "voted"
    ends = func.min(votes.c.time).label("first"), func.max(votes.c.time).label("last")
    first, now = c.execute(select(*ends).where(*mine)).one()
    if first is None:
        return None
    step = next((step for step in STEPS if (now - first) / step < buckets), (now - first) / buckets + 1)
    start = first - first % step
    bucket = cast(func.floor((votes.c.time - start) / step), Integer).label("bucket")
    found = c.execute(select(bucket, func.count().label("n")).where(*mine).group_by(bucket))
    counts = [0] * (max(int((now - start) / step), 0) + 1)
    for row in found:
        counts[min(row.bucket, len(counts) - 1)] += row.n
    return Pace(start, step, counts)


def progress(c: Connection, project: str, points: int = 120) -> list[tuple[int, int]]:
    """Votes and items that were still open, each time workers were learned anew."""
    done = jobs.c.project == project, jobs.c.kind == "refit", jobs.c.state == "done"
    rows = c.execute(select(jobs.c.result).where(*done).order_by(jobs.c.id)).all()
    found = {row.result["votes"]: row.result["open"] for row in rows if row.result}
    known = sorted(found.items())
    every = max(1, -(-len(known) // points))
    return known[::-1][::every][::-1]


def sizes(c: Connection) -> dict[str, int]:
    """How many items each project has that are not withdrawn."""
    kept = select(items.c.project, func.count().label("n")).where(items.c.gone != "withdrawn")
    return {row.project: row.n for row in c.execute(kept.group_by(items.c.project))}


def left_open(c: Connection) -> dict[str, int]:
    """How many items of each project were open when workers were last learned anew."""
    done = jobs.c.kind == "refit", jobs.c.state == "done"
    newest = select(func.max(jobs.c.id)).where(*done).group_by(jobs.c.project)
    rows = c.execute(select(jobs.c.project, jobs.c.result).where(jobs.c.id.in_(newest)))
    return {row.project: row.result["open"] for row in rows if row.result}


def votes_by_kind(c: Connection, project: str) -> dict[str, int]:
    """How many votes came from each kind of worker."""
    mine = votes.c.project == project, votes.c.state == "voted"
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    found = select(workers.c.kind, func.count().label("n")).select_from(joined).where(*mine)
    return {row.kind: row.n for row in c.execute(found.group_by(workers.c.kind))}


def bound(c: Connection, project: str) -> dict[str, Any] | None:
    """What the audit of a project proves; None if there is none, or nothing was checked."""
    if c.execute(select(audits.c.at).where(audits.c.project == project)).first() is None:
        return None
    last = find_last(c, project, "audit")
    proved: dict[str, Any] = {} if last is None else (last.result or {}).get("bound", {})
    return proved if proved.get("checked") else None


def is_used(c: Connection, key: str, link: str) -> bool:
    """Whether a link has signed somebody in before."""
    mine = log.c.who == key, log.c.what == LINK
    return any(row.detail.get("link") == link for row in c.execute(select(log.c.detail).where(*mine)))


def item_votes(c: Connection, item: int) -> Sequence[Record]:
    """Votes and can't-tells about an item, in the order in which they came."""
    given = votes.c.item == item, votes.c.state.in_(("voted", "unsure"))
    return c.execute(select(votes).where(*given).order_by(votes.c.time, votes.c.at)).all()


def stamp(c: Connection, project: str, n: int) -> str:
    """What is different whenever something has changed that the page of a project shows."""
    row, recent = find_project(c, project), recent_jobs(c, project, n)
    audit = c.execute(select(audits.c.at).where(audits.c.project == project)).scalar()
    return repr([row.clock, row.state, row.done, audit, [(job.id, job.state, job.tries) for job in recent]])


def recent_jobs(c: Connection, project: str, n: int) -> Sequence[Record]:
    """The last jobs without their results, which may be large; the newest first."""
    columns = [column for column in jobs.c if column.name != "result"]
    return c.execute(
        select(*columns).where(jobs.c.project == project).order_by(jobs.c.id.desc()).limit(n)
    ).all()
