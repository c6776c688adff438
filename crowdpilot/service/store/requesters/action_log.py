"""Queries on the log of actions: who did what, when and from where."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Connection, insert, select

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import action_log

SIGN_IN, ACCESS, PROJECT, DATA, WORKER, ARRIVAL = "sign-in", "access", "project", "data", "worker", "arrival"
CATEGORIES = (SIGN_IN, ACCESS, PROJECT, DATA, WORKER, ARRIVAL)
COMMAND_LINE = "command line"  # the actor of what an operator does there
address: ContextVar[str | None] = ContextVar("address", default=None)  # of the sender of the request


def write(
    c: Connection, actor: str, action: str, project: str | None = None, /, category: str = PROJECT,
    **detail: Any,
) -> None:  # fmt: skip
    """Write down who did what, in the write transaction that does it."""
    new = {"time": time.time(), "category": category, "actor": actor, "action": action, "project": project,
           "address": address.get(), "detail": detail}  # fmt: skip
    c.execute(insert(action_log).values(new))


def read(
    c: Connection, *, project: str | None = None, categories: Sequence[str] = CATEGORIES,
    before: int | None = None, n: int = 100,
) -> Sequence[Row]:  # fmt: skip
    """The last actions, on a project if given, of some categories, with ids below `before`; newest first."""
    query = select(action_log).where(action_log.c.category.in_(categories))
    query = query if project is None else query.where(action_log.c.project == project)
    query = query if before is None else query.where(action_log.c.id < before)
    return c.execute(query.order_by(action_log.c.id.desc()).limit(n)).all()
