"""Tied Dawid-Skene: confusion matrices shrunk towards one skill and the mistakes of all workers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Backend, Stats
from crowdpilot.aggregation.em.default_backend import IN_MEMORY
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class TiedDawidSkene(DawidSkene):
    """Between one coin and a whole matrix: `tie` pseudo-counts shrink each row to a simpler model.

    In the simpler model worker *j* is right with one skill s[j] whatever the class, and a mistake about
    class *k* is distributed as the mistakes e[k] of all workers: the row is s[j] on the diagonal and
    (1 - s[j]) e[k] elsewhere. Skills and mistakes are estimated from the last fit, and the fit is
    repeated.

    Parameters
    ----------
    tie
        Pseudo-counts in each row.
    fits
        Number of fits.

    References
    ----------
    Between Dawid and Skene, Applied Statistics 28(1), 1979, https://doi.org/10.2307/2346806, and
    the one-coin model of Zhang et al., JMLR 17, 2016; the common mistakes as in Chu, Ma and Wang,
    AAAI 2021, https://arxiv.org/abs/2012.13052.

    Examples
    --------
    With a strong tie a worker who contradicts the others is as wrong about one class as about the other:

    >>> votes = Votes.of([1, 1, 1, 2, 2, 2, 3, 3, 3], list("xyz") * 3, list("aabbbaaab"))
    >>> TiedDawidSkene(tie=1000).fit(votes).params["confusion"][2].round(2).tolist()
    [[0.26, 0.74], [0.74, 0.26]]
    """

    tie: float = 8.0
    fits: int = 4

    name: ClassVar[str] = "tied_dawid_skene"
    aliases: ClassVar[tuple[str, ...]] = ("tds",)

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, backend: Backend = IN_MEMORY
    ) -> Aggregate:
        settings: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(DawidSkene)}
        result = DawidSkene(**settings).run(votes, start, history, backend)
        for _ in range(1, self.fits):
            prior_rows = self.tie * tied_confusion(result.params["stats"][1])
            result = _WithPseudoCounts(**settings, rows=prior_rows).run(votes, result, history, backend)
        return result


@dataclass(frozen=True)
class _WithPseudoCounts(DawidSkene):
    """Dawid-Skene with pseudo-counts `rows` (workers, true, said) of its own for each worker."""

    rows: Floats = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    name: ClassVar[str] = "tied_dawid_skene"

    def pseudo_counts(self, votes: Votes) -> Stats:
        return np.full(len(votes.classes), self.class_smoothing), self.rows


def tied_confusion(label_counts: Floats) -> Floats:
    """Confusion matrices (workers, true, said) with one skill for each worker and the mistakes of all.

    Skills are shrunk to the mean skill by two pseudo-counts, mistakes to equal ones by a pseudo-count of
    the mean number of mistakes in each cell, so that nothing is zero.
    """
    K = label_counts.shape[1]
    right, votes = np.einsum("jkk->j", label_counts), label_counts.sum(axis=(1, 2))
    mean_skill = (right.sum() + 1) / (votes.sum() + 2)
    skill = (right + 2 * mean_skill) / (votes + 2)
    off = 1 - np.eye(K)
    mistakes = label_counts.sum(axis=0) * off
    mistakes += (mistakes.sum() + 1) / (K * (K - 1)) * off
    mistakes /= mistakes.sum(axis=1, keepdims=True)
    matrices: Floats = skill[:, None, None] * np.eye(K) + (1 - skill)[:, None, None] * mistakes
    return matrices
