"""Lessons: what was learned of workers and machine, kept so that every process believes the same."""

from __future__ import annotations

import json
import zlib
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from crowdpilot.service.store import projects
from crowdpilot.service.store.tables import lessons


def pack(lesson: dict[str, Any]) -> bytes:
    """A lesson as it is kept; to be made before the transaction, because it takes a while."""
    return zlib.compress(json.dumps(lesson).encode(), 1)


def write(c: Connection, project: str, data: bytes, votes: int) -> int:
    """Keep the newest lesson, which knows of so many votes; the clock."""
    clock = int(projects.tick(c, project).clock)
    c.execute(delete(lessons).where(lessons.c.project == project))
    c.execute(insert(lessons).values(project=project, at=clock, votes=votes, data=data))
    projects.put(c, project, lesson=clock, fitted=votes)
    return clock


def read(c: Connection, project: str) -> dict[str, Any] | None:
    """The newest lesson, if there is one."""
    row = c.execute(select(lessons.c.data).where(lessons.c.project == project)).first()
    if row is None:
        return None
    lesson: dict[str, Any] = json.loads(zlib.decompress(row.data))
    return lesson
