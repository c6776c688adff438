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


class RefitProgress(NamedTuple):
    """How many items were settled and final when so many votes had come."""

    votes: int
    settled: int
    final: int


def progress_by_votes(c: Connection, project: str, points: int = 120) -> list[RefitProgress]:
    """The progress at each refit of a project, at most `points` of them."""
    done = jobs.c.project == project, jobs.c.kind == "refit", jobs.c.state == DONE
    rows = c.execute(select(jobs.c.result).where(*done).order_by(jobs.c.id)).all()
    curve = {row.result["votes"]: _progress(row.result) for row in rows if _has_progress(row.result)}
    ordered = [curve[votes] for votes in sorted(curve)]
    every = max(1, -(-len(ordered) // points))
    return ordered[::-1][::every][::-1]


def _has_progress(result: dict[str, Any] | None) -> bool:
    """Whether a refit has counted its items; those of earlier versions have not."""
    return result is not None and "settled" in result


def _progress(result: dict[str, Any]) -> RefitProgress:
    return RefitProgress(int(result["votes"]), int(result["settled"]), int(result["final"]))


def item_counts(c: Connection) -> dict[str, int]:
    """The number of items of each project, without withdrawn ones."""
    present = select(items.c.project, func.count().label("n")).where(items.c.state != WITHDRAWN)
    return {row.project: row.n for row in c.execute(present.group_by(items.c.project))}


def last_progress(c: Connection) -> dict[str, RefitProgress]:
    """The progress of each project at its last refit."""
    done = jobs.c.kind == "refit", jobs.c.state == DONE
    newest = select(func.max(jobs.c.id)).where(*done).group_by(jobs.c.project)
    rows = c.execute(select(jobs.c.project, jobs.c.result).where(jobs.c.id.in_(newest)))
    return {row.project: _progress(row.result) for row in rows if _has_progress(row.result)}


class AnswerTimes(NamedTuple):
    """How many votes have a time, their median in seconds, and how many were given too fast to look."""

    timed: int = 0
    median: float = 0.0
    fast: int = 0


def answer_times(c: Connection, project: str, min_seconds: float, min_share: float) -> AnswerTimes:
    """How long votes took; fast ones took less than `min_seconds` or than this share of the median.

    A sort of all votes of the project.
    """
    own = votes.c.project == project, votes.c.state == VOTED, votes.c.seconds.is_not(None)
    timed = int(c.execute(select(func.count()).select_from(votes).where(*own)).scalar_one())
    if timed == 0:
        return AnswerTimes()
    middle = select(votes.c.seconds).where(*own).order_by(votes.c.seconds).offset(timed // 2).limit(1)
    median = float(c.execute(middle).scalar_one())
    below = votes.c.seconds < max(min_seconds, min_share * median)
    fast = select(func.count()).select_from(votes).where(*own, below)
    return AnswerTimes(timed, median, int(c.execute(fast).scalar_one()))


def only_guests_voted(c: Connection, project: str) -> bool:
    """Whether there are votes, and all are by workers who came through a link for everybody."""
    own = votes.c.project == project, votes.c.state == VOTED
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    kinds = select(workers.c.guest).distinct().select_from(joined).where(*own)
    return {bool(row.guest) for row in c.execute(kinds)} == {True}


class LastVote(NamedTuple):
    """When the last vote came, and how many workers have voted within the last hour."""

    time: float | None
    active: int


def last_vote(c: Connection, project: str, now: float) -> LastVote:
    """The last vote of a project, and who is active."""
    own = votes.c.project == project, votes.c.state == VOTED
    last = c.execute(select(func.max(votes.c.time)).where(*own)).scalar()
    recent_ = select(func.count(votes.c.worker.distinct())).where(*own, votes.c.time > now - HOUR)
    return LastVote(last, int(c.execute(recent_).scalar_one()))


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
