"""Hierarchical Dawid-Skene: the confusion matrices of workers are drawn from one population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import digamma

from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import ConfusionParams, DawidSkene, negative_divergence
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


class Population(NamedTuple):
    """Parameters of Dawid-Skene, and of the population of workers."""

    prior: Floats
    confusion: Floats
    log_class_prior: Floats
    log_confusion: Floats
    counts: Stats
    population: Floats  # (true, said): pseudo-counts of every worker


@dataclass(frozen=True)
class HierarchicalDawidSkene(DawidSkene):
    """Row *k* of each worker's matrix is drawn from Dirichlet(population[k]), which is learned too.

    What the workers have in common (easily confused classes, mean skill) is learned from all votes, and
    the matrix of a worker with few votes is shrunk towards it. Mean-field variational Bayes; the
    population has a Gamma prior with mean `smoothing` off and `smoothing + diagonal` on the diagonal, and
    is updated by Minka's fixed-point iteration.

    Parameters
    ----------
    certainty
        Pseudo-count of workers in the prior of the population.

    References
    ----------
    Paun et al., Comparing Bayesian models of annotation, TACL 6, 2018 (with a logistic-normal
    population; the Dirichlet has the same purpose and a closed form).
    https://aclanthology.org/Q18-1040
    Minka, Estimating a Dirichlet distribution, 2000.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> bool((HierarchicalDawidSkene().fit(votes).codes == truth).mean() > 0.88)
    True
    """

    smoothing: float = 0.1
    diagonal: float = 1.0
    variational: bool = True
    certainty: float = 2.0

    name: ClassVar[str] = "hierarchical_dawid_skene"
    aliases: ClassVar[tuple[str, ...]] = ("hds", "rater")

    def pseudo_counts(self, votes: Votes) -> Stats:
        K, W = len(votes.classes), len(votes.workers)
        return np.full(K, self.class_smoothing), np.zeros((W, K, K))

    def m_step(self, stats: Stats, params: Params | None) -> Population:
        class_counts, label_counts = stats
        mean = self._prior_mean(len(class_counts))
        population = mean if params is None else params.population
        active = label_counts[label_counts.sum(axis=(1, 2)) > 0]
        for _ in range(3):
            population = self._update_population(population, mean, active)
        counts = class_counts, label_counts + population
        base: ConfusionParams = super().m_step(counts, None)
        return Population(**base._asdict(), population=population)

    def _prior_mean(self, K: int) -> Floats:
        return self.smoothing + self.diagonal * np.eye(K)

    def _update_population(self, population: Floats, mean: Floats, label_counts: Floats) -> Floats:
        """One fixed-point iteration; the log-posterior of the population never falls."""
        rows = population.sum(axis=1)
        up = (digamma(label_counts + population) - digamma(population)).sum(axis=0)
        down = (digamma(label_counts.sum(axis=2) + rows) - digamma(rows)).sum(axis=0)
        shape, rate = self.certainty, self.certainty / mean
        updated: Floats = (shape + population * up) / (rate + down[:, None])
        return updated

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        population = params.population
        prior = 0.0
        if self.prior == "estimated":
            prior = negative_divergence(pseudo_counts[0], params.counts[0], params.log_class_prior)
        hyper = self.certainty * (np.log(population) - population / self._prior_mean(len(population))).sum()
        rows = np.broadcast_to(population, params.log_confusion.shape)
        workers = negative_divergence(rows, params.counts[1], params.log_confusion)
        return float(prior + hyper + workers + (pseudo_counts[1] * params.log_confusion).sum())
