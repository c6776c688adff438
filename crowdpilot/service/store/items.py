"""Queries on items: uploads, states, known classes, search, and the files that belong to items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, case, cast, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.errors import ConflictError, NotFoundError
from crowdpilot.service.store import bulk_insert, jobs, projects
from crowdpilot.service.store.bulk_insert import EncodedRows, insert_rows
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import files, items

OPEN, STOPPED, WITHDRAWN = "open", "stopped", "withdrawn"
UPLOADED_COLUMNS = "name", "content", "classifier_probs", "gold", "file"
MAX_VALUES_PER_QUERY = 500
MAX_ID = (1 << 63) - 1  # that a database can hold
ROWS_PER_PART = 10_000  # of the changes that a replica reads and applies at once


def chunks(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """The same values in parts that one IN condition can hold."""
    return (values[n : n + MAX_VALUES_PER_QUERY] for n in range(0, len(values), MAX_VALUES_PER_QUERY))


# Writing: all in a write transaction, each call with one change number


class NewItems(NamedTuple):
    """Items that are ready to be inserted."""

    names: list[str]
    rows: EncodedRows


def encode(new: Sequence[Mapping[str, Any]]) -> NewItems:
    """Make items ready to be inserted, before the transaction begins; see `add`."""
    return NewItems([item["name"] for item in new], bulk_insert.encode(items, UPLOADED_COLUMNS, new))


def add(c: Connection, project: str, new: Sequence[Mapping[str, Any]] | NewItems) -> int:
    """Insert items, all or none; returns the change number.

    Each has `name` and `content`, and perhaps `classifier_probs` and `gold`. `ConflictError` if a name is
    taken.
    """
    ready = new if isinstance(new, NewItems) else encode(new)
    number = int(projects.next_change(c, project).change_number)
    common = {"project": project, "state": OPEN, "upload_number": number, "change_number": number}
    try:
        insert_rows(c, items, ready.rows, **common)
    except IntegrityError:
        raise ConflictError(_duplicate_message(ready.names)) from None
    projects.change(c, project, done=False)
    return number


def _duplicate_message(names: Sequence[str]) -> str:
    seen = set()
    for name in names:
        if name in seen:
            return f"the item {name!r} is given twice; every item has a name of its own"
        seen.add(name)
    return "an item with one of these names is there already; every item has a name of its own"


def change(c: Connection, project: str, names: Sequence[str], **values: Any) -> None:
    """Set columns of several items, and check for completion; `NotFoundError` if one is missing."""
    found = ids_by_name(c, project, names)
    _require(names, found)
    number = int(projects.next_change(c, project).change_number)
    for part in chunks(list(found.values())):
        c.execute(update(items).where(items.c.id.in_(part)).values({**values, "change_number": number}))
    jobs.enqueue(c, project, "completion")


def set_gold(c: Connection, project: str, gold: Mapping[str, Any]) -> None:
    """Write the known classes of items; `NotFoundError` if one is missing."""
    change(c, project, list(gold))
    number = int(projects.next_change(c, project).change_number)
    for name, label in gold.items():
        this = items.c.project == project, items.c.name == name
        c.execute(update(items).where(*this).values(gold=label, change_number=number))


def _require(names: Sequence[str], found: Mapping[str, Any]) -> None:
    if missing := [name for name in names if name not in found]:
        raise NotFoundError(f"there is no item {missing[0]!r}; add it first")


# Reading


def find(c: Connection, project: str, item: int) -> Row:
    """The row of an item, by the primary key; `NotFoundError` if the project has none such."""
    own = items.c.project == project, items.c.id == item
    row = c.execute(select(items).where(*own)).first() if 0 < item <= MAX_ID else None
    if row is None:
        raise NotFoundError("there is no such item in this project")
    return row


def count(c: Connection, project: str) -> int:
    """The number of items of a project; by the index on (project, change_number)."""
    return int(c.execute(select(func.count()).where(items.c.project == project)).scalar_one())


def exist(c: Connection, project: str) -> bool:
    """Whether a project has items."""
    return c.execute(select(items.c.id).where(items.c.project == project).limit(1)).first() is not None


def knowledge(c: Connection, project: str) -> list[str]:
    """In which of the columns gold, classifier_probs and override classes of an item are named; a scan."""
    columns = items.c.gold, items.c.classifier_probs, items.c.override
    present = [func.max(case((cast(column, Text) != "null", 1), else_=0)) for column in columns]
    found = c.execute(select(*present).where(items.c.project == project)).one()
    return [column.name for column, is_there in zip(columns, found, strict=True) if is_there]


def some_open(c: Connection, project: str, n: int) -> list[int]:
    """Ids of up to `n` items that may be asked about; by the partial index on open items."""
    own = items.c.project == project, items.c.state == OPEN
    return [row.id for row in c.execute(select(items.c.id).where(*own).limit(n))]


def list_all(c: Connection, project: str) -> Sequence[Row]:
    """All rows of a project in the order of upload."""
    return c.execute(select(items).where(items.c.project == project).order_by(items.c.id)).all()


def ids_by_name(c: Connection, project: str, names: Sequence[str]) -> dict[str, int]:
    """Ids of those of the named items that exist; by the index on (project, name)."""
    return {row.name: row.id for row in _named(c, project, names)}


def require_named(c: Connection, project: str, names: Sequence[str]) -> dict[str, Row]:
    """Id, gold and state of items by name; `NotFoundError` if one is missing."""
    found = named(c, project, names)
    _require(names, found)
    return found


def named(c: Connection, project: str, names: Sequence[str]) -> dict[str, Row]:
    """Id, gold and state of those of the named items that exist, by name."""
    return {row.name: row for row in _named(c, project, names)}


def _named(c: Connection, project: str, names: Sequence[str]) -> Iterable[Row]:
    columns = items.c.id, items.c.name, items.c.gold, items.c.state
    for part in chunks(names):
        yield from c.execute(select(*columns).where(items.c.project == project, items.c.name.in_(part)))


def merge_gold(c: Connection, project: str, gold: dict[str, Any]) -> dict[str, Any]:
    """The given known classes, with those of other criteria that were known before."""
    before = require_named(c, project, list(gold))
    return {
        name: {**(before[name].gold or {}), **known} if isinstance(known, dict) else known
        for name, known in gold.items()
    }


class ChangedItem(NamedTuple):
    """What a replica has to know of an item."""

    id: int
    name: str
    classifier_probs: Any
    gold: Any
    override: Any  # the class that an expert decided on; with criteria a mapping to such
    votes_wanted: int | None
    state: str
    upload_number: int


def changed_since(c: Connection, project: str, number: int) -> Iterator[list[ChangedItem]]:
    """Items changed after a change number, in the order of upload, in parts.

    By the index on (project, change_number), in the read transaction of a replica.
    """
    probs, gold = cast(items.c.classifier_probs, Text), cast(items.c.gold, Text)
    more = cast(items.c.override, Text), items.c.votes_wanted, items.c.state, items.c.upload_number
    columns = items.c.id, items.c.name, probs, gold, *more
    changed = items.c.project == project, items.c.change_number > number
    rows = c.execute(select(*columns).where(*changed).order_by(items.c.id))
    for part in rows.partitions(ROWS_PER_PART):
        yield [
            ChangedItem(id, name, _decoded(probs), _decoded(gold), _label(_decoded(override)), *more)
            for id, name, probs, gold, override, *more in part
        ]


def _decoded(text: str | None) -> Any:
    """A value of a JSON column; most are empty, and these are not worth a call of the parser."""
    return None if text is None or text == "null" else json.loads(text)


def _label(override: dict[str, Any] | None) -> Any:
    return None if override is None else override["label"]


def contents(c: Connection, ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The contents of these items by id, by the primary key."""
    rows = (
        row
        for part in chunks(list(ids))
        for row in c.execute(select(items.c.id, items.c.content).where(items.c.id.in_(part)))
    )
    return {row.id: row.content for row in rows}


