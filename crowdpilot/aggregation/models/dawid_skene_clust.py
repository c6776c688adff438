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


class ClusterParams(NamedTuple):
    """Parameters of the model of clusters, and the logs as the E-step uses them."""

    prior: Floats  # (classes,)
    clusters: Floats  # (L, true, said)
    share: Floats  # (L,): share of the workers in each cluster
    member: Floats  # (workers, L): posterior of the cluster of each worker
    log_class_prior: Floats  # (classes,)
    log_confusion: Floats  # (workers, true, said)


@dataclass(frozen=True)
class DawidSkeneClust(DawidSkene):
    """Workers belong to one of L clusters; cluster *c* says *l* about class *k* with `clusters[c, k, l]`.

    Mean-field EM: q(worker j is in c) is proportional to share[c] exp(sum_kl n_j[k, l] log
    clusters[c, k, l]), where n_j[k, l] are the expected counts of the worker; the E-step of the
    tasks uses the mean of log clusters under q.

    Parameters
    ----------
    L
        How many clusters.
    restarts
        Number of restarts; the one with the highest objective is kept.

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
    restarts: int = 5

    name: ClassVar[str] = "dawid_skene_clust"
    aliases: ClassVar[tuple[str, ...]] = ("dswc",)

    def pseudo_counts(self, votes: Votes) -> Stats:
        class_counts, label_counts = super().pseudo_counts(votes)
        return class_counts, np.zeros_like(label_counts)  # the smoothing is that of the clusters

    @property
    def n_restarts(self) -> int:
        return self.restarts

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        return random_weight_restarts(votes, probs, self.restarts, self.seed)

    def m_step(self, stats: Stats, params: Params | None) -> ClusterParams:
        class_counts, label_counts = stats
        prior = self.class_prior(class_counts)
        if params is None:
            member = self._initial_members(label_counts)
        else:
            member = _cluster_posterior(label_counts, params.clusters, params.share)
        cell = self.smoothing + self.diagonal * np.eye(len(class_counts))
        counts = np.einsum("jc,jkl->ckl", member, label_counts) + cell
        clusters = counts / counts.sum(axis=2, keepdims=True)
        share = (member.sum(axis=0) + 1) / (len(member) + self.L)
        logs = np.einsum("jc,ckl->jkl", member, np.log(clusters))
        return ClusterParams(prior, clusters, share, member, np.log(prior), logs)

    def _initial_members(self, label_counts: Floats) -> Floats:
        """Clusters around the mean worker and L - 1 workers, each as far from the others as possible."""
        counts = label_counts + 1.0
        matrices = counts / counts.sum(axis=2, keepdims=True)
        weight = label_counts.sum(axis=(1, 2))
        center = (label_counts + 1e-3).sum(axis=0)
        centers = [center / center.sum(axis=1, keepdims=True)]
        for _ in range(1, self.L):
            distances = np.stack([_log_likelihood_ratio(label_counts, matrices, c) for c in centers])
            centers.append(matrices[distances.min(axis=0).argmax()])
        share = np.full(self.L, 1 / self.L)
        scaled = label_counts / np.maximum(weight, 1)[:, None, None] * 10
        return _cluster_posterior(scaled, np.stack(centers), share)

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
        estimates = {
            "prior": params.prior, "confusion": confusion, "clusters": params.clusters,
            "share": params.share, "member": params.member,
        }  # fmt: skip
        return Aggregate(votes, posterior, np.where(votes.worker_sum() > 0, skill, np.nan), estimates)


def _cluster_posterior(label_counts: Floats, clusters: Floats, share: Floats) -> Floats:
    """Posterior of the cluster of each worker, (workers, L)."""
    return softmax(np.einsum("jkl,ckl->jc", label_counts, np.log(clusters)) + np.log(share))


def _log_likelihood_ratio(label_counts: Floats, matrices: Floats, center: Floats) -> Floats:
    """Log-likelihood of the votes of each worker under their own matrix, less that under `center`."""
    ratio: Floats = np.einsum("jkl,jkl->j", label_counts, np.log(matrices) - np.log(center))
    return ratio
