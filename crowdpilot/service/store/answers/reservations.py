"""Reservations: the money and the places that an answer takes, counted in the tables.

A lease holds its reservation: money, a place of the item and one of the worker. What has none (an answer to
an item that was given back, or a "can't tell" that is taken back) has to reserve anew, in the transaction
that writes it. Whatever reserves counts as a request for leases, so that a choice of items which was made
before and is not committed yet is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Text, cast, func, or_, select

from crowdpilot.service.store import projects
from crowdpilot.service.store.items import OPEN
from crowdpilot.service.store.prices import PAID, Prices, cost_of_votes
from crowdpilot.service.store.tables import items, votes, workers
from crowdpilot.service.store.votes import ANSWERED, LEASED, VoteId

TOLERANCE = 1e-9  # by which a sum of prices may miss the budget through rounding


class Limits(NamedTuple):
    """The limits of a project.

    Parameters
    ----------
    prices
        Of a vote, by kind of worker, now and before.
    budget
        Most money for votes and classifier.
    classifier
        Price of one item that the classifier looks at.
    classifies_all
        Whether it looks at all items, not only at those that were uploaded with probabilities.
    per_item, per_worker
        Most votes about one question of an item, and most answers of one worker.
    criteria
        Names of the questions about each item, if there are several.
    """

    prices: Prices
    budget: float = inf
    classifier: float = 0.0
    classifies_all: bool = False
    per_item: int | None = None
    per_worker: int | None = None
    criteria: Sequence[str] = ()


class Reservations:
    """Reserves in one write transaction, which holds the row of the project.

    Parameters
    ----------
    c
        The transaction.
    project
        Its id.
    limits
        Of the project.
    """

    def __init__(self, c: Connection, project: str, limits: Limits) -> None:
        self._c, self._project, self._limits = c, project, limits
        self._left: float | None = None  # money, counted when it is first needed

    def take(self, vote_id: VoteId, kind: str, *, is_paid: bool = True, is_new: bool = True) -> bool:
        """Reserve an answer of a worker of a kind; False, and nothing changes, if there is no place for it.

        Parameters
        ----------
        vote_id
            Item, criterion and worker; their row is not leased.
        kind
            Of the worker.
        is_paid
            Whether it has a label, and so takes money and a place of the item.
        is_new
            Whether it takes a place of the worker, which an answer of theirs has already.
        """
        if is_new and not self._is_below_worker_limit(vote_id[2]):
            return False
        if is_paid and not (
            self._is_below_item_limit(vote_id) and self._take_money(self._price(vote_id, kind))
        ):
            return False
        projects.next_change(self._c, self._project, change_number=0, lease_requests=1)
        return True

    def _is_below_worker_limit(self, worker: int) -> bool:
        most = self._limits.per_worker
        asked = votes.c.worker == worker, votes.c.state.in_((LEASED, *ANSWERED))
        return most is None or self._count(*asked) < most

    def _is_below_item_limit(self, vote_id: VoteId) -> bool:
        """Whether an item is open and has fewer votes that count than it may have; gold items test all.

        A requester who asked for more votes than an item may have gets them.
        """
        item, criterion, _ = vote_id
        columns = items.c.state, items.c.gold, items.c.votes_wanted
        row = self._c.execute(select(*columns).where(items.c.id == item)).one()
        if row.state != OPEN:
            return False
        if self._limits.per_item is None or self._is_gold(row.gold, criterion):
            return True
        own = votes.c.item == item, votes.c.criterion == criterion, votes.c.state.in_(PAID)
        counts = votes.c.worker == workers.c.id, or_(workers.c.trusted, votes.c.state == LEASED)
        return self._count(*own, *counts) < max(self._limits.per_item, row.votes_wanted or 0)

    def _is_gold(self, gold: Any, criterion: int) -> bool:
        return gold is not None and (not isinstance(gold, dict) or self._limits.criteria[criterion] in gold)

    def _price(self, vote_id: VoteId, kind: str) -> float:
        """What was promised when the item was leased to the worker."""
        prices = self._limits.prices
        if not prices.earlier:
            return prices.now[kind]
        own = (votes.c.item, votes.c.criterion, votes.c.worker)
        same = (column == value for column, value in zip(own, vote_id, strict=True))
        return prices.of(kind, self._c.execute(select(votes.c.lease_number).where(*same)).scalar_one())

    def _take_money(self, price: float) -> bool:
        if self._limits.budget == inf:
            return True
        if self._left is None:
            self._left = self._limits.budget - self.spent()
        if price > self._left + TOLERANCE:
            return False
        self._left -= price
        return True

    def spent(self) -> float:
        """Money for votes, open leases and the classifier."""
        return cost_of_votes(self._c, self._project, self._limits.prices) + self._classifier_cost()

    def _classifier_cost(self) -> float:
        if self._limits.classifier == 0:
            return 0.0
        has_probs = cast(items.c.classifier_probs, Text) != "null"  # None is written as the JSON value null
        classified = [] if self._limits.classifies_all else [has_probs]
        return self._limits.classifier * self._count(items.c.project == self._project, *classified)

    def _count(self, *conditions: ColumnElement[bool]) -> int:
        return int(self._c.execute(select(func.count()).where(*conditions)).scalar_one())