def contents_by_name(c: Connection, project: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The contents of those of the named items that exist, by the index on (project, name)."""
    columns = items.c.name, items.c.content
    rows = (
        row
        for part in chunks(names)
        for row in c.execute(select(*columns).where(items.c.project == project, items.c.name.in_(part)))
    )
    return {row.name: row.content for row in rows}


def all_contents(c: Connection, project: str) -> Sequence[Row]:
    """Id, name and content of all items in the order of upload."""
    columns = items.c.id, items.c.name, items.c.content
    return c.execute(select(*columns).where(items.c.project == project).order_by(items.c.id)).all()


def overrides_version(c: Connection, project: str) -> str:
    """A text that changes whenever an expert overrides a decision, or takes that back."""
    count, last = func.count(), func.max(items.c.change_number)
    own = items.c.project == project, items.c.override.is_not(None)
    row = c.execute(select(count.label("n"), last.label("last")).where(*own)).one()
    return f"{row.n} {row.last or 0}"


def first_upload(c: Connection, project: str) -> Sequence[Row]:
    """Id, name and content of the items of the first upload, from which featurizers are fitted."""
    own = items.c.project == project
    first = select(func.min(items.c.upload_number)).where(own).scalar_subquery()
    columns = items.c.id, items.c.name, items.c.content
    return c.execute(select(*columns).where(own, items.c.upload_number == first).order_by(items.c.id)).all()


def search(c: Connection, project: str, words: str) -> set[int]:
    """Ids of the items whose name or text contains these words, ignoring case; a scan of the project."""
    escaped = json.dumps(words)[1:-1]  # as texts are written in JSON
    hit = items.c.name.icontains(words, autoescape=True) | cast(items.c.content, Text).icontains(
        escaped, autoescape=True
    )
    return {row.id for row in c.execute(select(items.c.id).where(items.c.project == project, hit))}


# Files, by the unique index on (project, digest)


def save_file(c: Connection, project: str, type: str, data: bytes) -> str:
    """Insert a file unless it is there, in a write transaction; returns its SHA-256 digest."""
    digest = sha256(data).hexdigest()
    own = files.c.project == project, files.c.digest == digest
    if c.execute(select(files.c.digest).where(*own)).first() is None:
        c.execute(insert(files).values(project=project, digest=digest, type=type, data=data))
    return digest


def file_size(c: Connection, project: str, digest: str) -> Row:
    """Type and size in bytes of a file; `NotFoundError` if there is none."""
    own = files.c.project == project, files.c.digest == digest
    size = func.length(files.c.data).label("size")
    row = c.execute(select(files.c.type, size).where(*own)).first()
    if row is None:
        raise NotFoundError("there is no such file")
    return row


def typed_file(c: Connection, project: str, digest: str) -> tuple[str, bytes] | None:
    """The media type and the data of a file, None if there is none."""
    own = files.c.project == project, files.c.digest == digest
    row = c.execute(select(files.c.type, files.c.data).where(*own)).first()
    return None if row is None else (row.type, row.data)


def file_data(c: Connection, project: str, digest: str) -> bytes | None:
    """The data of a file, None if there is none."""
    own = files.c.project == project, files.c.digest == digest
    data: bytes | None = c.execute(select(files.c.data).where(*own)).scalar()
    return data
