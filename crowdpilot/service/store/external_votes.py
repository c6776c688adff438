"""Votes that were given elsewhere: they were lent to nobody here, and may be changed where they came from."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, bindparam, insert, select, update

from crowdpilot.service.errors import ConflictError
from crowdpilot.service.store import projects
from crowdpilot.service.store.items import parts
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import votes, workers
from crowdpilot.service.store.votes import BACK, UNSURE, VOTED
from crowdpilot.service.store.workers import ACTIVE, BLOCKED

Place = tuple[int, int, int]  # item, criterion, worker


class Given(NamedTuple):
    """A vote in numbers, as it was given elsewhere."""

    item: int
    criterion: int
    worker: int
    label: int
    seconds: float | None = None
    time: float | None = None
    key: str | None = None

    @property
    def place(self) -> Place:
        """What it is about, and who gave it."""
        return self.item, self.criterion, self.worker


def enlist(c: Connection, project: str, platform: str, kinds: Mapping[str, str]) -> dict[str, Record]:
    """Workers of a platform by their names there; who is new is enlisted with the kind, in this order."""
    known = _named(c, project, platform, list(kinds))
    new = [name for name in kinds if name not in known]
    if new:
        clock, now = int(projects.tick(c, project).clock), time.time()
        common = {"project": project, "platform": platform, "state": ACTIVE, "created": now, "at": clock}
        c.execute(insert(workers), [{**common, "external": name, "kind": kinds[name]} for name in new])
        known |= _named(c, project, platform, new)
    if barred := [name for name in kinds if known[name].state == BLOCKED]:
        raise ConflictError(f"worker {barred[0]!r} is blocked; unblock them or leave their votes out")
    return known


def _named(c: Connection, project: str, platform: str, names: Sequence[str]) -> dict[str, Record]:
    found: dict[str, Record] = {}
    mine = workers.c.project == project, workers.c.platform == platform
    for part in parts(names):
        rows = c.execute(select(workers).where(*mine, workers.c.external.in_(part)))
        found.update((row.external, row) for row in rows)
    return found


def states(c: Connection, given: Sequence[int]) -> dict[Place, str]:
    """What these workers were lent or have answered, and how that stands."""
    columns = votes.c.item, votes.c.criterion, votes.c.worker, votes.c.state
    found: dict[Place, str] = {}
    for part in parts(given):
        rows = c.execute(select(*columns).where(votes.c.worker.in_(part)))
        found.update(((row.item, row.criterion, row.worker), row.state) for row in rows)
    return found


def put(c: Connection, project: str, given: Sequence[Given]) -> Record:
    """Take these votes, each with a number of the clock, so that they are heard in this order.

    A vote takes the place of what the same worker said before about the same. The project as it is then.
    """
    before = states(c, list({vote.worker for vote in given}))
    first = int(projects.tick(c, project, clock=len(given)).clock) - len(given) + 1
    rows = [_row(project, vote, first + n) for n, vote in enumerate(given)]
    new = [row for vote, row in zip(given, rows, strict=True) if vote.place not in before]
    old = [row for vote, row in zip(given, rows, strict=True) if vote.place in before]
    if new:
        c.execute(insert(votes), new)
    if old:
        c.execute(_AGAIN, [{f"_{name}": value for name, value in row.items()} for row in old])
    changed = sum(before.get(vote.place) in (VOTED, UNSURE) for vote in given)
    counted = sum(before.get(vote.place) == VOTED for vote in given)
    return _count(c, project, len(given) - counted, is_stale=changed > 0)


_COLUMNS = ("state", "label", "seconds", "time", "key", "turn", "place", "expires", "at")
_AGAIN = (
    update(votes)
    .where(and_(*(votes.c[name] == bindparam(f"_{name}") for name in ("item", "criterion", "worker"))))
    .values({name: bindparam(f"_{name}") for name in _COLUMNS})
)


def _row(project: str, vote: Given, clock: int) -> dict[str, Any]:
    moment = time.time() if vote.time is None else vote.time
    return {"project": project, "item": vote.item, "criterion": vote.criterion, "worker": vote.worker,
            "state": VOTED, "label": vote.label, "seconds": vote.seconds, "time": moment, "key": vote.key,
            "turn": clock, "place": 0, "expires": 0.0, "at": clock}  # fmt: skip


def take_back(c: Connection, project: str, platform: str, keys: Sequence[str]) -> int:
    """Take back votes of a platform by their keys; how many there were."""
    n = 0
    clock = int(projects.tick(c, project).clock)
    own = select(workers.c.id).where(workers.c.project == project, workers.c.platform == platform)
    for part in parts(keys):
        mine = votes.c.project == project, votes.c.key.in_(part), votes.c.worker.in_(own)
        gone = update(votes).where(*mine, votes.c.state == VOTED)
        n += c.execute(gone.values(state=BACK, label=None, key=None, at=clock)).rowcount
    _count(c, project, -n, is_stale=n > 0)
    return n


def _count(c: Connection, project: str, more: int, *, is_stale: bool) -> Record:
    """So many votes more. A lesson that knows of votes which are not there any more is to be learned anew."""
    row = projects.tick(c, project, clock=0, votes=more)
    if is_stale and row.fitted >= row.votes > 0:
        projects.put(c, project, fitted=row.votes - 1)
    return projects.tick(c, project, clock=0)
