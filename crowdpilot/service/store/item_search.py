"""Finding: items by what is written in them."""

from __future__ import annotations

import json

from sqlalchemy import Connection, Text, cast, select

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import items


def matching(c: Connection, project: str, words: str) -> set[int]:
    """Ids of the items whose name or text holds these words, in capitals or not."""
    written = json.dumps(words)[1:-1]  # as texts are kept
    hit = items.c.name.icontains(words, autoescape=True) | cast(items.c.content, Text).icontains(
        written, autoescape=True
    )
    return {row.id for row in c.execute(select(items.c.id).where(items.c.project == project, hit))}


def item(c: Connection, project: str, id: int) -> Record:
    """An item of a project; refused with 404 if there is none."""
    row = c.execute(select(items).where(items.c.project == project, items.c.id == id)).first()
    if row is None:
        raise NotFoundError("there is no such item in this project")
    return row
