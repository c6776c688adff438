"""Overdue: what was lent and not answered in time, in whatever project."""

from __future__ import annotations

from sqlalchemy import Connection, select

from crowdpilot.service.store.tables import votes


def projects(c: Connection, now: float) -> list[str]:
    """Projects that lent something which should be back by now."""
    late = votes.c.state == "lent", votes.c.expires < now
    return [row.project for row in c.execute(select(votes.c.project).where(*late).distinct())]
