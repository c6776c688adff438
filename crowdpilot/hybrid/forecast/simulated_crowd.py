"""A crowd that might be: workers as they were drawn, who come as they came before, and new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import to_probs
from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.campaign.decisions import Ask
from crowdpilot.hybrid.forecast.pilot import TINY, Draw, Random, pick
from crowdpilot.hybrid.replay.vote_source import VoteTuple

TRIES = 5  # to find somebody who has not answered before somebody new comes
USUAL = 20.0  # votes of one worker, before any are seen

Ints = NDArray[np.intp]


class Crowd:
    """Answers the questions of a campaign.

    Whoever gave many votes gives many; the chance that somebody new comes is that of Good and Turing.

    Parameters
    ----------
    campaign
        As it stands; new workers are made known to it.
    draws
        How things are, for each criterion.
    most
        Votes that can be had on each item.
    rng
        Draws everything.

    References
    ----------
    Good, The population frequencies of species and the estimation of population parameters,
    Biometrika 40, 1953. https://doi.org/10.1093/biomet/40.3-4.237
    """

    def __init__(
        self, campaign: Campaign, draws: Sequence[Draw], most: Mapping[Any, int] | int | None, rng: Random
    ) -> None:
        self.campaign, self.draws, self.rng = campaign, draws, rng
        self.criteria = {name: q for q, name in enumerate(campaign.criteria)}
        workers = campaign.view.workers()
        self.items = campaign.view.item_names
        self.names: list[Any] = workers.names
        self.kind, self.kinds = workers.kind, workers.kinds
        self.confusion = [draw.confusion for draw in draws]
        self.anyone = np.array([name is None for name in self.names], bool)
        votes = [campaign.view.votes(criterion) for criterion in campaign.criteria]
        self.votes = np.stack([np.bincount(v.task, minlength=len(v.tasks)) for v in votes], axis=1)
        every = np.concatenate([v.worker for v in votes])
        self.given = np.bincount(every, minlength=len(self.names)).astype(np.float64)
        dropped = [campaign.view.estimates(criterion).dropped_counts for criterion in campaign.criteria]
        self.given += sum(counts.sum(axis=(1, 2)) for counts in dropped)
        self.answered = self._code(*workers.asked.T)  # "cannot tell" is an answer
        once = np.count_nonzero((self.given == 1) & ~self.anyone)
        self.new = (once + 1) / (self.given.sum() + USUAL)
        self.most = self._limits(most)
        self.over = np.zeros(self.votes.shape, bool)

    def _limits(self, most: Mapping[Any, int] | int | None) -> NDArray[Any]:
        items = self.items
        if isinstance(most, Mapping):
            return np.array([most.get(item, np.inf) for item in items])
        return np.full(len(items), np.inf if most is None else most)

    def answer(self, asks: Sequence[Ask], kind: str) -> list[VoteTuple]:
        """One vote for each, by workers of one kind."""
        rows = self.campaign.view.item_rows(ask.item for ask in asks)
        which = np.array([self.criteria[ask.criterion] for ask in asks], np.intp)
        who = self._who(rows, which, self.kinds.index(kind))
        label = np.zeros(len(asks), np.intp)
        for q, draw in enumerate(self.draws):
            mine = which == q
            label[mine] = pick(self.confusion[q][who[mine], draw.seems[rows[mine]]], self.rng)
        np.add.at(self.votes, (rows, which), 1)
        names = self.campaign.classes[label].tolist()
        told = zip(asks, who.tolist(), names, strict=True)
        return [(ask.item, self.names[w], name, ask.criterion) for ask, w, name in told]

    def spent(self) -> list[Ask]:
        """Questions to which there will be no more answers, told once."""
        full = (self.votes >= self.most[:, None]) & ~self.over
        self.over |= full
        items, names = self.items, self.campaign.criteria
        return [Ask(items[row], names[q]) for row, q in np.argwhere(full).tolist()]

    def _who(self, rows: Ints, which: Ints, kind: int) -> Ints:
        """A worker for each question, nobody twice on one."""
        who = np.full(len(rows), -1, np.intp)
        shares = np.where(self.kind == kind, self.given, 0)
        if shares.any():
            open_ = np.flatnonzero(self.rng.random(len(rows)) >= self.new)
            for _ in range(TRIES):
                if len(open_) == 0:
                    break
                who[open_] = self.rng.choice(len(shares), len(open_), p=shares / shares.sum())
                open_ = open_[self._twice(who, rows, which)[open_]]
            who[open_] = -1
        fresh = who < 0
        who[fresh] = self._enlist(int(fresh.sum()), kind)
        self.answered = np.concatenate([self.answered, self._code(who, rows, which)])
        np.add.at(self.given, who, 1)
        return who

    def _twice(self, who: Ints, rows: Ints, which: Ints) -> NDArray[np.bool_]:
        """Whether somebody has answered that before, here or earlier."""
        code = self._code(who, rows, which)
        first = np.zeros(len(code), bool)
        first[np.unique(code, return_index=True)[1]] = True
        again: NDArray[np.bool_] = (~first | np.isin(code, self.answered)) & (who >= 0) & ~self.anyone[who]
        return again

    def _code(self, who: Any, rows: Any, which: Any) -> Ints:
        place: Ints = (np.asarray(who, np.intp) * len(self.items) + rows) * len(self.draws) + which
        return place

    def _enlist(self, n: int, kind: int) -> Ints:
        """New workers, whose matrices are like those of their kind."""
        first = len(self.names)
        names = [f"new worker {first + i} of a forecast" for i in range(n)]
        for name in names:
            self.campaign.register_worker(name, self.kinds[kind])
        self.names += names
        self.kind = np.append(self.kind, np.full(n, kind))
        self.given, self.anyone = (
            np.append(self.given, np.zeros(n)),
            np.append(self.anyone, np.zeros(n, bool)),
        )
        for q, draw in enumerate(self.draws):
            counts = np.repeat(self.campaign.plan.worker_pseudo_counts * draw.common[[kind]], n, axis=0)
            new = to_probs(np.maximum(self.rng.standard_gamma(counts), TINY))
            self.confusion[q] = np.concatenate([self.confusion[q], new])
        return np.arange(first, first + n)
