"""Zero-based skill: skills start near chance and move towards agreement with the winners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.earlier_results import starting_probs
from crowdpilot.aggregation.models.wawa import history_agreement, measure_agreement
from crowdpilot.aggregation.sparse.candidates import (
    find_candidates,
    majority_posterior,
    needs_sparse,
    vote_shares,
)
from crowdpilot.aggregation.sparse.em import starting_candidates
from crowdpilot.aggregation.sparse.posterior import Posterior
from crowdpilot.arrays import share_best
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class ZeroBasedSkill(Aggregator):
    """Vote with the skills as weights, move the skills towards agreement with the winners, repeat.

    skill[j] += rate (mean over the votes of j of [vote = winner] - skill[j]); in the end P(k) is
    proportional to sum_j skill[j] * [vote_j = k].

    All skills start at 1 / K + eps, so the first winners are the majority. The known class of a task is
    its winner in every iteration. Each step raises sum_j skill[j] agreed[j] - votes[j] skill[j]^2 / 2, so
    the iterations converge.

    Parameters
    ----------
    max_iter
        Largest number of iterations.
    rate
        Learning rate: how far a skill moves in one iteration, 1 is all the way.
    rate_steps, rate_factor
        Multiply the rate by the factor after every so many iterations.
    eps
        How far above chance the skills start.
    tol
        Stop when no skill moves more than this.

    References
    ----------
    Ustalov, Pavlichenko and Tseitlin, Crowd-Kit, JOSS 9(96), 2024. https://doi.org/10.21105/joss.06227

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 2, 2], list("xyzxz"), list("aabab"))
    >>> ZeroBasedSkill().fit(votes).skill.round(6).tolist()
    [1.0, 1.0, 0.0]
    """

    max_iter: int = 100
    rate: float = 1.0
    rate_steps: int = 20
    rate_factor: float = 0.5
    eps: float = 1e-5
    tol: float = 1e-9

    name: ClassVar[str] = "zero_based_skill"
    aliases: ClassVar[tuple[str, ...]] = ("zbs",)
    warm_start: ClassVar[bool] = True
    uses_history: ClassVar[bool] = True
    supports_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.max_iter < 1:
            raise ValueError(f"max_iter is {self.max_iter}, expected 1 or more")
        if not 0 < self.rate <= 1:
            raise ValueError(f"the rate of zero_based_skill is {self.rate}, expected above 0 and at most 1")

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        past = history_agreement(votes, history)
        skill = np.full(len(votes.workers), 1 / len(votes.classes) + self.eps)
        if start is not None:
            skill = measure_agreement(votes, _starting_winners(votes, start)).plus(past).rate(skill)
        for n in range(1, self.max_iter + 1):
            own = measure_agreement(votes, majority_posterior(votes, skill[votes.worker]))
            step = self._rate(n) * (own.plus(past).rate(skill) - skill)
            skill = skill + step
            if converged := bool(np.abs(step).max(initial=0) <= self.tol):
                break
        else:
            converged = False
            self.warn_not_converged(self.max_iter)
        probs = vote_shares(votes, skill[votes.worker])
        known = own.plus(past).vote_weight > 0
        return Aggregate(votes, probs, np.where(known, skill, np.nan), own._asdict(), converged=converged)

    def _rate(self, n: int) -> float:
        return self.rate * self.rate_factor ** (n // self.rate_steps)


def _starting_winners(votes: Votes, start: Aggregate) -> Posterior:
    """All probability on the most probable class of each task in an earlier result."""
    if not needs_sparse(votes):
        return share_best(starting_probs(votes, start))
    candidates = find_candidates(votes)
    listed = starting_candidates(votes, start)
    others = (1 - candidates.per_task(listed)) / np.maximum(candidates.unlisted, 1)
    return candidates.to_matrix(candidates.share_best(listed, others))
