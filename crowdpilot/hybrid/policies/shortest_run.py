"""Shortest runs: screen items by the criterion that can throw them out with the fewest votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Policy, View, of_crowd

LEAST = 1e-9


@dataclass(frozen=True)
class ShortestRun(Policy):
    """SM-Run: ask where a run of "no" votes that excludes the item is most probable for its length.

    The shortest run of n votes "does not hold" is sought after which P(item is out) reaches
    `belief`; a vote is wanted as much as P(such a run) / n. An item is done when it is believed to
    be in or out. With one criterion a run of "yes" votes that includes it counts too.

    Parameters
    ----------
    belief
        In "in" or "out", from which on an item is done.
    most
        Votes on one question about an item.

    References
    ----------
    Krivosheev, Casati and Benatallah, Crowd-based multi-predicate screening of papers in literature
    reviews, WWW 2018. https://doi.org/10.1145/3178876.3186036
    """

    belief: float = 0.95
    most: int = 10

    name: ClassVar[str] = "shortest_run"
    aliases: ClassVar[tuple[str, ...]] = ("sm_run",)

    def want(self, view: View) -> Floats:
        if view.probs.shape[1] != 2:
            raise ValueError(
                f"{self.name} asks whether something holds, but there are {view.probs.shape[1]} classes"
            )
        no, yes = view.probs.T
        inside = yes * view.rest
        done = (
            (np.maximum(inside, 1 - inside) >= self.belief) | (view.pending > 0) | (view.votes >= self.most)
        )
        said = view.said[0]
        limit = np.clip((1 - self.belief) / np.maximum(view.rest, LEAST), LEAST, 1 - LEAST)
        out = _run(no, yes, said[0, 0], said[1, 0], limit)
        into = _run(yes, no, said[1, 1], said[0, 1], np.full(len(no), 1 - self.belief))
        best = np.where(view.rest >= 1, np.maximum(out, into), out)
        return of_crowd(np.where(done, NEVER, best), view)


def _run(right: Floats, wrong: Floats, hit: float, miss: float, limit: Floats) -> Floats:
    """P(run) / n for the shortest run after which the other class has no more than `limit`."""
    odds = np.maximum(wrong, LEAST) / np.maximum(right, LEAST)
    step = np.log(max(hit, LEAST) / max(miss, LEAST))
    if step <= 0:
        return np.zeros(len(right))
    n = np.maximum(np.ceil(np.log(odds * (1 - limit) / limit) / step), 1)
    rate: Floats = (right * hit**n + wrong * miss**n) / n
    return rate
