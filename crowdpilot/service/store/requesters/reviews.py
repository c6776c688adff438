"""Queries on reviews of items: known classes, decisions of experts, requests for votes; what to undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select, update

from crowdpilot.service.store import items as item_rows
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import action_log, items, votes, workers
from crowdpilot.service.store.votes import VOTED

COLUMNS = "gold", "override", "votes_wanted", "state"  # of an item, that a review may change
UNDO = "undo review"
MAX_LOG_ENTRIES = 500  # of one requester, that are looked through for what can be undone


def find(c: Connection, project: str, names: Sequence[str]) -> dict[str, Row]:
    """Id and reviewed columns of items by name; `NotFoundError` if one is missing."""
    ids = item_rows.require_named(c, project, names)
    columns = items.c.id, items.c.name, *(items.c[name] for name in COLUMNS)
    rows = (
        row
        for part in item_rows.chunks([row.id for row in ids.values()])
        for row in c.execute(select(*columns).where(items.c.id.in_(part)))
    )
    return {row.name: row for row in rows}


def write(c: Connection, project: str, changes: Mapping[int, Mapping[str, Any]]) -> None:
    """Set columns of items by id, in a write transaction, with one change number; check for completion."""
    number = int(projects.next_change(c, project).change_number)
    for id, values in changes.items():
        own = items.c.project == project, items.c.id == id
        c.execute(update(items).where(*own).values({**values, "change_number": number}))
    jobs.enqueue(c, project, "completion")


def votes_that_count(c: Connection, ids: Sequence[int], criteria: int) -> dict[int, int]:
    """The number of votes on each of these items; with criteria on the one that has fewest."""
    fewest = {id: dict.fromkeys(range(criteria), 0) for id in ids}
    columns = votes.c.item, votes.c.criterion, func.count().label("n")
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    for part in item_rows.chunks(ids):
        own = votes.c.item.in_(part), votes.c.state == VOTED, workers.c.trusted
        query = select(*columns).select_from(joined).where(*own).group_by(votes.c.item, votes.c.criterion)
        for row in c.execute(query):
            fewest[row.item][row.criterion] = row.n
    return {id: min(counts.values()) for id, counts in fewest.items()}


def overrides(c: Connection, project: str) -> dict[int, dict[str, Any]]:
    """What experts decided, by item: label, by whom, and when."""
    own = items.c.project == project, items.c.override.is_not(None)
    return {row.id: row.override for row in c.execute(select(items.c.id, items.c.override).where(*own))}


def last_review(c: Connection, project: str, actor: str, actions: Sequence[str]) -> Row | None:
    """The last of these actions of a requester that is about one item and not undone; None without one."""
    own = (
        action_log.c.project == project,
        action_log.c.actor == actor,
        action_log.c.action.in_([*actions, UNDO]),
    )
    query = select(action_log).where(*own).order_by(action_log.c.id.desc()).limit(MAX_LOG_ENTRIES)
    undone: set[int] = set()
    for row in c.execute(query):
        if row.action == UNDO:
            undone.add(row.detail["undoes"])
        elif row.id not in undone and "before" in row.detail:
            return row
    return None
