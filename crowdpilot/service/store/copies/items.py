"""Queries for copies of projects: their description, items and files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Text, cast, func, insert, literal, or_, select

from crowdpilot.service.store import items as item_queries
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.items import WITHDRAWN, chunks
from crowdpilot.service.store.tables import files, items

Spec = dict[str, Any]


def find_spec(c: Connection, project: str) -> Spec:
    """The description of a project; `NotFoundError` if there is none."""
    return dict(projects.find(c, project).spec)


def change_spec(c: Connection, project: str, spec: Spec) -> None:
    """Write the description of a project that was just created, in the same transaction."""
    projects.change(c, project, spec=spec)


def has_file(c: Connection, project: str, digest: str) -> bool:
    """Whether a project has a file."""
    own = files.c.project == project, files.c.digest == digest
    return c.execute(select(files.c.digest).where(*own)).first() is not None


def copy_file(c: Connection, source: str, target: str, digest: str) -> None:
    """Copy a file from one project to another, unless it is there; `NotFoundError` if there is none."""
    type = item_queries.file_size(c, source, digest).type
    item_queries.save_file(c, target, type, item_queries.file_data(c, source, digest) or b"")


def count_items(c: Connection, project: str) -> int:
    """The number of items that can be copied: all that are not withdrawn."""
    own = items.c.project == project, items.c.state != WITHDRAWN
    return int(c.execute(select(func.count()).where(*own)).scalar_one())


def lack_probabilities(c: Connection, project: str) -> bool:
    """Whether an item that can be copied has no class probabilities; a scan."""
    own = items.c.project == project, items.c.state != WITHDRAWN
    probs = items.c.classifier_probs
    missing = or_(probs.is_(None), cast(probs, Text) == "null")  # None is written as the JSON value null
    return c.execute(select(items.c.id).where(*own, missing).limit(1)).first() is not None


def copy_items(
    c: Connection, source: str, target: str, *, with_gold: bool, class_order: Sequence[int] | None = None
) -> int:  # fmt: skip
    """Copy the items of a project with their files, in a write transaction; how many.

    Parameters
    ----------
    c, source, target
        The connection, and the ids of both projects. Votes and items that are withdrawn are not copied.
    with_gold
        Whether known classes are copied.
    class_order
        The index in `source` of each class of `target`, by which probabilities are copied; None: none are.
    """
    rows = [row for row in item_queries.list_all(c, source) if row.state != WITHDRAWN]
    _copy_files(c, source, target, rows)
    new = [
        {
            "name": row.name,
            "content": _moved(row.content, source, target),
            "classifier_probs": None if class_order is None else _ordered(row.classifier_probs, class_order),
            "gold": row.gold if with_gold else None,
            "file": row.file,
        }
        for row in rows
    ]
    if new:
        item_queries.add(c, target, new)
    return len(new)


def _copy_files(c: Connection, source: str, target: str, rows: Sequence[Row]) -> None:
    """Copy the files that these items show, unless they are there."""
    address = re.compile(f"/files/{re.escape(source)}/([0-9a-f]{{64}})")
    contents = (address.match(value) for row in rows for value in row.content.values())
    shown = {found[1] for found in contents if found} | {row.file for row in rows if row.file}
    there = select(files.c.digest).where(files.c.project == target)
    columns = literal(target), files.c.digest, files.c.type, files.c.data
    own = select(*columns).where(files.c.project == source, files.c.digest.not_in(there))
    for part in chunks(sorted(shown)):
        chosen = own.where(files.c.digest.in_(part))
        c.execute(insert(files).from_select(["project", "digest", "type", "data"], chosen))


def _ordered(probs: Any, order: Sequence[int]) -> Any:
    """Probabilities of classes in another order; with criteria those of each."""
    if isinstance(probs, dict):
        return {criterion: _ordered(some, order) for criterion, some in probs.items()}
    return None if probs is None else [probs[k] for k in order]


def _moved(content: dict[str, Any], source: str, target: str) -> dict[str, Any]:
    """The content of an item whose files are in another project."""
    start = f"/files/{source}/"
    return {
        kind: value.replace(source, target, 1) if kind != "text" and value.startswith(start) else value
        for kind, value in content.items()
    }
