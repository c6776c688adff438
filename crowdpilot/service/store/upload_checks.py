"""Uploads: what has to be known of items before more is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.store.items import parts
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import items


def named(c: Connection, project: str, names: Sequence[str]) -> dict[str, Record]:
    """Gold and state of items by name; refused with 404 if one is not there."""
    found: dict[str, Record] = {}
    for part in parts(names):
        mine = items.c.project == project, items.c.name.in_(part)
        rows = c.execute(select(items.c.name, items.c.gold, items.c.gone).where(*mine))
        found.update((row.name, row) for row in rows)
    if missing := [name for name in names if name not in found]:
        raise NotFoundError(f"there is no item {missing[0]!r}; add it first")
    return found


def everything(c: Connection, project: str) -> Sequence[Record]:
    """All that is known of all items, in the order in which they came."""
    return c.execute(select(items).where(items.c.project == project).order_by(items.c.id)).all()


def merged(c: Connection, project: str, gold: dict[str, Any]) -> dict[str, Any]:
    """Known classes together with those of other criteria that were known before."""
    before = named(c, project, list(gold))
    return {
        name: {**(before[name].gold or {}), **known} if isinstance(known, dict) else known
        for name, known in gold.items()
    }
