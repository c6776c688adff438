"""A skill for each worker, and the mistakes that all workers are prone to."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from crowdpilot.aggregation.base import Aggregate, align
from crowdpilot.aggregation.em.backend import CORES, Machine, Stats
from crowdpilot.aggregation.sparse.candidates import Candidates, Mistakes, candidates
from crowdpilot.aggregation.sparse.em import Listed
from crowdpilot.aggregation.sparse.posterior import at
from crowdpilot.arrays import Floats, sum_by
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Estimates of the model of common mistakes."""

    prior: Floats  # (classes,)
    skill: Floats  # (workers,)
    mistakes: Floats  # (cells,): of the pairs that occur, given a mistake about their true class
    others: Floats  # (classes,): of all other mistakes together


@dataclass(frozen=True)
class CommonMistakes(Listed):
    """Worker *j* is right with probability `skill[j]`; mistakes about class *k* are those of the crowd.

    P(j says l | k) = skill[j] if l = k, else (1 - skill[j]) mistakes[k, l], where each row of
    `mistakes` sums to one. If nobody is right about a task, all mistakes are equally likely.

    So a class that nobody gave to a task needs no attention, and of the matrix only those pairs
    are kept that were given to the same task three times; all other mistakes about a class are
    equally likely. Time and memory grow with the votes, for any number of classes. What
    `dawid_skene` and others need grows with workers x classes x classes; where that is too much
    this model takes their place.

    Parameters
    ----------
    spread
        Imaginary mistakes about each class, all equally likely: what is common must stand out.

    References
    ----------
    The coins of Zhang et al., JMLR 17, 2016, https://arxiv.org/abs/1406.3824; the common mistakes as in
    Chu, Ma and Wang, AAAI 2021, https://arxiv.org/abs/2012.13052.

    Examples
    --------
    >>> tasks, said = np.repeat(range(6), 3), ["oak", "elm", "oak"] * 3 + ["ash", "ash", "ash"] * 3
    >>> result = CommonMistakes().fit(Votes.of(tasks, list("xyz") * 6, said))
    >>> result.labels.tolist()
    ['oak', 'oak', 'oak', 'ash', 'ash', 'ash']
    >>> result.params["mistakes"].toarray()[2].round(2).tolist()  # for an oak: ash, elm, oak
    [0.0, 0.69, 0.0]
    """

    spread: float = 5.0

    name: ClassVar[str] = "common_mistakes"
    aliases: ClassVar[tuple[str, ...]] = ("sparse_confusion", "top_confusion")

    def __post_init__(self) -> None:
        if not self.spread > 0:
            raise ValueError(f"spread is {self.spread}, expected a number above 0")

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, on: Machine = CORES
    ) -> Aggregate:
        settings: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(CommonMistakes)}
        known = np.zeros(0, np.int64) if history is None else keys(history.params["mistakes"])
        return _Paired(**settings, mistakes=candidates(votes).mistakes(known)).run(votes, start, history, on)


NOTHING = Mistakes(np.zeros(0, np.int64), np.zeros(0, np.int64), csr_array((0, 0)), np.zeros(0))


@dataclass(frozen=True)
class _Paired(Listed):
    """The model, given the pairs that are kept."""

    spread: float = 5.0
    mistakes: Mistakes = field(default=NOTHING, repr=False, compare=False)

    name: ClassVar[str] = "common_mistakes"

    def pseudo(self, votes: Votes) -> Stats:
        each = self.spread / (len(votes.classes) - 1)
        kept = np.full(len(self.mistakes.true), each)
        return *super().pseudo(votes), kept, each * self._unkept(len(votes.classes))

    def _unkept(self, K: int) -> NDArray[np.int64]:
        """How many mistakes about each class are not kept."""
        return K - 1 - np.bincount(self.mistakes.true, minlength=K)

    def tell(self, votes: Votes, belief: Floats, prior: Floats) -> Stats:
        found = candidates(votes)
        listed = belief[: len(found.task)]
        made: Floats = self.mistakes.made.T @ listed
        rare = sum_by(found.label, self.mistakes.rare * listed, len(prior))
        return *super().tell(votes, belief, prior), made, rare

    def maximize(self, stats: Stats, params: Params | None) -> Params:
        made, others = stats[2:]
        total = others + sum_by(self.mistakes.true, made, len(others))
        coins = super().maximize(stats[:2], None)
        return Params(coins.prior, coins.skill, made / total[self.mistakes.true], others / total)

    def blame(self, votes: Votes, found: Candidates, params: Params) -> Floats:
        many = self._unkept(len(params.prior))
        each = np.log(np.divide(params.others, many, out=np.ones(len(many)), where=many > 0))
        logs: Floats = self.mistakes.made @ np.log(params.mistakes)
        return logs + self.mistakes.rare * each[found.label]

    def score(self, pseudo: Stats, params: Params) -> float:
        made = xlogy(pseudo[2], params.mistakes).sum() + xlogy(pseudo[3], params.others).sum()
        return super().score(pseudo[:2], params) + float(made)

    def finish(self, votes: Votes, params: Params, belief: Floats) -> Aggregate:
        K = len(params.prior)
        starts = np.searchsorted(self.mistakes.true, np.arange(K + 1))
        mistakes = csr_array((params.mistakes, self.mistakes.said, starts), (K, K))
        result = super().finish(votes, params, belief)
        return replace(result, params={**result.params, "mistakes": mistakes})

    def _recall(self, votes: Votes, history: Aggregate) -> Stats:
        """The coins of the workers, and the mistakes that the earlier crowd made."""
        _, coins, made, rare = history.params["stats"]
        old = history.params["mistakes"]
        known = at(csr_array((made, old.indices, old.indptr), old.shape), *self.mistakes[:2])
        K = len(rare)
        others = sum_by(keys(old) // K, made, K) - sum_by(self.mistakes.true, known, K)
        return np.zeros(K), align(votes, history, coins), known, rare + np.maximum(others, 0)


def keys(matrix: csr_array) -> NDArray[np.int64]:
    """The place of each number of a sparse matrix, row by row."""
    rows: NDArray[np.int64] = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices
