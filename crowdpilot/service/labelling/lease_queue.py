"""Lease queue: requests for items, served in batches, with optimistic concurrency between processes.

Choosing items needs the replica of the project, which one thread at a time uses. While it serves one batch
the next one gathers, so that each batch reads, writes and commits once.

Guarantees: a lease is committed before its item is shown, and ends at the time written with it (after `lease`
seconds of the project, or sooner for a page that gives signs of life) unless it is extended, answered or
released. A batch commits only if no other process
has leased items of the project since its choice was made (compare-and-set on the project's number of
requests); otherwise it catches up and chooses again.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import (
    AuthenticationError,
    ConflictError,
    RequestError,
    ServiceUnavailableError,
    translatable,
)
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.labelling.waiting_requests import Delivery, Waiting, deliver
from crowdpilot.service.store import clock, items, jobs, leases, projects, votes
from crowdpilot.service.store.arrivals import assignments
from crowdpilot.service.store.clock import Ticker
from crowdpilot.service.store.engine import Row, Store

MAX_ATTEMPTS = 8  # to commit a batch before its requests are refused
MAX_WORKERS_PER_BATCH = 32
LEASE_SWEEP_SECONDS = 1.0  # between two looks for expired leases of a project
PAUSED = translatable("the project is paused; no items are leased now")
CLOSED = translatable("the project is closed; no items are leased now")


class LeasedItem(NamedTuple):
    """What a worker sees of an item: neither its known class nor classifier probabilities or vote counts."""

    item: int
    criterion: int
    content: dict[str, Any]


class LeaseRequest(NamedTuple):
    """A worker who asks for up to `n` items for so many seconds, and the coroutine that waits for them."""

    session: Session
    n: int
    seconds: float  # or as long as the project says, if that is less
    waiting: Waiting[list[LeasedItem]]


class Choice(NamedTuple):
    """What a worker holds already, and what is to be leased to them now."""

    held: list[votes.ItemCriterion]
    new: list[votes.ItemCriterion]


Outcome = Choice | RequestError


class LeaseQueue:
    """Requests that wait for items, and the transactions that lease them.

    Parameters
    ----------
    store
        The database.
    replica
        Returns the replica of a project as it is now, and the project's row.
    """

    def __init__(self, store: Store, replica: Callable[[str], tuple[Replica, Row]]) -> None:
        self.store, self._replica = store, replica
        self._requests: dict[str, deque[LeaseRequest]] = {}  # by project
        self._last_sweep: dict[str, float] = {}
        self._ticker, self._last_tick = Ticker(), -LEASE_SWEEP_SECONDS
        self._ticking = threading.Lock()

    def add(self, session: Session, n: int, seconds: float = inf) -> Waiting[list[LeasedItem]]:
        """Add a request; `serve` has to be called once for each."""
        request = LeaseRequest(session, n, seconds, Waiting())
        self._requests.setdefault(session.project, deque()).append(request)
        return request.waiting

    def serve(self, project: str) -> None:
        """Serve one batch of requests of a project, if there are any; in the thread that has its replica."""
        batch = self._next_batch(self._requests[project])
        if not batch:
            return
        try:
            outcomes: Sequence[list[LeasedItem] | Exception] = self._lease_batch(batch)
        except Exception as error:  # every request must get an answer, whatever happened
            outcomes = [error] * len(batch)
        deliver([Delivery(request.waiting, o) for request, o in zip(batch, outcomes, strict=True)])

    def _next_batch(self, requests: deque[LeaseRequest]) -> list[LeaseRequest]:
        """Requests of which somebody still awaits the answer, at most one of each worker; others stay."""
        batch: dict[int, LeaseRequest] = {}
        later: list[LeaseRequest] = []
        while requests and len(batch) < MAX_WORKERS_PER_BATCH:
            request = requests.popleft()
            if request.session.worker in batch:
                later.append(request)
            elif not request.waiting.future.cancelled():
                batch[request.session.worker] = request
        requests.extendleft(reversed(later))
        return list(batch.values())

    def _lease_batch(self, batch: list[LeaseRequest]) -> list[list[LeasedItem] | Exception]:
        project = batch[0].session.project
        self.sweep(project)
        for _ in range(MAX_ATTEMPTS):
            replica, row = self._replica(project)
            committed = False
            outcomes: list[Outcome] = []
            try:
                outcomes = self._choose(batch, replica, row)
                committed = self._commit(batch, outcomes, replica, row)
            finally:
                if not committed:
                    _release(batch, outcomes, replica)
            if committed:
                return self._with_content(batch, outcomes)
        raise ServiceUnavailableError("many ask at once; try again")

    def _choose(self, batch: list[LeaseRequest], replica: Replica, project: Row) -> list[Outcome]:
        """Choose items for each request; they are leased in the replica, not in the database."""
        ids = [request.session.worker for request in batch]
        with self.store.reading() as c:
            known = assignments.find_many(c, project.id, (r.session.assignment for r in batch))
            held = leases.held_by(c, ids)
            terms = trust.lease_terms(c, project.id, project.spec, known.values())
        return [_choice(r, held.get(r.session.worker, []), known, terms, replica, project) for r in batch]

    def _commit(
        self, batch: list[LeaseRequest], outcomes: list[Outcome], replica: Replica, project: Row
    ) -> bool:
        """Write the leases in one transaction; False if another process has leased since the choice."""
        served = [(r, o) for r, o in zip(batch, outcomes, strict=True) if isinstance(o, Choice)]
        n_new = sum(bool(choice.new) for _, choice in served)
        has_holders = any(choice.held for _, choice in served)
        refit = n_new < len(served) and project.votes != project.fitted
        refit = refit and not replica.campaign.view.has_open_leases
        if not (n_new or has_holders or refit):
            return True
        with self.store.writing() as c:
            expected, number = project.lease_requests, 0
            if n_new:
                claimed = projects.claim_lease_requests(c, project.id, expected, n_new)
                if claimed is None:
                    return False
                number = claimed
            else:
                projects.lock(c, project.id)  # as whoever writes answers, so that neither waits for the other
            for seconds in {request.seconds for request, _ in served}:
                same = [(r.session.worker, choice) for r, choice in served if r.seconds == seconds]
                _write_leases(c, project.id, same, seconds, replica.spec["lease"], number)
            if refit:
                jobs.enqueue(c, project.id, "refit")  # no vote has a value now: it may after a refit
        return True

    def _with_content(
        self, batch: list[LeaseRequest], outcomes: list[Outcome]
    ) -> list[list[LeasedItem] | Exception]:
        """The items of each request with their contents, or why it is refused."""
        leased = [
            outcome if isinstance(outcome, RequestError) else (outcome.held + outcome.new)[: request.n]
            for request, outcome in zip(batch, outcomes, strict=True)
        ]
        ids = {item for one in leased if isinstance(one, list) for item, _ in one}
        with self.store.reading() as c:
            content = items.contents(c, ids)
        return [
            one if isinstance(one, RequestError) else [LeasedItem(i, q, content[i]) for i, q in one]
            for one in leased
        ]

    def sweep(self, project: str) -> None:
        """End expired leases, at most every `LEASE_SWEEP_SECONDS`."""
        moment = time.monotonic()
        if moment - self._last_sweep.get(project, -LEASE_SWEEP_SECONDS) < LEASE_SWEEP_SECONDS:
            return
        self._last_sweep[project] = moment
        self._tick(moment)
        with self.store.reading() as c:
            now = clock.now(c)
            late = leases.have_expired(c, project, now)
        if late:
            with self.store.writing() as c:
                leases.expire(c, project, now)
                jobs.enqueue(c, project, "completion")

    def _tick(self, moment: float) -> None:
        """Advance service time, at most every `LEASE_SWEEP_SECONDS`, whatever the number of projects."""
        with self._ticking:
            if moment - self._last_tick >= LEASE_SWEEP_SECONDS:
                self._last_tick = moment
                with self.store.writing() as c:
                    self._ticker.advance(c)


def _write_leases(
    c: Connection,
    project: str,
    served: Sequence[tuple[int, Choice]],
    seconds: float,
    project_seconds: float,
    number: int,
) -> None:
    """Extend and create the leases of workers who asked for the same time, in a write transaction."""
    new = [(worker, choice.new) for worker, choice in served if choice.new]
    now = clock.now(c)
    until = now + min(seconds, project_seconds)
    if holders := [worker for worker, choice in served if choice.held]:
        leases.extend(c, holders, until, project_seconds)
    if new:
        leases.create(c, project, new, until, number, now=now)


def _choice(
    request: LeaseRequest,
    held: list[votes.ItemCriterion],
    known: dict[int, Row],
    terms: dict[int, trust.LeaseTerms],
    replica: Replica,
    project: Row,
) -> Outcome:
    worker = known.get(request.session.assignment)
    error = _request_error(request.session, worker, project)
    if error is not None or worker is None:
        return error or AuthenticationError(assignments.SESSION_ENDED)
    own = terms.get(worker.id, trust.LeaseTerms())
    n = int(min(request.n, own.most)) - len(held)
    return Choice(held, replica.ask(worker.id, n, worker.kind, own.gold_share) if n > 0 else [])


def _release(batch: list[LeaseRequest], outcomes: list[Outcome], replica: Replica) -> None:
    """End the leases in the replica that were not committed."""
    for request, outcome in zip(batch, outcomes, strict=False):
        if isinstance(outcome, Choice):
            replica.campaign.release(request.session.worker, [replica.ask_of(*key) for key in outcome.new])


def _request_error(session: Session, worker: Row | None, project: Row) -> RequestError | None:
    """Why a worker gets no items, if so."""
    error = assignments.session_error(worker, session.worker, session.nonce)
    if error is None and project.state != projects.OPEN:
        return ConflictError(PAUSED if project.state == projects.PAUSED else CLOSED)
    return error
