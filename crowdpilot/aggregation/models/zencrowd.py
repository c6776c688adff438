"""ZenCrowd: the one-coin model started at one reliability for all workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation.em.loop import Prior
from crowdpilot.aggregation.models.one_coin import OneCoin
from crowdpilot.aggregation.sparse.candidates import needs_sparse
from crowdpilot.aggregation.sparse.em import equal_skill_posterior
from crowdpilot.arrays import Floats, softmax
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class ZenCrowd(OneCoin):
    """Worker *j* is right with probability `skill[j]`, and no class is likelier than another.

    log P(k | votes) = sum_j [vote_j = k] log((K - 1) skill[j] / (1 - skill[j])) + const.

    The one-coin model with a uniform class prior, started with the same reliability for everyone.

    Parameters
    ----------
    reliability
        Skill of every worker before the first iteration, above 1/K.

    References
    ----------
    Demartini, Difallah and Cudré-Mauroux, ZenCrowd: leveraging probabilistic reasoning and
    crowdsourcing techniques for large-scale entity linking, WWW 2012.
    https://doi.org/10.1145/2187836.2187900

    Examples
    --------
    >>> votes = Votes.of([1, 1, 2, 2, 3], list("xyxyy"), list("aaaba"))
    >>> ZenCrowd().fit(votes).probs.round(2).tolist()
    [[0.94, 0.06], [0.5, 0.5], [0.79, 0.21]]
    """

    prior: Prior = "uniform"
    reliability: float = 0.8

    name: ClassVar[str] = "zencrowd"
    aliases: ClassVar[tuple[str, ...]] = ("zc",)

    def initial_posterior(self, votes: Votes) -> Floats:
        K, r = len(votes.classes), self.reliability
        if not 1 / K < r < 1:
            raise ValueError(f"reliability is {r}, expected a number between 1/{K} and 1")
        if needs_sparse(votes):
            return equal_skill_posterior(votes, np.log((K - 1) * r / (1 - r)))
        return votes.clamp(softmax(np.log((K - 1) * r / (1 - r)) * votes.tally()))
