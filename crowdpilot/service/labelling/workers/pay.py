"""Pay: the votes of each worker, each by the price of their kind when its item was leased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection

from crowdpilot.service.project_campaign import make_prices
from crowdpilot.service.store import prices, projects, votes, workers


@dataclass(frozen=True)
class WorkerPay:
    """What a worker has earned: a price for each vote; an answer without a label is not paid."""

    worker: int
    platform: str
    external: str | None
    kind: str
    votes: int
    unsure: int
    amount: float
    approved: bool


def list_pay(c: Connection, project: str) -> list[WorkerPay]:
    """The pay of every worker of a project who has answered, in the order in which they came."""
    amounts = prices.cost_by_worker(c, project, make_prices(projects.find(c, project)))
    tally = votes.counts_by_worker(c, project)
    pay = []
    for row in workers.list_all(c, project):
        voted, unsure = (int(tally.get(row.id, {}).get(state, 0)) for state in (votes.VOTED, votes.UNSURE))
        amount = round(amounts.get(row.id, 0.0), 6)
        if voted or unsure:
            who = row.id, row.platform, row.external, row.kind
            pay.append(WorkerPay(*who, voted, unsure, amount, bool(row.approved)))
    return pay


def to_table(pay: Sequence[WorkerPay]) -> pa.Table:
    """A row for each worker."""
    types: dict[str, Any] = {
        "worker": pa.int64(), "platform": pa.string(), "external": pa.string(), "kind": pa.string(),
        "votes": pa.int64(), "unsure": pa.int64(), "amount": pa.float64(), "approved": pa.bool_(),
    }  # fmt: skip
    return pa.table(
        {name: pa.array([getattr(one, name) for one in pay], type) for name, type in types.items()}
    )
