"""Honest confidence for the result of any model: probabilities by experience with many crowds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.em.backend import Backend
from crowdpilot.aggregation.gold import cross_fit_gold, has_gold_votes
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.sparse.honest_posterior import calibrate
from crowdpilot.aggregation.workers.skill import skill_distribution
from crowdpilot.calibration.experience import CrowdMap, GoldEvidence
from crowdpilot.votes import Votes


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

    References
    ----------
    MacKay, The evidence framework applied to classification networks, Neural Computation 4(5), 1992: logistic
    regression with its coefficients integrated out. https://doi.org/10.1162/neco.1992.4.5.720

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
        result = self._run_model(backend, votes, start, history)
        gold = None
        if has_gold_votes(votes):
            gold = cross_fit_gold(votes, lambda rest: self._run_model(backend, rest, None, None))
        return make_honest(result, self.experience, gold)

    def _run_model(
        self, backend: Backend | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        return replace(self.model.run_on(backend, votes, start, history), model=self.model)

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        return self.run_on(None, votes, start, history)

    def __str__(self) -> str:
        return f"honest[{self.model}]"


def make_honest(
    result: Aggregate, experience: CrowdMap | None = None, gold: GoldEvidence | None = None
) -> Aggregate:
    """The same result with honest probabilities; those of the model are in `params["model_probs"]`.

    `params` also gets the `crowd_map` that they come from, the `evidence` that it was applied to, the
    `expected_accuracy` of all labels and, with gold labels, the `gold_check`.
    """
    labels = result.codes
    honest, posterior = calibrate(
        result.votes, result.posterior, labels, result.confidence, experience, result.unlisted_prior, gold
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
