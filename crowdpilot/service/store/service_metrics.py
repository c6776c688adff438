"""Operations: numbers for who runs the service."""

from __future__ import annotations

from sqlalchemy import Connection, Table, func, select

from crowdpilot.service.store.tables import deliveries, jobs, projects, workers

COUNTED: dict[str, Table] = {"projects": projects, "jobs": jobs, "workers": workers, "deliveries": deliveries}


def numbers(c: Connection) -> dict[str, dict[str, int]]:
    """How many projects, jobs, workers and deliveries there are in each state; and votes in all."""
    found = {
        name: {row.state: row.n for row in c.execute(
            select(table.c.state, func.count().label("n")).group_by(table.c.state)
        )}
        for name, table in COUNTED.items()
    }  # fmt: skip
    total = c.execute(select(func.coalesce(func.sum(projects.c.votes), 0))).scalar_one()
    return {**found, "votes": {"voted": int(total)}}
