"""Leases: which votes are asked of which worker, released without an answer, or retracted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.hybrid.campaign.acquisition import AcquisitionValues
from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.hybrid.campaign.input_checks import CheckedVote
from crowdpilot.hybrid.campaign.ledger import Ledger, anyone
from crowdpilot.hybrid.campaign.workers import Cell, Workers
from crowdpilot.hybrid.plan import Plan


class Lessee(NamedTuple):
    """A worker by number, or below 0 anyone of a kind; and the number of the kind."""

    worker: int
    kind: int


class Leases:
    """Assigns cells (a question about an item) to workers until their votes arrive.

    Parameters
    ----------
    plan
        Has the limit per worker, and the seed of the random draws.
    questions, workers, ledger
        Votes, who was asked what, and the money reserved for it; all three are changed here.
    values
        Chooses the cells; recomputed for the items of every lease that begins or ends.
    """

    def __init__(
        self,
        plan: Plan,
        questions: Sequence[Question],
        workers: Workers,
        ledger: Ledger,
        values: AcquisitionValues,
    ) -> None:
        self._plan, self._questions, self._workers = plan, questions, workers
        self._ledger, self._values = ledger, values
        self.requests = 0  # requests served so far; numbers the streams of random draws
        self.votes_since_refit = 0

    def register(self, worker: Any, kind: str | None) -> None:
        """Add a worker of a kind, whose votes may be waited for from now on."""
        self._values.include_kind(self._lessee(worker, kind).kind)

    def ask(self, worker: Any, n: int, kind: str | None, gold_share: float = 0.0) -> list[Cell]:
        """Choose up to `n` cells for a worker (None: anyone of a kind) and lease them."""
        lessee = self._lessee(worker, kind)
        asked: set[Cell] = set() if worker is None else self._workers.asked[lessee.worker]
        if worker is not None and self._plan.per_worker is not None:
            n = min(n, self._plan.per_worker - self._workers.asked_count[lessee.worker])
        self._values.include_kind(lessee.kind)
        n = min(n, self._ledger.affordable_votes(self._price(lessee)))
        if n <= 0:
            return []
        rng = np.random.default_rng([self._plan.seed, self.requests])
        cells = self._values.choose(*lessee, asked, n, rng, gold_share)
        self._lease(lessee, cells)
        return cells

    def propose(self, n: int, kind: str | None) -> list[Cell]:
        """The cells that `ask` would lease to anyone of a kind; only the number of requests changes.

        Leases to anyone that were open before end.
        """
        kinds_before = self._values.kinds_met.copy()
        try:
            return self.ask(None, n, kind)
        finally:
            self.release(None)
            self._values.restore_kinds(kinds_before)

    def lease(self, cells: Iterable[Cell], worker: Any, kind: str | None) -> None:
        """Lease these cells as if `ask` had chosen them; those leased to the worker already stay so."""
        lessee = self._lessee(worker, kind)
        self._values.include_kind(lessee.kind)
        self._lease(lessee, [cell for cell in cells if (*cell, lessee.worker) not in self._ledger.leases])

    def _lease(self, lessee: Lessee, cells: list[Cell]) -> None:
        price = self._price(lessee)
        for cell in cells:
            self._ledger.reserve((*cell, lessee.worker), price)
            if lessee.worker >= 0:
                self._workers.mark_asked(lessee.worker, cell)
        self.requests += 1
        self._values.recompute([row for _, row in cells])

    def release(self, worker: Any, cells: Iterable[Cell] | None = None, *, ask_again: bool = True) -> None:
        """End the leases of a worker (None: of anyone), or only those of these cells, without votes."""
        numbers = self._workers.number_of
        named = [numbers[worker]] if worker in numbers else []
        only = None if cells is None else set(cells)
        for who in map(anyone, range(len(self._workers.kinds))) if worker is None else named:
            ended = self._ledger.release(who, only)
            if worker is not None and ask_again:
                self._workers.unmark_asked(who, {key[:2] for key in ended})
            self._values.recompute([row for _, row, _ in ended])

    def retract(self, cells: Sequence[Cell], worker: Any) -> None:
        """Delete a worker's answers, votes or "cannot tell", and lease their cells again."""
        if worker not in self._workers.number_of:
            raise ValueError(f"worker {worker!r} has not answered anything")
        who = self._workers.number_of[worker]
        if not all(self.has_answered(cell, worker) for cell in cells):
            raise ValueError(f"worker {worker!r} has not answered what is to be taken back")
        lessee = Lessee(who, self._workers.kind[who])
        for question, row in cells:
            if self._questions[question].delete_vote(row, who):
                self._ledger.spent -= self._price(lessee)
                self._workers.votes_by_kind[lessee.kind] -= 1
                self.votes_since_refit = max(0, self.votes_since_refit - 1)
        self._lease(lessee, list(cells))

    def receive(self, votes: Sequence[CheckedVote]) -> list[int]:
        """Votes have arrived: pay them and end their leases; returns the numbers of their workers."""
        numbers = [self._workers.register(vote.worker) for vote in votes]
        for (q, row, worker, _), who in zip(votes, numbers, strict=True):
            kind = self._workers.kind[who]
            key = q, row, anyone(kind) if worker is None else who
            self._ledger.settle(key, kind, float(self._values.prices[kind]))
            self._workers.votes_by_kind[kind] += 1
            if worker is not None:
                self._workers.mark_asked(who, (q, row))
        self.votes_since_refit += len(votes)
        return numbers

    def is_leased(self, cell: Cell, worker: Any) -> bool:
        """Whether a worker holds a lease of a cell."""
        who = self._workers.number_of.get(worker)
        return who is not None and (*cell, who) in self._ledger.leases

    def has_answered(self, cell: Cell, worker: Any) -> bool:
        """Whether a worker has voted on a cell or said that they cannot tell."""
        who = self._workers.number_of.get(worker)
        return who is not None and cell in self._workers.asked[who] and not self.is_leased(cell, worker)

    def _lessee(self, worker: Any, kind: str | None) -> Lessee:
        if worker is None:
            code = self._workers.kind_code(kind or self._workers.kinds[0])
            return Lessee(anyone(code), code)
        who = self._workers.register(worker, kind)
        return Lessee(who, self._workers.kind[who])

    def _price(self, lessee: Lessee) -> float:
        return float(self._values.prices[lessee.kind])
