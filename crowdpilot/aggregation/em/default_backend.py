"""The default backend: this process, with compiled iterations for large fits where numba is installed."""

from __future__ import annotations

import os
from importlib.util import find_spec

from crowdpilot.aggregation.em.backend import COMPILED_FIT_VOTES, EMModel, LoadedVotes, TableModel
from crowdpilot.aggregation.em.in_memory_backend import InMemoryVotes
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

MIN_VOTES_PER_THREAD = 200_000  # with fewer, a second thread costs more than it saves


class InMemory:
    """Iterations in this process, on all its cores."""

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> LoadedVotes:
        threads = 1
        if model.additive_counts:
            threads = max(1, min(available_cores(), 1 + len(votes) // MIN_VOTES_PER_THREAD))
        return load_in_memory(model, votes, probs, threads, compiled=len(votes) >= COMPILED_FIT_VOTES)


IN_MEMORY = InMemory()


def load_in_memory(
    model: EMModel | TableModel, votes: Votes, probs: Floats, threads: int = 1, *, compiled: bool
) -> InMemoryVotes:
    """Load votes into this process; with compiled iterations if wanted, and possible for the model."""
    if not (compiled and can_compile(model)):
        return InMemoryVotes(votes, probs, threads)
    from crowdpilot.aggregation.em.compiled_backend import (
        CompiledVotes,  # numba takes half a second to import
    )

    return CompiledVotes(votes, probs, threads)


def can_compile(model: EMModel | TableModel) -> bool:
    """Whether the iterations of a model can be compiled here."""
    return (
        isinstance(model, TableModel)
        and getattr(model, "additive_counts", True)
        and find_spec("numba") is not None
    )


def available_cores() -> int:
    """Number of cores that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(allowed(0)) if allowed else os.cpu_count() or 1
