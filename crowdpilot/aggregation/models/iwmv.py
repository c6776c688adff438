"""IWMV, iterative weighted majority voting: weights by accuracy above chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Stats
from crowdpilot.aggregation.em.loop import EM, Prior
from crowdpilot.aggregation.models.wawa import Agreement, measure_agreement
from crowdpilot.arrays import Floats, share_best, softmax
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Parameters, and the weight of the votes of each worker."""

    prior: Floats  # (classes,)
    skill: Floats  # (workers,)
    vote_weight: Floats  # (workers,)


@dataclass(frozen=True)
class IWMV(EM):
    """Weight each worker by how far their accuracy is above chance, vote, measure again, repeat.

    label_i = argmax_k of sum_j (K skill[j] - 1) [vote_ij = k]; skill[j] = mean over the votes of j of
    [vote = label].

    K skill - 1, times K / (K - 1), is the tangent at skill = 1 / K of the log-odds that would be best
    if all mistakes were equally likely, log((K - 1) skill / (1 - skill)). So the softmax of that sum
    gives the probabilities, and a class prior adds its logarithm. A vote of a worker below chance counts
    against its label. Both steps raise sum_j [K (skill[j] agreed[j] - votes[j] skill[j]^2 / 2) -
    agreed[j]], so the labels converge.

    Parameters
    ----------
    prior
        Probability of each class: "uniform" as in the paper, "estimated" from the labels and a
        pseudo-count of one task of each class, or one number for each class.

    References
    ----------
    Li and Yu, Error rate bounds and iterative weighted majority voting for crowdsourcing, 2014.
    https://arxiv.org/abs/1411.4086

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 2, 2], ["x", "y", "z", "x", "z"], ["cat", "cat", "dog", "cat", "dog"])
    >>> result = IWMV().fit(votes)
    >>> result.skill.tolist(), result.labels.tolist()
    ([1.0, 1.0, 0.0], ['cat', 'cat'])
    """

    prior: Prior = "uniform"
    max_iter: int = 100
    tol: float = 1e-12

    name: ClassVar[str] = "iwmv"
    aliases: ClassVar[tuple[str, ...]] = ("iterative_weighted_majority_voting",)

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        yield share_best(probs)

    def pseudo_counts(self, votes: Votes) -> Stats:
        return np.ones(len(votes.classes)), np.zeros((len(votes.workers), 2))

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        return posterior.sum(axis=0), np.stack(measure_agreement(votes, posterior), axis=1)

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        total = Agreement(*stats[1].T)
        return Params(self.class_prior(stats[0]), total.rate(1 / len(stats[0])), total.vote_weight)

    def log_joint(self, votes: Votes, params: Params) -> Floats:
        K = len(params.prior)
        tally = votes.tally((K * params.skill - 1)[votes.worker])
        return K / (K - 1) * tally + np.log(params.prior)

    def normalize_(self, log_joint: Floats) -> float:
        best = float(log_joint.max(axis=1).sum())
        log_joint[:] = share_best(log_joint)
        return best

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        K, (class_counts, counts) = len(params.prior), pseudo_counts
        gain = counts[:, 0] * params.skill - params.vote_weight * params.skill**2 / 2
        return float(K * K / (K - 1) * gain.sum() + class_counts @ np.log(params.prior))

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        probs = votes.clamp(softmax(self.log_joint(votes, params)))
        return Aggregate(votes, probs, np.where(params.vote_weight > 0, params.skill, np.nan))
