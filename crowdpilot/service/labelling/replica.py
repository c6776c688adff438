"""Mirror: the campaign of one project in the memory of one process, kept up to date from the database.

The database is the truth. A mirror can be thrown away at any moment: one that is made anew from the
tables believes the same, because beliefs follow from items, votes and the last lesson alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from crowdpilot.hybrid import Ask, Campaign
from crowdpilot.service.project_campaign import LEARNED, make_campaign
from crowdpilot.service.store import items, model_updates, projects, votes, workers
from crowdpilot.service.store.row import Record


class News(NamedTuple):
    """What has changed in the tables."""

    items: Sequence[Record]
    workers: Sequence[Record]
    votes: Sequence[Record]
    lesson: dict[str, Any] | None


SLICE = 4096  # items that are weighed at once
Eye = Any  # features(contents) -> rows, for a process that trains


class Replica:
    """What the votes so far say about the items of a project.

    Parameters
    ----------
    project
        Its row.
    classifier, eye
        What learns, in the process that does so, and what it sees of new items: from (id, name,
        content) of each to rows.
    """

    def __init__(self, project: Record, classifier: Any = None, eye: Eye = None) -> None:
        self.project: str = project.id
        self.spec: dict[str, Any] = project.spec
        self.campaign: Campaign = make_campaign(self.spec, classifier)
        self.eye = eye
        self.clock = self.lesson = 0
        self.looked = 0.0  # what the machine has cost
        self.names: dict[int, str] = {}
        self.ids: dict[str, int] = {}
        self._stale = np.arange(0)  # items that were not weighed since the last lesson

    def keep_up(self, c: Connection, patience: float = np.inf) -> Record:
        """Read on from where it stands; the project as it is now.

        After a lesson all items have to be weighed anew. Who cannot wait that long gives the seconds they
        have; what is left is done when somebody calls next, and until then wanted as much as before.
        """
        row = projects.find(c, self.project)
        if row.clock > self.clock:
            news = self._news(c, row)  # all of it first: what cannot be read changes nothing here
            self._items(c, news.items)
            for worker in news.workers:
                self._worker(worker)
            self._votes(news.votes)
            if news.lesson is not None:
                self.campaign.learn(news.lesson, weigh=False)
                self.lesson, self._stale = row.lesson, np.arange(len(self.campaign.pool))
        self._weigh(patience)
        self.clock, self.campaign.asked = row.clock, row.asked
        self.campaign.fresh = row.votes - row.fitted
        self._pay()
        return row

    def _weigh(self, patience: float) -> None:
        end = time.monotonic() + patience
        while len(self._stale) and time.monotonic() < end:
            some, self._stale = self._stale[:SLICE], self._stale[SLICE:]
            self.campaign.wishes.weigh(some)

    def _news(self, c: Connection, row: Record) -> News:
        where = c, self.project, self.clock
        lesson = model_updates.read(c, self.project) if row.lesson > self.lesson else None
        return News(items.since(*where), workers.since(*where), votes.since(*where), lesson)

    def _pay(self) -> None:
        """Every vote that was lent is paid, however late it came; so money follows from counts alone."""
        campaign = self.campaign
        votes_ = sum(n * price for n, price in zip(campaign.staff.votes, campaign.wishes.prices, strict=True))
        campaign.ledger.spent, campaign.ledger.gifts = self.looked + float(votes_), 0

    # Items -----------------------------------------------------------------------------------

    def _items(self, c: Connection, changed: Sequence[Record]) -> None:
        new = [item for item in changed if item.added > self.clock]
        for group in self._uploads(new):
            self._add(c, group)
        old = [item for item in changed if item.added <= self.clock]
        gold = {item.name: item.gold for item in old if item.gold is not None}
        if gold:
            self.campaign.reveal(self._by_criterion(gold))
        if stopped := [item.name for item in changed if item.gone == "stopped"]:
            criteria = self.campaign.criteria
            self.campaign.stop(Ask(name, criterion) for name in stopped for criterion in criteria)
        if withdrawn := [item.name for item in changed if item.gone == "withdrawn"]:
            self.campaign.withdraw(withdrawn)

    def _uploads(self, new: Sequence[Record]) -> list[list[Record]]:
        """Items as they came, because the first to come are the pilot; after that all at once."""
        groups = [list(group) for _, group in groupby(new, key=lambda item: item.added)]
        left, n = self.campaign.pool.first, 0
        while n < len(groups) and left > 0:
            left -= len(groups[n])
            n += 1
        rest = [item for group in groups[n:] for item in group]
        return groups[:n] + ([rest] if rest else [])

    def _add(self, c: Connection, group: list[Record]) -> None:
        names = [item.name for item in group]
        campaign, plan = self.campaign, self.campaign.plan
        learns = self.spec["machine"] in LEARNED
        if learns and len(campaign.pool) == 0 and campaign.policy.pilots:
            campaign.pool.first = plan.first(len(names), True)
        features = None if self.eye is None else self.eye(c, group)
        gold = {item.name: item.gold for item in group if item.gold is not None}
        campaign.add(names, machine=self._machine(group), features=features, gold=self._by_criterion(gold))
        seen = len(group) if learns else sum(item.machine is not None for item in group)
        self.looked += campaign.costs.machine * seen
        self.names.update((item.id, item.name) for item in group)
        self.ids.update((item.name, item.id) for item in group)

    def _machine(self, group: list[Record]) -> Any:
        """What the requester's machine says; a shrug where it says nothing."""
        K = len(self.campaign.classes)
        if self.spec["machine"] != "given":
            return None
        if not self.campaign.several:
            return [item.machine or [1 / K] * K for item in group]
        return {
            name: [(item.machine or {}).get(name, [1 / K] * K) for item in group]
            for name in self.campaign.criteria
        }

    def _by_criterion(self, gold: dict[str, Any]) -> Any:
        if not self.campaign.several:
            return gold
        return {
            criterion: {name: known[criterion] for name, known in gold.items() if criterion in known}
            for criterion in self.campaign.criteria
        }

    # Votes -----------------------------------------------------------------------------------

    def _worker(self, worker: Record) -> None:
        self.campaign.hire(worker.id, worker.kind)
        if worker.state in (workers.BLOCKED, workers.ERASED):
            self.campaign.release(worker.id)

    def _votes(self, changed: Sequence[Record]) -> None:
        """What was lent or answered since; every question of a worker stands here once, as it is now."""
        campaign = self.campaign
        for row in changed:
            if self._answered(row):
                campaign.retract([self.ask_of(row.item, row.criterion)], row.worker)
        for worker, asks in self._by_worker(changed, votes.BACK):
            campaign.release(worker, asks)
        new = [row for row in changed if not self._is_lent(row)]  # what was chosen here is lent already
        for worker, asks in self._by_worker(new, votes.LENT, votes.UNSURE):
            campaign.lend(asks, worker)
        for worker, asks in self._by_worker(changed, votes.UNSURE):
            campaign.release(worker, asks, again=False)
        if told := [self._told(row) for row in changed if row.state == votes.VOTED]:
            campaign.tell(told, refit=False)

    def _by_worker(self, changed: Sequence[Record], *states: str) -> list[tuple[int, list[Ask]]]:
        found: dict[int, list[Ask]] = {}
        for row in changed:
            if row.state in states:
                found.setdefault(row.worker, []).append(self.ask_of(row.item, row.criterion))
        return list(found.items())

    def _key(self, row: Record) -> tuple[int, int, int]:
        campaign = self.campaign
        return row.criterion, campaign.pool.row(self.names[row.item]), campaign.staff.place[row.worker]

    def _is_lent(self, row: Record) -> bool:
        return self._key(row) in self.campaign.ledger.lent

    def _answered(self, row: Record) -> bool:
        *place, who = self._key(row)
        return tuple(place) in self.campaign.staff.seen[who] and not self._is_lent(row)

    def _told(self, row: Record) -> tuple[str, int, Any, str]:
        item, criterion = self.ask_of(row.item, row.criterion)
        return item, row.worker, self.spec["classes"][row.label], criterion

    def ask(self, worker: int, n: int, kind: str) -> list[tuple[int, int]]:
        """Up to `n` questions for a worker; they are lent here, and go back with `campaign.release`."""
        asked = self.campaign.asked
        asks = self.campaign.ask(worker, n, kind=kind)
        self.campaign.asked = asked + bool(asks)  # as the table will say
        return [self.place_of(ask) for ask in asks]

    def ask_of(self, item: int, criterion: int) -> Ask:
        """What the campaign calls a question."""
        return Ask(self.names[item], self.campaign.criteria[criterion])

    def place_of(self, ask: Ask) -> tuple[int, int]:
        """What the database calls a question: item and criterion."""
        return self.ids[ask.item], self.campaign.criteria.index(ask.criterion)
