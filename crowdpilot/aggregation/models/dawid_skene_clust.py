"""Dawid and Skene's model with workers in clusters that share a confusion matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.em.loop import random_weight_restarts
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import Floats, softmax
from crowdpilot.votes import Votes


class Clusters(NamedTuple):
    """Estimates of the model of clusters, and the matrices as each worker's rounds use them."""

    prior: Floats  # (classes,)
    clusters: Floats  # (L, true, said)
    share: Floats  # (L,)
    member: Floats  # (workers, L); each row sums to one
    log_class_prior: Floats
    log_confusion: Floats  # (workers, true, said)


@dataclass(frozen=True)
class DawidSkeneClust(DawidSkene):
    """Workers belong to one of L clusters; cluster *c* says *l* about class *k* with `clusters[c, k, l]`.

    Mean-field EM: q(worker j is in c) is proportional to share[c] exp(sum_kl n_j[k, l] log
    clusters[c, k, l]), where n_j[k, l] are the expected votes of the worker; the tasks use the
    mean of log clusters under q.

    Parameters
    ----------
    L
        How many clusters.
    tries
        Beginnings to climb from; the best end is kept.
    seed
        Of the beginnings after the first.

    References
    ----------
    Imamura, Sato and Sugiyama, Analysis of minimax error rate for crowdsourcing, ICML 2018.
    https://arxiv.org/abs/1802.04551

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.9, 0.9, 0.3], seed=0)
    >>> DawidSkeneClust(L=2).fit(votes).params["member"].round(1).argmax(axis=1).tolist()
    [0, 0, 0, 1]
    """

    L: int = 2
    tries: int = 5
    seed: int = 0

    name: ClassVar[str] = "dawid_skene_clust"
    aliases: ClassVar[tuple[str, ...]] = ("dswc",)

    def pseudo_counts(self, votes: Votes) -> Stats:
        prior, said = super().pseudo_counts(votes)
        return prior, np.zeros_like(said)  # the smoothing goes to the clusters

    @property
    def n_restarts(self) -> int:
        return self.tries

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        return random_weight_restarts(votes, probs, self.tries, self.seed)

    def m_step(self, stats: Stats, params: Params | None) -> Clusters:
        seen, said = stats
        prior = self.class_prior(seen)
        member = self._spread(said) if params is None else _assign(said, params.clusters, params.share)
        cell = self.smoothing + self.diagonal * np.eye(len(seen))
        counts = np.einsum("jc,jkl->ckl", member, said) + cell
        clusters = counts / counts.sum(axis=2, keepdims=True)
        share = (member.sum(axis=0) + 1) / (len(member) + self.L)
        logs = np.einsum("jc,ckl->jkl", member, np.log(clusters))
        return Clusters(prior, clusters, share, member, np.log(prior), logs)

    def _spread(self, said: Floats) -> Floats:
        """Clusters around L workers that are as unlike each other as can be."""
        counts = said + 1.0
        matrices = counts / counts.sum(axis=2, keepdims=True)
        weight = said.sum(axis=(1, 2))
        center = (said + 1e-3).sum(axis=0)
        centers = [center / center.sum(axis=1, keepdims=True)]
        for _ in range(1, self.L):
            gaps = np.stack([_surprise(said, matrices, c) for c in centers])
            centers.append(matrices[gaps.min(axis=0).argmax()])
        own = np.full(self.L, 1 / self.L)
        return _assign(said / np.maximum(weight, 1)[:, None, None] * 10, np.stack(centers), own)

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        K = len(params.prior)
        cell = self.smoothing + self.diagonal * np.eye(K)
        entropy = -(params.member * np.log(np.maximum(params.member, 1e-300))).sum()
        return float(
            (pseudo_counts[0] * params.log_class_prior).sum()
            + (pseudo_counts[1] * params.log_confusion).sum()
            + (cell * np.log(params.clusters)).sum()
            + ((params.member.sum(axis=0) + 1) * np.log(params.share)).sum()
            + entropy
        )

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        confusion = np.einsum("jc,ckl->jkl", params.member, params.clusters)
        skill = np.einsum("jkk,k->j", confusion, params.prior)
        kept = {
            "prior": params.prior, "confusion": confusion, "clusters": params.clusters,
            "share": params.share, "member": params.member,
        }  # fmt: skip
        return Aggregate(votes, posterior, np.where(votes.worker_sum() > 0, skill, np.nan), kept)


def _assign(said: Floats, clusters: Floats, share: Floats) -> Floats:
    return softmax(np.einsum("jkl,ckl->jc", said, np.log(clusters)) + np.log(share))


def _surprise(said: Floats, matrices: Floats, center: Floats) -> Floats:
    """How much worse `center` explains the votes of each worker than their own matrix."""
    gap: Floats = np.einsum("jkl,jkl->j", said, np.log(matrices) - np.log(center))
    return gap
