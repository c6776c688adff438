"""Common mistakes: one skill for each worker, and a sparse matrix of mistakes that all workers share."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.earlier_results import align_workers
from crowdpilot.aggregation.em.backend import Backend, Stats
from crowdpilot.aggregation.em.default_backend import IN_MEMORY
from crowdpilot.aggregation.sparse.candidates import Candidates, ConfusedPairs, find_candidates
from crowdpilot.aggregation.sparse.em import SparseOneCoin
from crowdpilot.aggregation.sparse.posterior import probability_of
from crowdpilot.arrays import Floats, sum_by
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Parameters of the model of common mistakes."""

    prior: Floats  # (classes,)
    skill: Floats  # (workers,)
    mistakes: Floats  # (pairs,): P(said | true, wrong) of the confused pairs
    others: Floats  # (classes,): P(any other label | true, wrong)


@dataclass(frozen=True)
class CommonMistakes(SparseOneCoin):
    """Worker *j* is right with probability `skill[j]`; mistakes about class *k* are those of the crowd.

    P(j says l | k) = skill[j] if l = k, else (1 - skill[j]) mistakes[k, l], where each row of
    `mistakes` sums to one. If nobody is right about a task, all mistakes are equally likely.

    The posterior is sparse, over the classes that somebody gave to a task, and so is the matrix: it has a
    parameter for pairs of classes that were given to the same task in three tasks; all other mistakes
    about a class are equally likely. Time and memory grow with the votes, for any number of classes.
    `dawid_skene` and others need memory for workers x classes x classes numbers; where that is too much
    this model is fitted instead.

    Parameters
    ----------
    spread
        Pseudo-counts of mistakes about each class, spread over all other classes.

    References
    ----------
    The skills of Zhang et al., JMLR 17, 2016, https://arxiv.org/abs/1406.3824; the common mistakes as in
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
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, backend: Backend = IN_MEMORY
    ) -> Aggregate:
        settings: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(CommonMistakes)}
        known = np.zeros(0, np.int64) if history is None else pair_keys(history.params["mistakes"])
        model = _WithPairs(**settings, pairs=find_candidates(votes).confused_pairs(known))
        return model.run(votes, start, history, backend)


NO_PAIRS = ConfusedPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), csr_array((0, 0)), np.zeros(0))


@dataclass(frozen=True)
class _WithPairs(SparseOneCoin):
    """The model, given the confused pairs that have a parameter.

    Expected counts are those of the one-coin model, then mistakes of the pairs (pairs,) and other mistakes
    about each class (classes,).
    """

    spread: float = 5.0
    pairs: ConfusedPairs = field(default=NO_PAIRS, repr=False, compare=False)

    name: ClassVar[str] = "common_mistakes"

    def pseudo_counts(self, votes: Votes) -> Stats:
        each = self.spread / (len(votes.classes) - 1)
        pair_counts = np.full(len(self.pairs.true), each)
        return *super().pseudo_counts(votes), pair_counts, each * self._n_other_mistakes(len(votes.classes))

    def _n_other_mistakes(self, K: int) -> NDArray[np.int64]:
        """Number of mistakes about each class that are not confused pairs, (classes,)."""
        return K - 1 - np.bincount(self.pairs.true, minlength=K)

    def candidate_counts(self, votes: Votes, posterior: Floats, prior: Floats) -> Stats:
        candidates = find_candidates(votes)
        listed = posterior[: len(candidates.task)]
        pair_counts: Floats = self.pairs.weight.T @ listed
        other_counts = sum_by(candidates.label, self.pairs.other_weight * listed, len(prior))
        return *super().candidate_counts(votes, posterior, prior), pair_counts, other_counts

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        pair_counts, other_counts = stats[2:]
        total = other_counts + sum_by(self.pairs.true, pair_counts, len(other_counts))
        coin = super().m_step(stats[:2], None)
        mistakes = pair_counts / total[self.pairs.true]
        return Params(coin.prior, coin.skill, mistakes, other_counts / total)

    def log_mistakes(self, votes: Votes, candidates: Candidates, params: Params) -> Floats:
        n_others = self._n_other_mistakes(len(params.prior))
        each = np.divide(params.others, n_others, out=np.ones(len(n_others)), where=n_others > 0)
        logs: Floats = self.pairs.weight @ np.log(params.mistakes)
        return logs + self.pairs.other_weight * np.log(each)[candidates.label]

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        mistakes = (
            xlogy(pseudo_counts[2], params.mistakes).sum() + xlogy(pseudo_counts[3], params.others).sum()
        )
        return super().log_prior(pseudo_counts[:2], params) + float(mistakes)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        K = len(params.prior)
        starts = np.searchsorted(self.pairs.true, np.arange(K + 1))
        mistakes = csr_array((params.mistakes, self.pairs.said, starts), (K, K))
        result = super().to_result(votes, params, posterior)
        return replace(result, params={**result.params, "mistakes": mistakes})

    def history_counts(self, votes: Votes, history: Aggregate) -> Stats:
        """Right and wrong votes of the workers, and the mistakes of all workers, in an earlier result."""
        _, right_wrong, pair_counts, other_counts = history.params["stats"]
        old = history.params["mistakes"]
        old_counts = csr_array((pair_counts, old.indices, old.indptr), old.shape)
        counts = probability_of(old_counts, *self.pairs[:2])
        K = len(other_counts)
        lost = sum_by(pair_keys(old) // K, pair_counts, K) - sum_by(self.pairs.true, counts, K)
        aligned = align_workers(votes, history, right_wrong)
        return np.zeros(K), aligned, counts, other_counts + np.maximum(lost, 0)


def pair_keys(matrix: csr_array) -> NDArray[np.int64]:
    """The key true x classes + said of each entry of a sparse matrix, row by row."""
    rows: NDArray[np.int64] = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices
