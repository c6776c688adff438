"""Auto, the default: models averaged by their log-likelihood of held-out votes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate, Aggregator, NotConverged
from crowdpilot.aggregation.em.loop import EM, Prior
from crowdpilot.aggregation.gold import cross_fit_gold, has_gold_votes, posterior_from_gold
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.aggregation.models.common_mistakes import CommonMistakes
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.fast_dawid_skene import FastDawidSkene
from crowdpilot.aggregation.models.one_coin import OneCoin
from crowdpilot.aggregation.models.tied_dawid_skene import TiedDawidSkene
from crowdpilot.aggregation.panel_scores import (
    MIN_PROBABILITY,
    PanelScore,
    believable_gain,
    error_correlation,
    held_out_log_likelihood,
)
from crowdpilot.aggregation.sparse.candidates import MAX_DENSE_CELLS, needs_sparse
from crowdpilot.arrays import Floats, softmax
from crowdpilot.calibration.experience import CrowdMap, GoldEvidence, load_experience
from crowdpilot.votes import Votes

MAX_ITERATIONS = 15  # enough for labels; later ones change only what is nearly certain

COIN = (OneCoin(max_iter=MAX_ITERATIONS, trust=0.0),)
CONFUSION = (
    DawidSkene(max_iter=MAX_ITERATIONS, smoothing=0.03, diagonal=0.5, variational=True),
    FastDawidSkene(max_iter=MAX_ITERATIONS, smoothing=0.3, diagonal=2.0, variational=True),
    TiedDawidSkene(max_iter=6),
)
PANELS: dict[str, tuple[EM, ...]] = {"coin": COIN, "confusion": CONFUSION}

MIN_VOTES_PER_TASK = 8  # of the correlation of errors: other votes must tell the class of a task
MIN_LOG_WEIGHT_WITH_GOLD = -3.0  # of a panel: gold labels decide, not the score of votes


class Score(NamedTuple):
    """Held-out log-likelihood of a model, and its weight."""

    model: str
    panel: str
    score: float  # mean log-likelihood of a held-out vote
    weight: float


@dataclass(frozen=True)
class Auto(Aggregator):
    """The models of two panels, averaged by their log-likelihood of held-out votes.

    One panel has one skill for each worker, which needs few votes; the other has confusion matrices
    (variational, hard and tied), which find biased workers. Part of the votes are held out, the models are
    fitted to the rest, and each panel is scored by the mean of log sum_k P(k) confusion[k, vote] over the
    held-out votes, with one confusion matrix for all workers. (A matrix for each worker would favour
    models whose classes have drifted from the truth, a single skill those that follow the majority.) The
    weight of a panel is proportional to exp(score / softness), where a gain by errors that workers share
    does not count (see `believable_gain`); within a panel log-probabilities are averaged.

    `probs` are honest: errors on one task are not independent, so that the models are far too sure. The
    confidence of a label is what experience with many crowds gives it, and gold labels of tasks with votes
    correct it (see `crowdpilot.calibration.experience`). `params["model_probs"]` has the models' average.

    Large inputs are scored on a sample of tasks, and models with a small weight are not fitted to the
    whole. Where there are too many classes for confusion matrices, `common_mistakes` replaces them; where
    there are too many to score anything, it is fitted alone.

    Parameters
    ----------
    prior
        Probability of each class, if it is known: "uniform", "estimated" or one number for each.
    handicap
        What the panel "coin" must score more, in nats for each vote: a common matrix cannot credit the
        other panel with what it knows of single workers.
    softness
        Difference of scores that gives one panel e times the weight of the other.
    sample
        Largest number of votes to score the models on.
    experience
        The distribution of coefficients over crowds; that of the package if not given.
    seed
        Of the held-out votes, and of the hash that breaks ties between classes.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> result = Auto().fit(votes)
    >>> bool((result.codes == truth).mean() > 0.88)
    True
    >>> [score.panel for score in result.params["scores"]]
    ['coin', 'confusion', 'confusion', 'confusion']
    """

    prior: Prior | None = None
    handicap: float = 0.01
    softness: float = 0.002
    sample: int = 200_000
    experience: CrowdMap | None = field(default=None, repr=False, compare=False)

    name: ClassVar[str] = "auto"
    supports_sparse: ClassVar[bool] = True

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        if needs_sparse(votes) or min(len(votes), self.sample) * len(votes.classes) > MAX_DENSE_CELLS:
            return self._fit_alone(self._with_prior(CommonMistakes()), votes)
        panels = {name: self._members(members, votes) for name, members in PANELS.items()}
        scores = self._score(votes, panels)
        kept = {name: self._fitted_to_all(votes, members) for name, members in panels.items()}
        gain = believable_gain(scores["coin"], scores["confusion"]) + self.handicap
        weights, posteriors, gold = self._weigh(votes, list(kept.values()), np.array([0.0, gain]))
        probs: Floats = np.zeros((len(votes.tasks), len(votes.classes)))
        for posterior, weight in zip(posteriors, weights, strict=True):
            if posterior is not None:
                probs += weight * posterior
        probs = votes.clamp(probs)
        table = [
            Score(
                str(replace(m, max_iter=EM.max_iter)), name, own, weight / len(kept[name]) * (m in kept[name])
            )
            for (name, members), weight in zip(panels.items(), weights, strict=True)
            for m, own in zip(members, scores[name].of_models, strict=True)
        ]
        mixed = Aggregate(votes, probs, np.zeros(0), {"scores": table}, model=self)
        return make_honest(mixed, self.experience, gold)

    def _weigh(
        self, votes: Votes, panels: list[list[EM]], gains: Floats
    ) -> tuple[Floats, list[Floats | None], GoldEvidence | None]:
        """The weight of each panel, its posterior (None where the weight is too small), and evidence of gold.

        With gold labels the weights are also by their likelihood, and each panel starts twice, at its usual
        starting point and at what workers with the confusion matrices of the gold tasks would say. Gold
        labels are held out of the fits that they judge.
        """
        log_weights = (gains - gains.max()) / self.softness
        if not has_gold_votes(votes):
            weights = np.exp(log_weights)
            weights = np.where(weights < 0.01 * weights.sum(), 0, weights)
            weights /= weights.sum()
            used = zip(panels, weights, strict=True)
            return weights, [_fit_panel(members, votes) if w > 0 else None for members, w in used], None
        prior = load_experience() if self.experience is None else self.experience
        log_weights = np.maximum(log_weights, MIN_LOG_WEIGHT_WITH_GOLD)
        posteriors: list[Floats | None] = []
        found = []
        for n, members in enumerate(panels):
            fits = [partial(_fit_panel, members), partial(_fit_panel_from_gold, members)]
            evidence = [cross_fit_gold(votes, partial(self._as_result, fit), self.seed) for fit in fits]
            likelihoods = [prior.update(*each).log_likelihood for each in evidence]
            best = int(np.argmax(likelihoods))
            posteriors.append(fits[best](votes))
            found.append(evidence[best])
            log_weights[n] += likelihoods[best]
        weights = np.exp(log_weights - log_weights.max())
        return weights / weights.sum(), posteriors, found[int(np.argmax(weights))]

    def _as_result(self, fit: Callable[[Votes], Floats], votes: Votes) -> Aggregate:
        return Aggregate(votes, fit(votes), np.zeros(0), model=self)

    def _fit_alone(self, model: EM, votes: Votes) -> Aggregate:
        """One model alone, without a score: there are too many classes to score any."""
        result = model.run(votes, None, None)
        scores = [Score(str(model), "mistakes", np.nan, 1.0)]
        alone = replace(result, params={**result.params, "scores": scores}, model=self)
        return make_honest(alone, self.experience)

    def _members(self, members: tuple[EM, ...], votes: Votes) -> list[EM]:
        """The models of a panel that there is memory for."""
        fitting = [m for m in members if m.fits_in_memory(votes)] or [CommonMistakes(max_iter=MAX_ITERATIONS)]
        return [self._with_prior(m) for m in fitting]

    def _with_prior(self, model: EM) -> EM:
        return model if self.prior is None else replace(model, prior=self.prior)

    def _fitted_to_all(self, votes: Votes, members: list[EM]) -> list[EM]:
        """All of a panel; of a large input its first model alone."""
        return members if len(votes) <= 5 * self.sample else members[:1]

    def _score(self, votes: Votes, panels: dict[str, list[EM]]) -> dict[str, PanelScore]:
        """The score of each panel as a whole and of each of its models."""
        part = _sample_tasks(votes, self.sample, self.seed)
        seen: dict[str, list[list[Floats]]] = {
            name: [[] for _ in members] for name, members in panels.items()
        }
        order = []
        for out in _splits(len(part), self.seed):
            order.append(np.flatnonzero(out))
            rest = part.take(~out)
            for name, members in panels.items():
                for model, rows in zip(members, seen[name], strict=True):
                    rows.append(_fit(model, rest)[part.task[out]])
        held_out = part.take(np.concatenate(order))
        fold = np.repeat(np.arange(len(order)), [len(rows) for rows in order])
        many_votes = len(part) >= MIN_VOTES_PER_TASK * len(np.unique(part.task))
        scores = {}
        for name, of_models in seen.items():
            posteriors = [np.concatenate(rows) for rows in of_models]
            pooled = pool(posteriors)
            scores[name] = PanelScore(
                held_out_log_likelihood(held_out, pooled),
                error_correlation(held_out, pooled, fold) if many_votes else np.nan,
                [held_out_log_likelihood(held_out, each) for each in posteriors],
            )
        return scores


def pool(posteriors: Iterable[Floats]) -> Floats:
    """Logarithmic opinion pool: the mean of log-probabilities, as probabilities."""
    logs = [np.log(np.maximum(p, MIN_PROBABILITY)) for p in posteriors]
    return softmax(sum(logs[1:], logs[0]) / len(logs))


def _fit_panel(members: list[EM], votes: Votes, start: Aggregate | None = None) -> Floats:
    return votes.clamp(pool(_fit(m, votes, start) for m in members))


def _fit_panel_from_gold(members: list[EM], votes: Votes) -> Floats:
    return _fit_panel(members, votes, Aggregate(votes, posterior_from_gold(votes), np.zeros(0)))


def _fit(model: EM, votes: Votes, start: Aggregate | None = None) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return model.fit(votes, start=start).probs


def _splits(votes: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Fifths of the votes to hold out, until that makes 10,000 votes or 20 times."""
    rng = np.random.default_rng(seed)
    for n in range(min(20, -(-50_000 // max(votes, 1)))):
        if n % 5 == 0:
            fold = rng.integers(0, 5, votes)
        yield fold == n % 5


def _sample_tasks(votes: Votes, most: int, seed: int) -> Votes:
    """The votes of a random sample of the tasks, about `most` votes in all."""
    if len(votes) <= most:
        return votes
    return votes.select(tasks=np.random.default_rng(seed).random(len(votes.tasks)) < most / len(votes))
