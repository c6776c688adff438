"""Queries for copies of projects: their description, items and files."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, literal, select

from crowdpilot.service.store import items as item_queries
from crowdpilot.service.store import projects
from crowdpilot.service.store.tables import files

Spec = dict[str, Any]


def find_spec(c: Connection, project: str) -> Spec:
    """The description of a project; `NotFoundError` if there is none."""
    return dict(projects.find(c, project).spec)


def change_spec(c: Connection, project: str, spec: Spec) -> None:
    """Write the description of a project that was just created, in the same transaction."""
    projects.change(c, project, spec=spec)


def copy_file(c: Connection, source: str, target: str, digest: str) -> None:
    """Copy a file from one project to another, unless it is there; `NotFoundError` if there is none."""
    type = item_queries.file_size(c, source, digest).type
    item_queries.save_file(c, target, type, item_queries.file_data(c, source, digest) or b"")


def copy_items(c: Connection, source: str, target: str, *, with_gold: bool) -> int:
    """Copy all items of a project with their files, without votes, in a write transaction; how many."""
    rows = item_queries.list_all(c, source)
    there = select(files.c.digest).where(files.c.project == target)
    columns = literal(target), files.c.digest, files.c.type, files.c.data
    copied = select(*columns).where(files.c.project == source, files.c.digest.not_in(there))
    c.execute(insert(files).from_select(["project", "digest", "type", "data"], copied))
    new = [
        {
            "name": row.name,
            "content": _moved(row.content, source, target),
            "classifier_probs": row.classifier_probs if with_gold else None,
            "gold": row.gold if with_gold else None,
            "file": row.file,
        }
        for row in rows
    ]
    if new:
        item_queries.add(c, target, new)
    return len(new)


def _moved(content: dict[str, Any], source: str, target: str) -> dict[str, Any]:
    """The content of an item whose files are in another project."""
    start = f"/files/{source}/"
    return {
        kind: value.replace(source, target, 1) if kind != "text" and value.startswith(start) else value
        for kind, value in content.items()
    }
