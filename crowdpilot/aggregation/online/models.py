"""Online versions of the models: majority, vote shares, Wawa, one-coin, Dawid-Skene and GLAD."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, log_expit

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.fast_dawid_skene import FastDawidSkene, HybridDawidSkene
from crowdpilot.aggregation.models.glad import GLAD, easiness_levels
from crowdpilot.aggregation.models.glad import Params as GLADParams
from crowdpilot.aggregation.models.ibcc import IBCC
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.naive_soft import NaiveSoft
from crowdpilot.aggregation.models.one_coin import OneCoin
from crowdpilot.aggregation.models.wawa import Wawa
from crowdpilot.aggregation.models.weighted_majority import WeightedMajority
from crowdpilot.aggregation.models.zencrowd import ZenCrowd
from crowdpilot.aggregation.online.forgetting import Forgetting
from crowdpilot.aggregation.online.online_model import OnlineEM, OnlineModel, add_rows_, clamped, row_softmax
from crowdpilot.aggregation.online.vote_log import Integers
from crowdpilot.arrays import Codes, Floats, divide, share_best, to_probs
from crowdpilot.growing_arrays import append_rows


class OnlineMajority(OnlineModel):
    """Majority voting: the shares of votes, and how often each worker agrees with the majority."""

    counts = ("vote_weight", "right")
    saved: ClassVar[dict[str, str]] = {
        "class_counts": "class_counts",
        "vote_weight": "vote_weight",
        "right_votes": "right",
    }

    def __init__(self, model: Any, K: int) -> None:
        super().__init__(model, K)
        self.right = np.zeros(0)

    def vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        return np.eye(self.K)[label]

    def posterior(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(share_best(scores), gold)

    def final_probs(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(to_probs(scores), gold)

    def add_counts_(self, worker: Integers, label: Integers, change: Floats) -> None:
        np.add.at(self.right, worker, change[np.arange(len(label)), label])

    def skill(self, worker: Integers, scale: Floats) -> Floats:
        return divide(self.right[worker], self.vote_weight[worker])


class OnlineVoteShares(OnlineMajority):
    """Naive soft: the share of each class among the votes."""

    def posterior(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(to_probs(scores), gold)


class OnlineWeightedMajority(OnlineMajority):
    """Weighted majority: each worker has a fixed weight."""

    def __init__(self, model: WeightedMajority, K: int) -> None:
        super().__init__(model, K)
        self.weight = np.zeros(0)
        self.weights = {str(name): weight for name, weight in dict(model.weights).items()}

    def add_workers(self, names: Sequence[Any]) -> None:
        super().add_workers(names)
        self.weight = append_rows(self.weight, [self.weights.get(str(name), 1.0) for name in names])

    def vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        return super().vote_scores(worker, label, scale) * self.weight[worker, None]


class OnlineWawa(OnlineMajority):
    """Wawa: the weight of a worker is how often they agree with the majority."""

    def final_vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        return self.vote_scores(worker, label, scale) * np.nan_to_num(self.skill(worker, scale))[:, None]


class OnlineOneCoin(OnlineEM):
    """One coin: the expected number of right votes of each worker."""

    counts = ("vote_weight", "right")
    saved: ClassVar[dict[str, str]] = OnlineMajority.saved

    def __init__(self, model: OneCoin, K: int) -> None:
        super().__init__(model, K)
        self.right = np.zeros(0)

    def vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        prior_right, prior_wrong = self.pseudo_counts[1][0]
        total, right = self.vote_weight[worker], self.right[worker]
        wrong = np.log((total - right) * scale + prior_wrong) - np.log(self.K - 1)
        logs = np.repeat(wrong[:, None], self.K, axis=1)
        logs[np.arange(len(label)), label] = np.log(right * scale + prior_right)
        logs -= np.log(total * scale + (prior_right + prior_wrong))[:, None]
        return logs

    def add_counts_(self, worker: Integers, label: Integers, change: Floats) -> None:
        np.add.at(self.right, worker, change[np.arange(len(label)), label])

    def skill(self, worker: Integers, scale: Floats) -> Floats:
        prior_right, prior_wrong = self.pseudo_counts[1][0]
        total = self.vote_weight[worker] * scale
        return np.where(
            total > 0,
            (self.right[worker] * scale + prior_right) / (total + prior_right + prior_wrong),
            np.nan,
        )

    def stats(self, scale: Floats) -> Stats:
        wrong = np.maximum(self.vote_weight - self.right, 0)
        return self.class_counts, np.stack([self.right, wrong], axis=1) * scale[:, None]


class OnlineDawidSkene(OnlineEM):
    """Dawid and Skene's model: expected counts of the labels of each worker for each true class."""

    counts = ("vote_weight", "said", "true_counts")
    saved: ClassVar[dict[str, str]] = {
        "class_counts": "class_counts", "vote_weight": "vote_weight",
        "label_counts": "said", "true_counts": "true_counts",
    }  # fmt: skip

    def __init__(self, model: DawidSkene, K: int) -> None:
        super().__init__(model, K)
        self.said = np.zeros((0, K, K))  # (workers, said, true), so that a vote changes a single row
        self.true_counts = np.zeros((0, K))  # (workers, true)
        self.cell = np.ascontiguousarray(self.pseudo_counts[1][0].T)  # pseudo-counts, (said, true)
        self.row = self.cell.sum(axis=0)
        self.log: Callable[[Floats], Floats] = digamma if model.variational else np.log

    def vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        said = self.said[worker, label] * scale[:, None] + self.cell[label]
        return self.log(said) - self.log(self.true_counts[worker] * scale[:, None] + self.row)

    def add_counts_(self, worker: Integers, label: Integers, change: Floats) -> None:
        add_rows_(self.said, worker * self.K + label, change)
        add_rows_(self.true_counts, worker, change)

    def skill(self, worker: Integers, scale: Floats) -> Floats:
        right = np.diagonal(self.said[worker], axis1=1, axis2=2) * scale[:, None] + np.diag(self.cell)
        accuracy = right / (self.true_counts[worker] * scale[:, None] + self.row)
        prior = self.model.class_prior(self.class_counts + self.pseudo_counts[0])
        return np.where(self.vote_weight[worker] > 0, accuracy @ prior, np.nan)

    def stats(self, scale: Floats) -> Stats:
        return self.class_counts, self.said.swapaxes(1, 2) * scale[:, None, None]


