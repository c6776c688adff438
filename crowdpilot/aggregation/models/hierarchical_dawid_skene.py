"""Dawid and Skene's model where workers are drawn from one population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import digamma

from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import DawidSkene, Matrices, minus_divergence
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


class Population(NamedTuple):
    """As for Dawid-Skene, with the population the workers come from."""

    prior: Floats
    confusion: Floats
    log_class_prior: Floats
    log_confusion: Floats
    counts: Stats
    population: Floats  # (true, said): imaginary votes of every worker


@dataclass(frozen=True)
class HierarchicalDawidSkene(DawidSkene):
    """Row *k* of each worker's matrix is drawn from Dirichlet(population[k]), which is learned too.

    What is common to the crowd (easily confused classes, usual skill) is learned from all votes,
    so a worker with few votes is believed to be like the others, not like a coin. Mean-field Bayes;
    the population has a Gamma prior around `smoothing` off and `smoothing + diagonal` on the
    diagonal, and is raised by Minka's fixed point.

    Parameters
    ----------
    certainty
        Imaginary workers that stand behind the prior of the population.

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
        seen, said = stats
        usual = self._usual(len(seen))
        population = usual if params is None else params.population
        active = said[said.sum(axis=(1, 2)) > 0]
        for _ in range(3):
            population = self._raise(population, usual, active)
        counts = seen, said + population
        base: Matrices = super().m_step(counts, None)
        return Population(**base._asdict(), population=population)

    def _usual(self, K: int) -> Floats:
        return self.smoothing + self.diagonal * np.eye(K)

    def _raise(self, population: Floats, usual: Floats, said: Floats) -> Floats:
        """One step of the fixed point; the log-posterior of the population never falls."""
        rows = population.sum(axis=1)
        up = (digamma(said + population) - digamma(population)).sum(axis=0)
        down = (digamma(said.sum(axis=2) + rows) - digamma(rows)).sum(axis=0)
        shape, rate = self.certainty, self.certainty / usual
        raised: Floats = (shape + population * up) / (rate + down[:, None])
        return raised

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        population = params.population
        prior = 0.0
        if self.prior == "estimated":
            prior = minus_divergence(pseudo_counts[0], params.counts[0], params.log_class_prior)
        hyper = self.certainty * (np.log(population) - population / self._usual(len(population))).sum()
        rows = np.broadcast_to(population, params.log_confusion.shape)
        workers = minus_divergence(rows, params.counts[1], params.log_confusion)
        return float(prior + hyper + workers + (pseudo_counts[1] * params.log_confusion).sum())
