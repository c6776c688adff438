"""Replica: the campaign of one project in the memory of one process, which follows the database.

Every write to a project takes the next change number (`projects.next_change`) and stamps the changed rows.
A replica reads the rows stamped since its own number, in one read transaction, and applies them. The database
is the truth: a replica can be dropped at any time, and one that is built from the tables alone has the same
posterior, because that follows from items, votes and the last model update, whatever their order.

A replica is used by one thread at a time. Changes are read and applied in parts, so that a project of a
million items takes little memory besides its campaign, and the threads of other projects get their turn.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, groupby
from typing import Any

import numpy as np
from sqlalchemy import Connection

from crowdpilot.hybrid import Ask, Campaign
from crowdpilot.service.labelling.review_changes import ReviewChanges
from crowdpilot.service.project_campaign import (
    TRAINED_CLASSIFIERS,
    campaign_settings,
    make_campaign,
    make_prices,
)
from crowdpilot.service.store import items, projects, saved_state, votes, workers
from crowdpilot.service.store.arrivals import guests
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.prices import EarlierVotes, earlier_votes

ITEMS_PER_RECOMPUTE = 4096  # whose acquisition values are recomputed before the time is looked at again

Uploaded = list[items.ChangedItem]
Featurizer = Callable[[Connection, Uploaded], Any]  # features of new items, for a process that trains


class Replica:
    """The campaign of a project, as of a change number.

    Parameters
    ----------
    project
        Its row.
    classifier, featurizer
        In the process that trains: the classifier, and what makes features from the rows of new items.
    """

    def __init__(self, project: Row, classifier: Any = None, featurizer: Featurizer | None = None) -> None:
        self.project: str = project.id
        self._take_description(project)
        self._classifier, self._featurizer = classifier, featurizer
        self._start_over()

    def _take_description(self, project: Row) -> None:
        self.spec: dict[str, Any] = project.spec
        self.spec_number: int = project.spec_number
        self._prices = make_prices(project)

    def is_outdated(self, project: Row) -> bool:
        """Whether the settings have changed so that the campaign has to be built anew."""
        changed = project.spec_number != self.spec_number
        return changed and campaign_settings(project.spec) != campaign_settings(self.spec)

    def _start_over(self) -> None:
        self.campaign: Campaign = make_campaign(self.spec, self._classifier)
        self.change_number = self.update_number = 0  # the latter is that of the last model update applied
        self.item_names: dict[int, str] = {}
        self.item_ids: dict[str, int] = {}
        self._reviews = ReviewChanges(self.campaign)
        self._workers, self._uncounted = set[int](), set[int]()  # all, and those whose votes do not count
        self._waiting: dict[votes.VoteId, str] = {}  # votes that do not count, and the kind of their worker
        self.has_guests = False  # whether somebody came through a link for everybody
        self.is_half_changed = False  # after an error in the middle of `catch_up`: it is of no more use
        self._classifier_cost = 0.0
        self._earlier: EarlierVotes | None = None  # read from the tables when it is needed
        self.outdated = np.arange(0)  # rows whose values were not recomputed since the last model update

    def catch_up(self, c: Connection, max_seconds: float = np.inf) -> Row:
        """Apply all changes up to now, in a read transaction; returns the project's row.

        After a model update the acquisition values of all items are recomputed, for at most `max_seconds`;
        the rest keeps its old values until the next call.
        """
        row = projects.find(c, self.project)
        if row.deletion_number > self.change_number or row.spec_number != self.spec_number:
            is_outdated = row.deletion_number > self.change_number or self.is_outdated(row)
            self._take_description(row)
            self._earlier = None
            if is_outdated:
                self._start_over()  # a campaign cannot forget items and what it learned from them
        if row.change_number > self.change_number:
            is_updated = row.update_number > self.update_number
            model_update = saved_state.read_model_update(c, self.project) if is_updated else None
            self.is_half_changed = True
            self._apply_changes(c)
            if model_update is not None:
                self.campaign.apply_model_update(model_update, recompute_values=False)
                self.update_number, self.outdated = row.update_number, np.arange(len(self.campaign))
            self.is_half_changed = False
        self._recompute_values(max_seconds)
        self.change_number = row.change_number
        earlier = self._read_earlier(c)
        self.campaign.synchronize(
            requests=row.lease_requests, votes_since_refit=row.votes - row.fitted,
            spent=self._spent() + earlier.surplus, reserved_beside=earlier.reserved_surplus,
        )  # fmt: skip
        return row

    def _recompute_values(self, max_seconds: float) -> None:
        end = time.monotonic() + max_seconds
        while len(self.outdated) and time.monotonic() < end:
            rows, self.outdated = np.split(self.outdated, [ITEMS_PER_RECOMPUTE])
            self.campaign.recompute_values(rows)

    def _apply_changes(self, c: Connection) -> None:
        where = c, self.project, self.change_number
        self._apply_items(*where)
        reread = [worker.id for worker in workers.changed_since(*where) if self._apply_worker(worker)]
        for part in chain(votes.changed_since(*where), guests.votes_of(c, reread)):
            self._apply_votes(part)

    def _read_earlier(self, c: Connection) -> EarlierVotes:
        """Votes and leases at earlier prices, read again only when one of them has changed."""
        if not self._prices.earlier:
            return EarlierVotes()
        if self._earlier is None:
            self._earlier = earlier_votes(c, self.project, self._prices)
        return self._earlier

    def _note_earlier(self, changed: Sequence[Row]) -> None:
        """Whether one of these rows has, or had, an earlier price."""
        if self._earlier is None or not self._prices.earlier:
            return
        boundary, leases, view = self._prices.boundary, self._earlier.leases, self.campaign.view
        for row in changed:
            was_leased = (row.item, row.criterion, row.worker) in leases
            if row.lease_number < boundary or was_leased or view.has_answered(
                self.ask_of(row.item, row.criterion), row.worker
            ):  # fmt: skip
                self._earlier = None
                return

    def _spent(self) -> float:
        """All votes by the prices of now: money follows from counts.

        Every vote is paid, however late it came and whether it counts.
        """
        counts = self.campaign.view.votes_by_kind
        prices = self.campaign.costs.prices
        waiting = sum(n * prices[kind] for kind, n in Counter(self._waiting.values()).items())
        voted = sum(n * price for n, price in zip(counts, prices.values(), strict=True))
        return self._classifier_cost + float(voted + waiting)

    @property
    def waiting_votes(self) -> int:
        """The number of votes that do not count: of guests not yet, of blocked workers not any more."""
        return len(self._waiting)

    # Items -----------------------------------------------------------------------------------

    def _apply_items(self, c: Connection, project: str, number: int) -> None:
        new: Uploaded = []  # read, but not added yet
        for part in items.changed_since(c, project, number):
            for upload_number, group in groupby(part, key=lambda item: item.upload_number):
                if upload_number <= number:
                    self._apply_known_items(list(group))
                    continue
                if new and self._draws_pilot and new[0].upload_number != upload_number:
                    self._add(c, new)
                    new = []
                new += group
            if new and not self._draws_pilot:
                self._add(c, new)
                new = []
        if new:
            self._add(c, new)

    @property
    def _draws_pilot(self) -> bool:
        """Whether the next items are to be added upload by upload, because the pilot is drawn from them."""
        return len(self.campaign) == 0 or self.campaign.view.pilot_left > 0

    def _apply_known_items(self, changed: Uploaded) -> None:
        self._reviews.apply_gold(changed)
        self._apply_states(changed)

    def _apply_states(self, changed: Uploaded) -> None:
        self._reviews.apply(changed)
        if stopped := [item.name for item in changed if item.state == items.STOPPED]:
            criteria = self.campaign.criteria
            self.campaign.stop(Ask(name, criterion) for name in stopped for criterion in criteria)
        if withdrawn := [item.name for item in changed if item.state == items.WITHDRAWN]:
            self.campaign.withdraw(withdrawn)

    def _add(self, c: Connection, upload: Uploaded) -> None:
        names = [item.name for item in upload]
        campaign, trained = self.campaign, self.spec["machine"] in TRAINED_CLASSIFIERS
        if trained and len(campaign) == 0:
            campaign.set_pilot_size(len(names), trains_classifier=True)
        features = None if self._featurizer is None else self._featurizer(c, upload)
        gold = {item.name: item.gold for item in upload if item.gold is not None}
        probs = self._classifier_probs(upload)
        campaign.add(names, classifier_probs=probs, features=features, gold=self._reviews.add_gold(gold))
        classified = len(upload) if trained else sum(item.classifier_probs is not None for item in upload)
        self._classifier_cost += campaign.costs.classifier * classified
        self.item_names.update((item.id, item.name) for item in upload)
        self.item_ids.update((item.name, item.id) for item in upload)
        self._apply_states(upload)

    def _classifier_probs(self, upload: Uploaded) -> Any:
        """The uploaded class probabilities of each item, uniform where there are none."""
        K = len(self.campaign.classes)
        if self.spec["machine"] != "given":
            return None
        if not self.campaign.has_criteria:
            return [item.classifier_probs or [1 / K] * K for item in upload]
        return {
            name: [(item.classifier_probs or {}).get(name, [1 / K] * K) for item in upload]
            for name in self.campaign.criteria
        }

    # Workers, leases and votes ---------------------------------------------------------------

    def _apply_worker(self, worker: Row) -> bool:
        """Take over the state of a worker; whether all their votes are to be applied again."""
        self.campaign.register_worker(worker.id, worker.kind)
        if worker.state in (workers.BLOCKED, workers.ERASED):
            self.campaign.release(worker.id)
        self.has_guests |= bool(worker.guest)
        is_changed = worker.id in self._workers and (worker.id in self._uncounted) == worker.trusted
        self._workers.add(worker.id)
        (self._uncounted.discard if worker.trusted else self._uncounted.add)(worker.id)
        return bool(is_changed)

    def _state(self, row: Row) -> str:
        """The state of a vote for the campaign, which takes one that does not count as "can't tell"."""
        return votes.UNSURE if self._is_waiting(row) else str(row.state)

    def _is_waiting(self, row: Row) -> bool:
        """Whether this is a vote that does not count, or not yet."""
        return row.state == votes.VOTED and row.worker in self._uncounted

    def _note_waiting(self, changed: Sequence[Row]) -> None:
        if not self._waiting and not self._uncounted:
            return
        for row in changed:
            id = row.item, row.criterion, row.worker
            self._waiting.pop(id, None)
            if self._is_waiting(row):
                self._waiting[id] = self.campaign.view.kind_of(row.worker)

    def _apply_votes(self, changed: Sequence[Row]) -> None:
        """Leases and answers; each (item, criterion, worker) is one row, in its present state."""
        campaign, view = self.campaign, self.campaign.view
        self._note_earlier(changed)
        self._note_waiting(changed)
        for row in changed:
            ask = self.ask_of(row.item, row.criterion)
            if view.has_answered(ask, row.worker):
                campaign.retract([ask], row.worker)
        for worker, asks in self._by_worker(changed, votes.RETURNED):
            campaign.release(worker, asks)
        new = [row for row in changed if not view.is_leased(self.ask_of(row.item, row.criterion), row.worker)]
        for worker, asks in self._by_worker(new, votes.LEASED, votes.UNSURE):
            campaign.lease(asks, worker)
        for worker, asks in self._by_worker(changed, votes.UNSURE):
            campaign.release(worker, asks, ask_again=False)
        if voted := [self._vote(row) for row in changed if self._state(row) == votes.VOTED]:
            campaign.tell(voted, refit=False)

    def _by_worker(self, changed: Sequence[Row], *states: str) -> list[tuple[int, list[Ask]]]:
        asks: dict[int, list[Ask]] = {}
        for row in changed:
            if self._state(row) in states:
                asks.setdefault(row.worker, []).append(self.ask_of(row.item, row.criterion))
        return list(asks.items())

    def _vote(self, row: Row) -> tuple[str, int, Any, str]:
        item, criterion = self.ask_of(row.item, row.criterion)
        return item, row.worker, self.spec["classes"][row.label], criterion

    def ask(self, worker: int, n: int, kind: str, gold_share: float = 0.0) -> list[tuple[int, int]]:
        """Lease up to `n` (item, criterion) to a worker in memory; `campaign.release` undoes it."""
        requests = self.campaign.view.requests
        asks = self.campaign.ask(worker, n, kind=kind, gold_share=gold_share)
        self.campaign.synchronize(requests=requests + bool(asks))  # as the table will have it
        return [self.database_key(ask) for ask in asks]

    def ask_of(self, item: int, criterion: int) -> Ask:
        """The name of a vote in the campaign."""
        return Ask(self.item_names[item], self.campaign.criteria[criterion])

    def database_key(self, ask: Ask) -> tuple[int, int]:
        """The name of a vote in the database: (item, criterion)."""
        return self.item_ids[ask.item], self.campaign.criteria.index(ask.criterion)