class OnlineHardDawidSkene(OnlineDawidSkene):
    """Fast Dawid-Skene: the E-step puts all probability on the most probable class."""

    keeps_posterior = False  # the probabilities of the result are soft

    def posterior(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(share_best(scores), gold)

    def final_probs(self, scores: Floats, gold: Codes) -> Floats:
        return row_softmax(self.apply_gold(scores, gold))


class OnlineGLAD(OnlineEM):
    """GLAD: expected number of votes, and of right votes, of each worker at each level of easiness."""

    counts = ("vote_weight", "right", "level_counts")
    saved: ClassVar[dict[str, str]] = {
        "class_counts": "class_counts", "vote_weight": "vote_weight",
        "right_votes": "right", "level_counts": "level_counts", "ability": "ability",
    }  # fmt: skip
    needs_smoothing = False  # abilities have a prior

    def __init__(self, model: GLAD, K: int) -> None:
        super().__init__(model, K)
        self.easiness, weight = easiness_levels(model.points)
        self.right, self.level_counts = np.zeros((0, model.points)), np.zeros((0, model.points))
        self.ability = np.zeros(0)
        self.states, self.log_weight = K * model.points, np.log(weight)

    def add_workers(self, names: Sequence[Any]) -> None:
        super().add_workers(names)
        self.ability = append_rows(self.ability, np.ones(len(names)))  # the mean of the prior

    def prior_scores(self) -> Floats:
        scores: Floats = (super().prior_scores()[:, None] + self.log_weight).ravel()
        return scores

    def vote_scores(self, worker: Integers, label: Integers, scale: Floats) -> Floats:
        x = self.ability[worker, None] * self.easiness
        logs = np.repeat((log_expit(-x) - np.log(self.K - 1))[:, None], self.K, axis=1)
        logs[np.arange(len(label)), label] = log_expit(x)
        return logs.reshape(len(label), self.states)

    def add_counts_(self, worker: Integers, label: Integers, change: Floats) -> None:
        states = change.reshape(len(label), self.K, self.model.points)
        add_rows_(self.right, worker, states[np.arange(len(label)), label])
        add_rows_(self.level_counts, worker, states.sum(axis=1))

    def update_params_(self, worker: Integers, forgetting: Forgetting) -> None:
        worker = np.unique(worker)
        scale = forgetting.scale(worker)[:, None]
        right, total = self.right[worker] * scale, self.level_counts[worker] * scale
        self.ability[worker] = self.model.newton_step(
            self.ability[worker], right, np.maximum(total - right, 0)
        )

    def skill(self, worker: Integers, scale: Floats) -> Floats:
        return divide(self.right[worker].sum(axis=1), self.vote_weight[worker])

    def stats(self, scale: Floats) -> Stats:
        wrong = np.maximum(self.level_counts - self.right, 0)
        return self.class_counts, self.right * scale[:, None], wrong * scale[:, None]

    def adopt(self, result: Aggregate) -> None:
        self.ability = np.array(result.params["ability"])

    def params(self, counts: Stats) -> Params:
        return GLADParams(self.model.class_prior(counts[0]), self.ability)


IMPLEMENTATIONS: dict[type[Aggregator], type[OnlineModel]] = {
    MajorityVoting: OnlineMajority,
    NaiveSoft: OnlineVoteShares,
    WeightedMajority: OnlineWeightedMajority,
    Wawa: OnlineWawa,
    OneCoin: OnlineOneCoin,
    ZenCrowd: OnlineOneCoin,
    DawidSkene: OnlineDawidSkene,
    FastDawidSkene: OnlineHardDawidSkene,
    HybridDawidSkene: OnlineHardDawidSkene,
    IBCC: OnlineDawidSkene,
    GLAD: OnlineGLAD,
}
ONLINE_MODELS = {model.name: model for model in IMPLEMENTATIONS}


def online_model(model: Aggregator, K: int) -> OnlineModel:
    """The online version of a model, for `K` classes."""
    if type(model) not in IMPLEMENTATIONS:
        raise ValueError(
            f"{model.name} needs all votes at once; {', '.join(ONLINE_MODELS)} can follow a stream"
        )
    return IMPLEMENTATIONS[type(model)](model, K)
