"""Shortest run (SM-Run): screen items by the criterion that can exclude them with the fewest votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Policy, View, crowd_values

MIN_PROBABILITY = 1e-9


@dataclass(frozen=True)
class ShortestRun(Policy):
    """SM-Run: ask where a run of "no" votes that excludes the item is most probable for its length.

    For each criterion let n be the length of the shortest run of votes "does not hold" after which
    P(item is out) reaches `threshold`; the value of a vote is P(such a run) / n. An item is done when
    "in" or "out" has that posterior. With one criterion a run of "yes" votes that includes it counts too.

    Parameters
    ----------
    threshold
        Posterior probability of "in" or "out" from which on an item is done.
    max_votes
        On one question about an item.

    References
    ----------
    Krivosheev, Casati and Benatallah, Crowd-based multi-predicate screening of papers in literature
    reviews, WWW 2018. https://doi.org/10.1145/3178876.3186036
    """

    threshold: float = 0.95
    max_votes: int = 10

    name: ClassVar[str] = "shortest_run"
    aliases: ClassVar[tuple[str, ...]] = ("sm_run",)

    def acquisition_values(self, view: View) -> Floats:
        if view.posterior.shape[1] != 2:
            raise ValueError(
                f"{self.name} asks whether something holds, but there are {view.posterior.shape[1]} classes"
            )
        no, yes = view.consensus.T
        inside = yes * view.others_hold
        sure = np.maximum(inside, 1 - inside) >= self.threshold
        done = sure | (view.pending > 0) | (view.votes >= self.max_votes)
        said = view.confusion[0]
        limit = (1 - self.threshold) / np.maximum(view.others_hold, MIN_PROBABILITY)
        limit = np.clip(limit, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        excluded = _run_probability_per_vote(no, yes, said[0, 0], said[1, 0], limit)
        included = _run_probability_per_vote(
            yes, no, said[1, 1], said[0, 1], np.full(len(no), 1 - self.threshold)
        )
        best = np.where(view.others_hold >= 1, np.maximum(excluded, included), excluded)
        return crowd_values(np.where(done, NEVER, best), view)


def _run_probability_per_vote(right: Floats, wrong: Floats, hit: float, miss: float, limit: Floats) -> Floats:
    """P(run) / n for the shortest run after which the other class has a posterior of `limit` at most.

    `hit` and `miss` are the probabilities of such a vote if the one class or the other is true.
    """
    odds = np.maximum(wrong, MIN_PROBABILITY) / np.maximum(right, MIN_PROBABILITY)
    step = np.log(max(hit, MIN_PROBABILITY) / max(miss, MIN_PROBABILITY))
    if step <= 0:
        return np.zeros(len(right))
    n = np.maximum(np.ceil(np.log(odds * (1 - limit) / limit) / step), 1)
    rate: Floats = (right * hit**n + wrong * miss**n) / n
    return rate
