"""SimulatedCrowd: known and new workers who answer a campaign by drawn confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import to_probs
from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.campaign.decisions import Ask
from crowdpilot.hybrid.forecast.pilot import MIN_PROBABILITY, PosteriorDraw, Random, draw_classes
from crowdpilot.hybrid.replay.vote_source import VoteTuple

MAX_WORKER_REDRAWS = 5  # to find a worker who has not answered before a new one comes
PRIOR_VOTES = 20.0  # pseudo-count of votes in the estimated probability of a new worker

Ints = NDArray[np.intp]


class SimulatedCrowd:
    """Answers the requests of a campaign, by workers of one kind at a time.

    Known workers come in proportion to their votes so far; a new worker comes with the probability of
    Good and Turing, (workers with one vote) / votes, smoothed.

    Parameters
    ----------
    campaign
        At its present state; new workers are registered with it.
    draws
        The posterior draw of each criterion.
    max_votes_per_item
        Votes that can be had on each item, by name or for all; None for no limit.
    rng
        Of everything that is drawn.

    References
    ----------
    Good, The population frequencies of species and the estimation of population parameters,
    Biometrika 40, 1953. https://doi.org/10.1093/biomet/40.3-4.237
    """

    def __init__(
        self,
        campaign: Campaign,
        draws: Sequence[PosteriorDraw],
        max_votes_per_item: Mapping[Any, int] | int | None,
        rng: Random,
    ) -> None:
        self._campaign, self._draws, self._rng = campaign, draws, rng
        self._criterion_code = {name: q for q, name in enumerate(campaign.criteria)}
        workers = campaign.view.workers()
        self._items = campaign.view.item_names
        self._names: list[Any] = workers.names
        self._kind, self._kinds = workers.kind, workers.kinds
        self._confusion = [draw.confusion for draw in draws]  # of each criterion, (workers, true, said)
        self._anonymous = np.array([name is None for name in self._names], bool)
        votes = [campaign.view.votes(criterion) for criterion in campaign.criteria]
        self._item_votes = np.stack([np.bincount(v.task, minlength=len(v.tasks)) for v in votes], axis=1)
        by_worker = np.concatenate([v.worker for v in votes])
        self._worker_votes = np.bincount(by_worker, minlength=len(self._names)).astype(np.float64)
        dropped = [campaign.view.estimates(criterion).dropped_counts for criterion in campaign.criteria]
        self._worker_votes += sum(counts.sum(axis=(1, 2)) for counts in dropped)
        self._answered = self._code(*workers.asked.T)  # "cannot tell" is an answer
        once = np.count_nonzero((self._worker_votes == 1) & ~self._anonymous)
        self._new_worker_probability = (once + 1) / (self._worker_votes.sum() + PRIOR_VOTES)
        self._max_votes = self._limits(max_votes_per_item)
        self._exhausted = np.zeros(self._item_votes.shape, bool)

    def _limits(self, limit: Mapping[Any, int] | int | None) -> NDArray[Any]:
        """Maximum votes on each item, (items,)."""
        if isinstance(limit, Mapping):
            return np.array([limit.get(item, np.inf) for item in self._items])
        return np.full(len(self._items), np.inf if limit is None else limit)

    def answer(self, asks: Sequence[Ask], kind: str) -> list[VoteTuple]:
        """One vote for each request, by workers of one kind."""
        rows = self._campaign.view.item_rows(ask.item for ask in asks)
        question = np.array([self._criterion_code[ask.criterion] for ask in asks], np.intp)
        worker = self._draw_workers(rows, question, self._kinds.index(kind))
        label = np.zeros(len(asks), np.intp)
        for q, draw in enumerate(self._draws):
            mine = question == q
            probs = self._confusion[q][worker[mine], draw.consensus[rows[mine]]]
            label[mine] = draw_classes(probs, self._rng)
        np.add.at(self._item_votes, (rows, question), 1)
        labels = self._campaign.classes[label].tolist()
        answered = zip(asks, worker.tolist(), labels, strict=True)
        return [(ask.item, self._names[w], name, ask.criterion) for ask, w, name in answered]

    def exhausted(self) -> list[Ask]:
        """Questions on which no further vote can be had; each is returned once."""
        full = (self._item_votes >= self._max_votes[:, None]) & ~self._exhausted
        self._exhausted |= full
        criteria = self._campaign.criteria
        return [Ask(self._items[row], criteria[q]) for row, q in np.argwhere(full).tolist()]

    def _draw_workers(self, rows: Ints, question: Ints, kind: int) -> Ints:
        """A worker for each request, nobody twice on one question about an item, (requests,)."""
        worker = np.full(len(rows), -1, np.intp)
        weights = np.where(self._kind == kind, self._worker_votes, 0)
        if weights.any():
            pending = np.flatnonzero(self._rng.random(len(rows)) >= self._new_worker_probability)
            for _ in range(MAX_WORKER_REDRAWS):
                if len(pending) == 0:
                    break
                worker[pending] = self._rng.choice(len(weights), len(pending), p=weights / weights.sum())
                pending = pending[self._repeats(worker, rows, question)[pending]]
            worker[pending] = -1
        new = worker < 0
        worker[new] = self._add_workers(int(new.sum()), kind)
        self._answered = np.concatenate([self._answered, self._code(worker, rows, question)])
        np.add.at(self._worker_votes, worker, 1)
        return worker

    def _repeats(self, worker: Ints, rows: Ints, question: Ints) -> NDArray[np.bool_]:
        """Whether a worker has answered the same question before, in this batch or earlier, (requests,)."""
        code = self._code(worker, rows, question)
        first = np.zeros(len(code), bool)
        first[np.unique(code, return_index=True)[1]] = True
        answered = ~first | np.isin(code, self._answered)
        repeats: NDArray[np.bool_] = answered & (worker >= 0) & ~self._anonymous[worker]
        return repeats

    def _code(self, worker: Any, rows: Any, question: Any) -> Ints:
        """One number for each combination of worker, item and question."""
        item = np.asarray(worker, np.intp) * len(self._items) + rows
        code: Ints = item * len(self._draws) + question
        return code

    def _add_workers(self, n: int, kind: int) -> Ints:
        """New workers, with confusion matrices drawn around that of their kind; their numbers, (n,)."""
        first = len(self._names)
        names = [f"new worker {first + i} of a forecast" for i in range(n)]
        for name in names:
            self._campaign.register_worker(name, self._kinds[kind])
        self._names += names
        self._kind = np.append(self._kind, np.full(n, kind))
        self._worker_votes = np.append(self._worker_votes, np.zeros(n))
        self._anonymous = np.append(self._anonymous, np.zeros(n, bool))
        weight = self._campaign.plan.worker_pseudo_counts
        for q, draw in enumerate(self._draws):
            counts = np.repeat(weight * draw.kind_confusion[[kind]], n, axis=0)
            confusion = to_probs(np.maximum(self._rng.standard_gamma(counts), MIN_PROBABILITY))
            self._confusion[q] = np.concatenate([self._confusion[q], confusion])
        return np.arange(first, first + n)
