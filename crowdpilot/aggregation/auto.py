"""The default: models averaged by how well they foretell votes they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate, Aggregator, NotConverged, expected_accuracy
from crowdpilot.aggregation.em.loop import EM, Prior
from crowdpilot.aggregation.models.common_mistakes import CommonMistakes
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.fast_dawid_skene import FastDawidSkene
from crowdpilot.aggregation.models.one_coin import OneCoin
from crowdpilot.aggregation.models.tied_dawid_skene import TiedDawidSkene
from crowdpilot.aggregation.sparse.candidates import MAX_DENSE_CELLS, needs_sparse
from crowdpilot.arrays import Floats, softmax
from crowdpilot.votes import Votes

ROUNDS = 15  # enough for labels; what comes after moves only what is nearly certain

COIN = (OneCoin(max_iter=ROUNDS, trust=0.0),)
CONFUSION = (
    DawidSkene(max_iter=ROUNDS, smoothing=0.03, diagonal=0.5, variational=True),
    FastDawidSkene(max_iter=ROUNDS, smoothing=0.3, diagonal=2.0, variational=True),
    TiedDawidSkene(max_iter=6),
)
PANELS: dict[str, tuple[EM, ...]] = {"coin": COIN, "confusion": CONFUSION}

FLOOR = 1e-6  # no model may rule a class out for the others of its panel


class Score(NamedTuple):
    """How a model did on the votes held out, and how much it counts."""

    model: str
    panel: str
    score: float  # mean log-likelihood of a vote held out
    weight: float


@dataclass(frozen=True)
class Auto(Aggregator):
    """The models of two panels, averaged by how well they foretell votes they have not seen.

    One panel takes workers for coins, which few votes can tell apart; the other gives them
    confusion matrices, averaged over, decided and tied, which find out biased workers. Part of
    the votes are held out, the models are fitted to the rest, and each panel is scored by the mean
    of log sum_k P(k) shared[k, vote] over the votes held out, where one confusion matrix is shared
    by all workers. (A matrix for each worker would favour models whose classes have drifted from
    the truth, a coin those that follow the majority.) The weight of a panel is proportional to
    exp(score / softness); within a panel log-probabilities are averaged. No truth is used.

    Large inputs are scored on a sample of tasks, and models that count for little are not fitted
    to the whole. Where there are too many classes for confusion matrices, `common_mistakes` takes
    their place; where there are too many to score anything, it is taken alone.

    Parameters
    ----------
    prior
        Probability of each class, if it is known: "uniform", "estimated" or one number for each.
    handicap
        What the coin must score more, in nats for each vote: a shared matrix cannot credit the
        other panel with what it knows of single workers.
    softness
        Difference of scores that makes one panel count e times the other.
    sample
        Votes to score the models on, at most.
    seed
        Of the votes held out, and of the lot between equals.

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
    seed: int = 0

    name: ClassVar[str] = "auto"
    supports_sparse: ClassVar[bool] = True

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        if needs_sparse(votes) or min(len(votes), self.sample) * len(votes.classes) > MAX_DENSE_CELLS:
            return self._take(self._with_prior(CommonMistakes()), votes)
        panels = {name: self._seat(members, votes) for name, members in PANELS.items()}
        scores = self._score(votes, panels)
        kept = {name: self._keep(votes, members) for name, members in panels.items()}
        gains = np.asarray([scores[name][0] - self.handicap * (name == "coin") for name in panels])
        weights = np.exp((gains - gains.max()) / self.softness)
        weights = np.where(weights < 0.01 * weights.sum(), 0, weights)
        weights /= weights.sum()
        probs: Floats = np.zeros((len(votes.tasks), len(votes.classes)))
        for members, weight in zip(kept.values(), weights, strict=True):
            if weight > 0:
                probs += weight * pool(_fit(m, votes) for m in members)
        probs = votes.clamp(probs)
        table = [
            Score(
                str(replace(m, max_iter=EM.max_iter)), name, own, weight / len(kept[name]) * (m in kept[name])
            )
            for (name, members), weight in zip(panels.items(), weights, strict=True)
            for m, own in zip(members, scores[name][1], strict=True)
        ]
        return Aggregate(votes, probs, expected_accuracy(votes, probs), {"scores": table})

    def _take(self, model: EM, votes: Votes) -> Aggregate:
        """One model alone, unseen: there are too many classes to score any."""
        result = model.run(votes, None, None)
        return replace(
            result, params={**result.params, "scores": [Score(str(model), "mistakes", np.nan, 1.0)]}
        )

    def _seat(self, members: tuple[EM, ...], votes: Votes) -> list[EM]:
        """The models of a panel that there is memory for."""
        able = [m for m in members if m.fits_in_memory(votes)] or [CommonMistakes(max_iter=ROUNDS)]
        return [self._with_prior(m) for m in able]

    def _with_prior(self, model: EM) -> EM:
        return model if self.prior is None else replace(model, prior=self.prior)

    def _keep(self, votes: Votes, members: list[EM]) -> list[EM]:
        """All of a panel; of a large input its first model alone."""
        return members if len(votes) <= 5 * self.sample else members[:1]

    def _score(self, votes: Votes, panels: dict[str, list[EM]]) -> dict[str, tuple[float, list[float]]]:
        """For each panel the score of the panel as a whole and of each of its models."""
        part = _some_tasks(votes, self.sample, self.seed)
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
        held = part.take(np.concatenate(order))
        scores = {}
        for name, found in seen.items():
            beliefs = [np.concatenate(rows) for rows in found]
            scores[name] = foretell(held, pool(beliefs)), [foretell(held, b) for b in beliefs]
        return scores


def pool(beliefs: Iterable[Floats]) -> Floats:
    """Average of log-probabilities, as probabilities."""
    logs = [np.log(np.maximum(b, FLOOR)) for b in beliefs]
    return softmax(sum(logs[1:], logs[0]) / len(logs))


def foretell(votes: Votes, posterior: Floats) -> float:
    """Mean log-likelihood of votes under one shared confusion matrix, fitted to them by EM.

    `belief` has a row for each vote: the probabilities of the class of its task.
    """
    K = len(votes.classes)
    weights = votes.weights / max(votes.weights.sum(), 1e-300)
    shared = np.full((K, K), 0.3 / (K - 1)) + (0.7 - 0.3 / (K - 1)) * np.eye(K)
    posterior = np.maximum(posterior, FLOOR)
    loglik = 0.0
    for _ in range(30):
        joint = posterior * shared[:, votes.label].T
        likelihood = joint.sum(axis=1)
        loglik = float(weights @ np.log(likelihood))
        joint *= (votes.weights / likelihood)[:, None]
        counts = np.stack([np.bincount(votes.label, column, K) for column in joint.T]) + 1
        shared = counts / counts.sum(axis=1, keepdims=True)
    return loglik


def _fit(model: EM, votes: Votes) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return model.fit(votes).probs


def _splits(votes: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Fifths of the votes to hold out, until that makes 10,000 votes or 20 times."""
    rng = np.random.default_rng(seed)
    for n in range(min(20, -(-50_000 // max(votes, 1)))):
        if n % 5 == 0:
            fold = rng.integers(0, 5, votes)
        yield fold == n % 5


def _some_tasks(votes: Votes, most: int, seed: int) -> Votes:
    """The votes of some tasks, drawn at random, with about `most` votes in all."""
    if len(votes) <= most:
        return votes
    return votes.select(tasks=np.random.default_rng(seed).random(len(votes.tasks)) < most / len(votes))
