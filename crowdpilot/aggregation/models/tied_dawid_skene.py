"""Dawid and Skene's model where each matrix is tied to one skill and to the mistakes all make."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Backend, Stats
from crowdpilot.aggregation.em.in_memory_backend import IN_MEMORY
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class TiedDawidSkene(DawidSkene):
    """Between one coin and a whole matrix: `tie` imaginary votes pull each row to a simpler crowd.

    In the simpler crowd worker *j* is right with one skill s[j] whatever the class, and a mistake
    about class *k* is the mistake e[k] that the whole crowd makes: the row is s[j] on the
    diagonal and (1 - s[j]) e[k] elsewhere. Skill and mistakes are taken from the last fit, and
    the fit is repeated.

    Parameters
    ----------
    tie
        Imaginary votes in each row.
    fits
        How often to fit.

    References
    ----------
    Between Dawid and Skene, Applied Statistics 28(1), 1979, https://doi.org/10.2307/2346806, and
    the one-coin model of Zhang et al., JMLR 17, 2016; the common mistakes as in Chu, Ma and Wang,
    AAAI 2021, https://arxiv.org/abs/2012.13052.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> TiedDawidSkene().fit(votes).skill.round(1).tolist()
    [0.9, 0.8, 0.6, 0.3]
    """

    tie: float = 8.0
    fits: int = 4

    name: ClassVar[str] = "tied_dawid_skene"
    aliases: ClassVar[tuple[str, ...]] = ("tds",)

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, backend: Backend = IN_MEMORY
    ) -> Aggregate:
        shared: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(DawidSkene)}
        result = DawidSkene(**shared).run(votes, start, history, backend)
        for _ in range(1, self.fits):
            said = result.params["stats"][1]
            result = _Pulled(**shared, rows=self.tie * simpler(said)).run(votes, result, history, backend)
        return result


@dataclass(frozen=True)
class _Pulled(DawidSkene):
    """Dawid-Skene with imaginary votes of their own for each worker."""

    rows: Floats = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    name: ClassVar[str] = "tied_dawid_skene"

    def pseudo_counts(self, votes: Votes) -> Stats:
        return np.full(len(votes.classes), self.class_smoothing), self.rows


def simpler(said: Floats) -> Floats:
    """The matrix of each worker in a crowd with one skill for each and the mistakes of all.

    Skills are drawn to that of the crowd by two votes, mistakes to equal ones by as many votes as
    there are mistakes, so that nothing is zero.
    """
    K = said.shape[1]
    right, votes = np.einsum("jkk->j", said), said.sum(axis=(1, 2))
    usual = (right.sum() + 1) / (votes.sum() + 2)
    skill = (right + 2 * usual) / (votes + 2)
    off = 1 - np.eye(K)
    mistakes = said.sum(axis=0) * off
    mistakes += (mistakes.sum() + 1) / (K * (K - 1)) * off
    mistakes /= mistakes.sum(axis=1, keepdims=True)
    matrices: Floats = skill[:, None, None] * np.eye(K) + (1 - skill)[:, None, None] * mistakes
    return matrices
