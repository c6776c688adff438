"""Honest confidence for the result of any model: probabilities by experience with many crowds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.em.backend import Backend
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.sparse.honest_posterior import calibrate
from crowdpilot.aggregation.worker_skill import skill_distribution
from crowdpilot.arrays import Floats, softmax, to_probs
from crowdpilot.calibration.experience import CrowdMap, honest_posterior
from crowdpilot.confusion_matrices import count_labels, votes_log_likelihood
from crowdpilot.votes import Votes

GOLD_COUNTS = 2.0  # pseudo-votes of a worker for each class, where matrices come from gold tasks alone


@dataclass(frozen=True)
class Honest(Aggregator):
    """The labels of a model with the confidence that they deserve by experience.

    The models of this package take the errors of votes on one task to be independent. In real crowds they
    are not, and posteriors are far too sure. Here the probability of a label comes from what many crowds
    with known truth have shown (see `crowdpilot.calibration.experience`), and from the gold labels of
    tasks with votes, if there are any. The labels are those of the model.

    Parameters
    ----------
    model
        The model; `honest[dawid_skene]` as a strategy.
    experience
        The distribution of coefficients over crowds; that of the package if not given.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> plain, honest = DawidSkene().fit(votes), Honest(DawidSkene()).fit(votes)
    >>> bool((plain.labels == honest.labels).all()), bool(honest.confidence.mean() < plain.confidence.mean())
    (True, True)
    """

    model: Aggregator = field(default_factory=DawidSkene)
    experience: CrowdMap | None = field(default=None, repr=False, compare=False)

    name: ClassVar[str] = "honest"
    aliases: ClassVar[tuple[str, ...]] = ("calibrated",)
    supports_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", self.model.seed)  # ties are broken as by the model

    def fits_in_memory(self, votes: Votes) -> bool:
        return self.model.fits_in_memory(votes)

    def _fallback(self, votes: Votes, backend: Backend | None) -> Aggregator:
        return replace(self, model=self.model._fallback(votes, backend))

    def run_on(
        self, backend: Backend | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        result = self.model.run_on(backend, votes, start, history)
        return make_honest(replace(result, model=self.model), self.experience)

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        return self.run_on(None, votes, start, history)

    def __str__(self) -> str:
        return f"honest[{self.model}]"


def make_honest(result: Aggregate, experience: CrowdMap | None = None) -> Aggregate:
    """The same result with honest probabilities; those of the model are in `params["model_probs"]`.

    `params` also gets the `crowd_map` that they come from, the `evidence` that it was applied to, the
    `expected_accuracy` of all labels and, with gold labels, the `gold_check`.
    """
    labels = result.codes
    honest, posterior = calibrate(
        result.votes, result.posterior, labels, result.confidence, experience, result.unlisted_prior
    )
    params = {
        **result.params,
        "model_probs": result.posterior,
        "crowd_map": honest.map,
        "evidence": honest.evidence.features,
        "expected_accuracy": honest.accuracy,
        "gold_check": honest.gold,
    }
    if result.votes.gold is None:
        skill = expected_worker_accuracy(result.votes, posterior)
    else:
        skill = skill_distribution(result.votes, posterior, labels, honest.crowd).mean
    return replace(result, posterior=posterior, skill=skill, params=params)


def without_honesty(result: Aggregate) -> Aggregate:
    """The result with the probabilities of its model, if it has honest ones."""
    if "model_probs" not in result.params:
        return result
    posterior = result.params["model_probs"]
    return replace(result, posterior=posterior, skill=expected_worker_accuracy(result.votes, posterior))


def posterior_from_gold(votes: Votes) -> Floats:
    """The posterior of all tasks by confusion matrices from the gold tasks alone, (tasks, classes).

    A worker without votes on gold tasks has the matrix of all workers together.
    """
    K = len(votes.classes)
    known = (
        np.zeros((len(votes.tasks), K))
        if votes.gold is None
        else votes.clamp(np.zeros((len(votes.tasks), K)))
    )
    counts = count_labels(votes, known)
    pooled = to_probs(counts.sum(axis=0) + np.full((K, K), 0.5) + np.eye(K))
    confusion = to_probs(counts + GOLD_COUNTS * pooled)
    return votes.clamp(softmax(votes_log_likelihood(votes, np.log(confusion))))


def gold_log_likelihood(votes: Votes, posterior: Floats, experience: CrowdMap | None) -> float:
    """Log-likelihood of gold labels if the labels of gold tasks came from their votes; 0 without any."""
    check = honest_posterior(votes, posterior, posterior.argmax(axis=1).astype(np.int32), experience).gold
    return 0.0 if check is None else check.log_likelihood
