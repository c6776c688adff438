"""Queries on external votes: written without a lease, changed and retracted by another platform."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from crowdpilot.service.errors import ConflictError
from crowdpilot.service.store import projects
from crowdpilot.service.store.bulk_insert import encode, insert_rows
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.items import chunks
from crowdpilot.service.store.tables import votes, workers
from crowdpilot.service.store.votes import ANSWERED, RETURNED, SAME_VOTE, VOTED, VoteId
from crowdpilot.service.store.workers import ACTIVE, BLOCKED


class StoredVote(NamedTuple):
    """A vote by ids; `key` is its id on the other platform."""

    item: int
    criterion: int
    worker: int
    label: int
    seconds: float | None = None
    time: float | None = None
    key: str | None = None

    @property
    def vote_id(self) -> VoteId:
        """The primary key of its row."""
        return self.item, self.criterion, self.worker


def register_workers(c: Connection, project: str, platform: str, kinds: Mapping[str, str]) -> dict[str, Row]:
    """Rows of workers by their names on a platform, in a write transaction.

    `kinds` maps names to kinds; new workers are inserted in its order. `ConflictError` if one is blocked.
    """
    known = _named(c, project, platform, list(kinds))
    new = [name for name in kinds if name not in known]
    if new:
        number, now = int(projects.next_change(c, project).change_number), time.time()
        common = {"project": project, "platform": platform, "state": ACTIVE, "created": now,
                  "change_number": number}  # fmt: skip
        c.execute(insert(workers), [{**common, "external": name, "kind": kinds[name]} for name in new])
        known |= _named(c, project, platform, new)
    if blocked := [name for name in kinds if known[name].state == BLOCKED]:
        raise ConflictError(f"worker {blocked[0]!r} is blocked; unblock them or leave their votes out")
    return known


def _named(c: Connection, project: str, platform: str, names: Sequence[str]) -> dict[str, Row]:
    """By the unique index on (project, platform, external)."""
    found: dict[str, Row] = {}
    own = workers.c.project == project, workers.c.platform == platform
    for part in chunks(names):
        rows = c.execute(select(workers).where(*own, workers.c.external.in_(part)))
        found.update((row.external, row) for row in rows)
    return found


def states(c: Connection, worker_ids: Sequence[int]) -> dict[VoteId, str]:
    """The states of all leases and answers of these workers; by the index on (worker, state)."""
    columns = votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state
    found: dict[VoteId, str] = {}
    for part in chunks(worker_ids):
        rows = c.execute(select(*columns).where(votes.c.worker.in_(part)))
        found.update(((row.item, row.criterion, row.worker), row.state) for row in rows)
    return found


def write(c: Connection, project: str, new: Sequence[StoredVote]) -> Row:
    """Write votes in a write transaction, each with a change number, so that replicas keep their order.

    A vote replaces an earlier one of the same worker on the same item. Returns the counters of the project.
    """
    before = states(c, list({vote.worker for vote in new}))
    first = int(projects.next_change(c, project, change_number=len(new)).change_number) - len(new) + 1
    rows = [(vote.vote_id in before, _values(project, vote, first + n)) for n, vote in enumerate(new)]
    if added := [row for is_known, row in rows if not is_known]:
        insert_rows(c, votes, encode(votes, tuple(added[0]), added))
    if replaced := [row for is_known, row in rows if is_known]:
        c.execute(_REPLACE, [{f"_{name}": value for name, value in row.items()} for row in replaced])
    changed = sum(before.get(vote.vote_id) in ANSWERED for vote in new)
    counted = sum(before.get(vote.vote_id) == VOTED for vote in new)
    return _count(c, project, len(new) - counted, is_stale=changed > 0)


_COLUMNS = (
    "state",
    "label",
    "seconds",
    "time",
    "key",
    "lease_number",
    "position",
    "expires",
    "change_number",
)
_REPLACE = update(votes).where(SAME_VOTE).values({name: bindparam(f"_{name}") for name in _COLUMNS})


def _values(project: str, vote: StoredVote, number: int) -> dict[str, Any]:
    moment = time.time() if vote.time is None else vote.time
    return {**vote._asdict(), "project": project, "state": VOTED, "time": moment, "lease_number": number,
            "position": 0, "expires": 0.0, "change_number": number}  # fmt: skip


def retract(c: Connection, project: str, platform: str, keys: Sequence[str]) -> int:
    """Retract votes of a platform by their keys, in a write transaction; how many there were."""
    n = 0
    number = int(projects.next_change(c, project).change_number)
    own = select(workers.c.id).where(workers.c.project == project, workers.c.platform == platform)
    for part in chunks(keys):
        named = votes.c.project == project, votes.c.key.in_(part), votes.c.worker.in_(own)
        retracted = update(votes).where(*named, votes.c.state == VOTED)
        values = {"state": RETURNED, "label": None, "key": None, "change_number": number}
        n += c.execute(retracted.values(values)).rowcount
    _count(c, project, -n, is_stale=n > 0)
    return n


def _count(c: Connection, project: str, increment: int, *, is_stale: bool) -> Row:
    """Add to the number of votes; a model update fitted to votes that are gone makes a refit due."""
    row = projects.next_change(c, project, change_number=0, votes=increment)
    if is_stale and row.fitted >= row.votes > 0:
        projects.change(c, project, fitted=row.votes - 1)
    return projects.next_change(c, project, change_number=0)
