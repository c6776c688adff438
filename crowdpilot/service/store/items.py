"""Items: what is to be classified, and files that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.errors import ConflictError, NotFoundError
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import files, items

MANY = 500  # values in one condition


def add(c: Connection, project: str, new: Sequence[Mapping[str, Any]]) -> int:
    """New items, all or none; each has a name, a content and perhaps machine and gold. The clock."""
    clock = int(projects.tick(c, project).clock)
    common = {"project": project, "gone": "", "added": clock, "at": clock}
    rows = [{"machine": None, "gold": None, **item, **common} for item in new]
    try:
        c.execute(insert(items), rows)
    except IntegrityError:
        raise ConflictError(_twice(c, project, [row["name"] for row in rows])) from None
    projects.put(c, project, done=False)
    return clock


def _twice(c: Connection, project: str, names: Sequence[str]) -> str:
    seen = set()
    for name in names:
        if name in seen:
            return f"the item {name!r} is given twice; every item has a name of its own"
        seen.add(name)
    return "an item with one of these names is there already; every item has a name of its own"


def known(c: Connection, project: str, names: Sequence[str]) -> dict[str, int]:
    """Ids of those of these items that are there."""
    found: dict[str, int] = {}
    for part in parts(names):
        rows = c.execute(
            select(items.c.name, items.c.id).where(items.c.project == project, items.c.name.in_(part))
        )
        found.update((row.name, row.id) for row in rows)
    return found


def change(c: Connection, project: str, names: Sequence[str], **values: Any) -> None:
    """The same change to several items; refused with 404 if one is not there."""
    found = known(c, project, names)
    if missing := [name for name in names if name not in found]:
        raise NotFoundError(f"there is no item {missing[0]!r}; add it first")
    clock = int(projects.tick(c, project).clock)
    for part in parts(list(found.values())):
        c.execute(update(items).where(items.c.id.in_(part)).values({**values, "at": clock}))
    jobs.enqueue(c, project, "settle")  # it may be done now


def reveal(c: Connection, project: str, gold: Mapping[str, Any]) -> None:
    """The classes of these items are known."""
    change(c, project, list(gold))
    clock = int(projects.tick(c, project).clock)
    for name, label in gold.items():
        mine = items.c.project == project, items.c.name == name
        c.execute(update(items).where(*mine).values(gold=label, at=clock))


def since(c: Connection, project: str, clock: int) -> Sequence[Record]:
    """Items that are new or changed, without what only people look at; in the order in which they came."""
    columns = (
        items.c.id,
        items.c.name,
        items.c.machine,
        items.c.gold,
        items.c.gone,
        items.c.added,
        items.c.at,
    )
    changed = items.c.project == project, items.c.at > clock
    return c.execute(select(*columns).where(*changed).order_by(items.c.id)).all()


def contents(c: Connection, ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """What people see of these items."""
    found: dict[int, dict[str, Any]] = {}
    for part in parts(list(ids)):
        rows = c.execute(select(items.c.id, items.c.content).where(items.c.id.in_(part)))
        found.update((row.id, row.content) for row in rows)
    return found


def all_contents(c: Connection, project: str) -> Sequence[Record]:
    """Id, name and content of all items, in the order in which they came."""
    columns = items.c.id, items.c.name, items.c.content
    return c.execute(select(*columns).where(items.c.project == project).order_by(items.c.id)).all()


def count(c: Connection, project: str) -> int:
    """How many items a project has."""
    return int(c.execute(select(func.count()).where(items.c.project == project)).scalar_one())


def keep_file(c: Connection, project: str, type: str, data: bytes) -> str:
    """Keep a file of a project, once; the digest by which it is found."""
    digest = sha256(data).hexdigest()
    mine = files.c.project == project, files.c.digest == digest
    if c.execute(select(files.c.digest).where(*mine)).first() is None:
        c.execute(insert(files).values(project=project, digest=digest, type=type, data=data))
    return digest


def file(c: Connection, project: str, digest: str) -> Record:
    """A file of a project; refused with 404 if there is none."""
    mine = files.c.project == project, files.c.digest == digest
    row = c.execute(select(files.c.type, files.c.data).where(*mine)).first()
    if row is None:
        raise NotFoundError("there is no such file")
    return row


def parts(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """The same values in pieces that one statement can hold."""
    return (values[n : n + MANY] for n in range(0, len(values), MANY))
