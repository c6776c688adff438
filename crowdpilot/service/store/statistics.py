"""Statistics for dashboard and metrics: votes over time, open items at each refit, counts by state."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, Table, cast, func, select

from crowdpilot.service.store import projects as project_rows
from crowdpilot.service.store.items import WITHDRAWN
from crowdpilot.service.store.jobs import DONE, last_done, recent
from crowdpilot.service.store.saved_state import audit_version
from crowdpilot.service.store.tables import items, jobs, projects, votes, webhook_deliveries, workers
from crowdpilot.service.store.votes import VOTED

HOUR, DAY = 3600, 86400
BIN_SECONDS = (1, 2, 5, 10, 30, 60, 300, 900, 1800, HOUR, 6 * HOUR, DAY, 7 * DAY)  # widths to choose from
WITH_STATES: dict[str, Table] = {
    "projects": projects, "jobs": jobs, "workers": workers, "deliveries": webhook_deliveries,
}  # fmt: skip


class VoteHistogram(NamedTuple):
    """Numbers of votes in equal intervals of time, from the first vote on."""

    start: float
    step: float  # seconds
    counts: list[int]


def votes_over_time(c: Connection, project: str, bins: int = 40) -> VoteHistogram | None:
    """A histogram of the times of votes, from the first to the last; None before the first."""
    own = votes.c.project == project, votes.c.state == VOTED
    ends = func.min(votes.c.time).label("first"), func.max(votes.c.time).label("last")
    first, last = c.execute(select(*ends).where(*own)).one()
    if first is None:
        return None
    span = last - first
    step = next((step for step in BIN_SECONDS if span / step < bins), span / bins + 1)
    start = first - first % step
    bin = cast(func.floor((votes.c.time - start) / step), Integer).label("bin")
    counts = [0] * (max(int((last - start) / step), 0) + 1)
    for row in c.execute(select(bin, func.count().label("n")).where(*own).group_by(bin)):
        counts[min(row.bin, len(counts) - 1)] += row.n
    return VoteHistogram(start, step, counts)


def open_items_by_votes(c: Connection, project: str, points: int = 120) -> list[tuple[int, int]]:
    """Pairs (votes, open items) at each refit of a project, at most `points` of them."""
    done = jobs.c.project == project, jobs.c.kind == "refit", jobs.c.state == DONE
    rows = c.execute(select(jobs.c.result).where(*done).order_by(jobs.c.id)).all()
    curve = sorted({row.result["votes"]: row.result["open"] for row in rows if row.result}.items())
    every = max(1, -(-len(curve) // points))
    return curve[::-1][::every][::-1]


def item_counts(c: Connection) -> dict[str, int]:
    """The number of items of each project, without withdrawn ones."""
    present = select(items.c.project, func.count().label("n")).where(items.c.state != WITHDRAWN)
    return {row.project: row.n for row in c.execute(present.group_by(items.c.project))}


def open_item_counts(c: Connection) -> dict[str, int]:
    """The number of open items of each project at its last refit."""
    done = jobs.c.kind == "refit", jobs.c.state == DONE
    newest = select(func.max(jobs.c.id)).where(*done).group_by(jobs.c.project)
    rows = c.execute(select(jobs.c.project, jobs.c.result).where(jobs.c.id.in_(newest)))
    return {row.project: row.result["open"] for row in rows if row.result}


def votes_by_kind(c: Connection, project: str) -> dict[str, int]:
    """The number of votes of each kind of worker."""
    own = votes.c.project == project, votes.c.state == VOTED
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    query = select(workers.c.kind, func.count().label("n")).select_from(joined).where(*own)
    return {row.kind: row.n for row in c.execute(query.group_by(workers.c.kind))}


def audit_bound(c: Connection, project: str) -> dict[str, Any] | None:
    """The bound that the audit of a project proves; None without an audit or before its first answer."""
    if audit_version(c, project) == 0:
        return None
    last = last_done(c, project, "audit")
    bound: dict[str, Any] = {} if last is None else (last.result or {}).get("bound", {})
    return bound if bound.get("checked") else None


def page_version(c: Connection, project: str, n_jobs: int) -> str:
    """A text that differs whenever something has changed that the page of a project shows."""
    row, audit = project_rows.find(c, project), audit_version(c, project)
    shown = [(job.id, job.state, job.tries) for job in recent(c, project, n_jobs)]
    return repr([row.change_number, row.state, row.done, audit, shown])


def counts_by_state(c: Connection) -> dict[str, dict[str, int]]:
    """Numbers of projects, jobs, workers and deliveries in each state, and of votes in all."""
    counts = {
        name: {row.state: row.n for row in c.execute(
            select(table.c.state, func.count().label("n")).group_by(table.c.state)
        )}
        for name, table in WITH_STATES.items()
    }  # fmt: skip
    total = c.execute(select(func.coalesce(func.sum(projects.c.votes), 0))).scalar_one()
    return {**counts, "votes": {VOTED: int(total)}}
