"""Prices of votes: what each vote costs, where the price has changed since some were leased.

A vote costs what was promised when its item was leased: the price of that time, however late it is answered.
Earlier prices are kept with the change number until which they held, so that nothing is written to votes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Integer, case, func, literal, select

from crowdpilot.service.store.tables import votes, workers
from crowdpilot.service.store.votes import LEASED, VOTED, VoteId

PAID = (VOTED, LEASED)


class Prices(NamedTuple):
    """The prices of a vote by kind of worker, now and before.

    Parameters
    ----------
    now
        By kind.
    earlier
        Pairs (until, prices), the oldest first: prices of leases with a lower number than `until`.

    Examples
    --------
    >>> prices = Prices({"crowd": 0.05}, [(7, {"crowd": 0.02})])
    >>> prices.of("crowd", 6), prices.of("crowd", 8)
    (0.02, 0.05)
    """

    now: Mapping[str, float]
    earlier: Sequence[tuple[int, Mapping[str, float]]] = ()

    @property
    def boundary(self) -> int:
        """Leases from this number on have the prices of now."""
        return self.earlier[-1][0] if self.earlier else 0

    def of(self, kind: str, lease_number: int) -> float:
        """The price of a vote whose item was leased with this number."""
        before = next((prices for until, prices in self.earlier if lease_number < until), self.now)
        return before.get(kind, self.now.get(kind, 0.0))

    def in_period(self, kind: str, period: int) -> float:
        """The price in one of the earlier periods, or now."""
        prices = self.earlier[period][1] if period < len(self.earlier) else self.now
        return prices.get(kind, self.now.get(kind, 0.0))

    def as_of(self) -> ColumnElement[int]:
        """The number of the period in which an item was leased, as an expression of SQL."""
        if not self.earlier:
            return literal(0, Integer)
        whens = [(votes.c.lease_number < until, n) for n, (until, _) in enumerate(self.earlier)]
        return case(*whens, else_=len(self.earlier))


class EarlierVotes(NamedTuple):
    """What is paid by other prices than those of now: how much more than by these, and the open leases."""

    surplus: float = 0.0  # of votes
    reserved_surplus: float = 0.0  # of open leases
    leases: frozenset[VoteId] = frozenset()


def read_history(stored: Sequence[Mapping[str, Any]] | None) -> list[tuple[int, Mapping[str, float]]]:
    """Earlier prices, from the column of a project."""
    return [(int(period["until"]), period["prices"]) for period in stored or ()]


def cost_of_votes(c: Connection, project: str, prices: Prices, states: Sequence[str] = PAID) -> float:
    """The cost of all votes of a project in these states, each by the price of its lease."""
    own = votes.c.project == project, votes.c.state.in_(states)
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    period = prices.as_of().label("period")
    counts = select(workers.c.kind, period, func.count().label("n")).select_from(joined).where(*own)
    grouped = c.execute(counts.group_by(workers.c.kind, *([period] if prices.earlier else [])))
    return float(sum(prices.in_period(row.kind, row.period) * row.n for row in grouped))


def cost_by_worker(c: Connection, project: str, prices: Prices) -> dict[int, float]:
    """The cost of the votes of each worker."""
    own = votes.c.project == project, votes.c.state == VOTED
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    period = prices.as_of().label("period")
    counts = select(votes.c.worker, workers.c.kind, period, func.count().label("n")).select_from(joined)
    by = votes.c.worker, workers.c.kind, *([period] if prices.earlier else [])
    costs: dict[int, float] = {}
    for row in c.execute(counts.where(*own).group_by(*by)):
        costs[row.worker] = costs.get(row.worker, 0.0) + row.n * prices.in_period(row.kind, row.period)
    return costs


def earlier_votes(c: Connection, project: str, prices: Prices) -> EarlierVotes:
    """What is paid by earlier prices, for a replica, in its read transaction."""
    before = votes.c.project == project, votes.c.lease_number < prices.boundary
    joined = votes.join(workers, workers.c.id == votes.c.worker)
    period = prices.as_of().label("period")
    counts = select(workers.c.kind, period, func.count().label("n")).select_from(joined)
    voted = c.execute(counts.where(*before, votes.c.state == VOTED).group_by(workers.c.kind, period))
    surplus = sum(row.n * (prices.in_period(row.kind, row.period) - prices.now[row.kind]) for row in voted)
    columns = votes.c.item, votes.c.criterion, votes.c.worker, workers.c.kind, period
    leased = c.execute(select(*columns).select_from(joined).where(*before, votes.c.state == LEASED)).all()
    reserved = sum(prices.in_period(row.kind, row.period) - prices.now[row.kind] for row in leased)
    return EarlierVotes(float(surplus), float(reserved), frozenset(tuple(row[:3]) for row in leased))
