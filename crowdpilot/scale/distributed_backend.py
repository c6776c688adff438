"""A model's rounds over parts of the votes, wherever they are held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from crowdpilot.aggregation import EM, Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import MANY, Here, Params, Place, Stats
from crowdpilot.aggregation.em.tables import Table, Tabled
from crowdpilot.arrays import Floats
from crowdpilot.scale.files.file_contents import Part
from crowdpilot.scale.files.shared_codes import Gathered
from crowdpilot.votes import Votes

NOTHING: Floats = np.zeros((0, 0))
Tell = Callable[[str, int, int], None]  # is told what is being done, how much of it is, and of how much


def say_nothing(what: str, done: int, of: int) -> None:
    """Tell nobody."""


class Labeller(NamedTuple):
    """How a part is labelled: by parameters, or without any by the model alone."""

    model: Aggregator
    params: Params | None
    many: bool  # whether the votes of all parts are many

    def label(self, votes: Votes) -> Aggregate:
        """The result for these votes."""
        if self.params is None or not isinstance(self.model, EM):
            return self.model.fit(votes)
        belief = place_of(votes, self.model, self.many).believe(self.model, self.params)
        return replace(self.model.finish(votes, self.params, belief), model=self.model)


class Spread:
    """A machine and a place: parts of the votes, wherever they are held.

    A model that goes on from an earlier result, as some do in their second fit, begins at the
    parameters that were asked for last.
    """

    def __init__(self, gathered: Gathered, tell: Tell) -> None:
        self.size = gathered.votes
        self._held = gathered.held
        self._outline = gathered.outline
        self._tell = tell
        self._rounds = 0
        self._many = self.size >= MANY
        self._last: Labeller | None = None

    @property
    def last(self) -> Labeller:
        """The model and its parameters at the end."""
        if self._last is None:
            raise ValueError("no rounds have been run")
        return self._last

    def hold(self, model: EM, votes: Votes, probs: Floats) -> Place:
        self._rounds = 0
        return self

    def begin(self, model: EM, attempt: int) -> Stats:
        return self._held.total(begin, Beginning(model, attempt, self._last, self._many))

    def round(self, model: EM, params: Params) -> tuple[Stats, float]:
        *stats, loglik = self._held.total(run_round, Step(*prepare(model, params, self._many), self._many))
        self._rounds += 1
        self._tell("rounds", self._rounds, model.max_iter * model.attempts)
        return tuple(stats), float(loglik)

    def take(self, stats: Stats) -> Stats:
        return stats

    def give(self, params: Params) -> Params:
        return params

    def believe(self, model: EM, params: Params) -> Floats:
        self._last = Labeller(model, params, self._many)
        return model.believe(self._outline, params)


class Beginning(NamedTuple):
    """Where a model begins: at one of its own beginnings, or at an earlier result."""

    model: EM
    attempt: int
    last: Labeller | None
    many: bool


def begin(part: Part, at: Beginning) -> Stats:
    """Counts of one part at the beginning."""
    votes = part.named()
    probs = at.model.first(votes) if at.last is None else votes.clamp(at.last.label(votes).probs)
    stats: Stats = place_of(votes, at.model, at.many, probs).begin(at.model, at.attempt)
    return stats


class Step(NamedTuple):
    """A round of a model with these parameters."""

    model: EM | Prepared
    params: Params
    many: bool


class Prepared(NamedTuple):
    """A tabled model whose parameters are a table already: all that its rounds look at, and small."""

    model: Tabled

    def table(self, params: Table) -> Table:
        """The table as it is."""
        return params

    @property
    def hard(self) -> bool:
        """Whether each task counts for its best class alone."""
        return self.model.hard

    def gather(self, seen: Floats, said: Floats) -> Stats:
        """The counts of the model."""
        return self.model.gather(seen, said)


def prepare(model: EM, params: Params, many: bool) -> tuple[EM | Prepared, Params]:
    """What a round of many votes needs of a model and its parameters."""
    if not is_fused(model, many):
        return model, params
    table = model.table(params)
    return Prepared(model), table._replace(said=table.said.astype(np.float32))  # as the kernels take it


def run_round(part: Part, step: Step) -> tuple[Any, ...]:
    """Counts of one part in one round, and at last the log-likelihood."""
    stats, loglik = place_of(part.votes, step.model, step.many).round(step.model, step.params)
    return *stats, loglik


def is_fused(model: Any, many: bool) -> TypeGuard[Tabled]:
    """Whether one machine would take the compiled pass over all these votes."""
    return many and isinstance(model, Tabled) and model.compiled


def place_of(votes: Votes, model: Any, many: bool, probs: Floats = NOTHING) -> Any:
    """The place that one file with the votes of all parts would have, for those of one part."""
    if isinstance(model, Prepared) or is_fused(model, many):
        from crowdpilot.aggregation.em.compiled import Fused  # numba takes half a second to load

        return Fused(votes, probs, 1)
    return Here(votes, probs, 1)
