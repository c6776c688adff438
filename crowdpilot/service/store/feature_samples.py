"""Sights: what a machine is shown of items; the first upload is what its eye is made from."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import files, items


def first(c: Connection, project: str) -> Sequence[Record]:
    """Id, name and content of the items that came first, in their order."""
    mine = items.c.project == project
    began = select(func.min(items.c.added)).where(mine).scalar_subquery()
    columns = items.c.id, items.c.name, items.c.content
    return c.execute(select(*columns).where(mine, items.c.added == began).order_by(items.c.id)).all()


def stored(c: Connection, project: str, digest: str) -> bytes | None:
    """A file of a project, if there is one."""
    mine = files.c.project == project, files.c.digest == digest
    data: bytes | None = c.execute(select(files.c.data).where(*mine)).scalar()
    return data
