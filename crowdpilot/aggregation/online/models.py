"""What a stream counts of its votes for each model, and what those counts say of a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import digamma, log_expit

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.fast_dawid_skene import FastDawidSkene, HybridDawidSkene
from crowdpilot.aggregation.models.glad import GLAD, levels
from crowdpilot.aggregation.models.glad import Params as Abilities
from crowdpilot.aggregation.models.ibcc import IBCC
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.naive_soft import NaiveSoft
from crowdpilot.aggregation.models.one_coin import OneCoin
from crowdpilot.aggregation.models.wawa import Wawa
from crowdpilot.aggregation.models.weighted_majority import WeightedMajority
from crowdpilot.aggregation.models.zencrowd import ZenCrowd
from crowdpilot.aggregation.online.base import Expected, Rule, add_rows, clamped, softmaxed
from crowdpilot.aggregation.online.forgetting import Fading
from crowdpilot.aggregation.online.vote_log import Rows
from crowdpilot.arrays import Codes, Floats, divide, share_best, to_probs
from crowdpilot.growing_arrays import grown


class Agreed(Rule):
    """How often each worker is agreed with, which is all that the models of shares need."""

    counts = ("given", "right")

    def __init__(self, model: Any, K: int) -> None:
        super().__init__(model, K)
        self.right = np.zeros(0)

    def says(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        return np.eye(self.K)[label]

    def believe(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(share_best(scores), gold)

    def count_(self, worker: Rows, label: Rows, change: Floats) -> None:
        np.add.at(self.right, worker, change[np.arange(len(label)), label])

    def skill(self, worker: Rows, scale: Floats) -> Floats:
        return divide(self.right[worker], self.given[worker])


class Shares(Agreed):
    """Naive soft: the shares of the votes."""

    def believe(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(to_probs(scores), gold)


class Weights(Agreed):
    """Weighted majority: each worker has a weight that was given."""

    def __init__(self, model: WeightedMajority, K: int) -> None:
        super().__init__(model, K)
        self.weight = np.zeros(0)
        self.known = {str(name): weight for name, weight in dict(model.weights).items()}

    def enlist(self, names: Sequence[Any]) -> None:
        super().enlist(names)
        self.weight = grown(self.weight, [self.known.get(str(name), 1.0) for name in names])

    def says(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        return super().says(worker, label, scale) * self.weight[worker, None]

    def show(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(to_probs(scores), gold)


class Agreeing(Agreed):
    """Wawa: those who agree with the majority count for more."""

    def tells(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        return self.says(worker, label, scale) * np.nan_to_num(self.skill(worker, scale))[:, None]

    def show(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(to_probs(scores), gold)


class Coins(Expected):
    """One coin: how often each worker is right, as believed."""

    counts = ("given", "right")

    def __init__(self, model: OneCoin, K: int) -> None:
        super().__init__(model, K)
        self.right = np.zeros(0)

    def says(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        good, bad = self.pseudo[1][0]
        given, right = self.given[worker], self.right[worker]
        wrong = np.log((given - right) * scale + bad) - np.log(self.K - 1)
        logs = np.repeat(wrong[:, None], self.K, axis=1)
        logs[np.arange(len(label)), label] = np.log(right * scale + good)
        logs -= np.log(given * scale + (good + bad))[:, None]
        return logs

    def count_(self, worker: Rows, label: Rows, change: Floats) -> None:
        np.add.at(self.right, worker, change[np.arange(len(label)), label])

    def skill(self, worker: Rows, scale: Floats) -> Floats:
        good, bad = self.pseudo[1][0]
        given = self.given[worker] * scale
        return np.where(given > 0, (self.right[worker] * scale + good) / (given + good + bad), np.nan)

    def stats(self, scale: Floats) -> Stats:
        wrong = np.maximum(self.given - self.right, 0)
        return self.seen, np.stack([self.right, wrong], axis=1) * scale[:, None]


class Tables(Expected):
    """Dawid and Skene's model and its kin: what each worker said of each class, as believed."""

    counts = ("given", "said", "met")

    def __init__(self, model: DawidSkene, K: int) -> None:
        super().__init__(model, K)
        self.said = np.zeros((0, K, K))  # (workers, said, true), so that a vote moves numbers in one row
        self.met = np.zeros((0, K))  # (workers, true)
        self.cell = np.ascontiguousarray(self.pseudo[1][0].T)  # imaginary votes, (said, true)
        self.row = self.cell.sum(axis=0)
        self.log: Callable[[Floats], Floats] = digamma if model.variational else np.log

    def says(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        said = self.said[worker, label] * scale[:, None] + self.cell[label]
        return self.log(said) - self.log(self.met[worker] * scale[:, None] + self.row)

    def count_(self, worker: Rows, label: Rows, change: Floats) -> None:
        add_rows(self.said, worker * self.K + label, change)
        add_rows(self.met, worker, change)

    def skill(self, worker: Rows, scale: Floats) -> Floats:
        right = np.diagonal(self.said[worker], axis1=1, axis2=2) * scale[:, None] + np.diag(self.cell)
        often = right / (self.met[worker] * scale[:, None] + self.row)
        prior = self.model.class_prior(self.seen + self.pseudo[0])
        return np.where(self.given[worker] > 0, often @ prior, np.nan)

    def stats(self, scale: Floats) -> Stats:
        return self.seen, self.said.swapaxes(1, 2) * scale[:, None, None]


class Hard(Tables):
    """Fast Dawid-Skene: each task counts for its best class alone."""

    dated = False  # what is shown is soft

    def believe(self, scores: Floats, gold: Codes) -> Floats:
        return clamped(share_best(scores), gold)

    def show(self, scores: Floats, gold: Codes) -> Floats:
        return softmaxed(self.fixed(scores, gold))


class Levels(Expected):
    """GLAD: how often each worker is right about tasks of each easiness, as believed."""

    counts = ("given", "right", "met")
    found = ("ability",)
    needs = False  # abilities have a prior

    def __init__(self, model: GLAD, K: int) -> None:
        super().__init__(model, K)
        self.easiness, weight = levels(model.points)
        self.right, self.met = np.zeros((0, model.points)), np.zeros((0, model.points))
        self.ability = np.zeros(0)
        self.states, self.log_weight = K * model.points, np.log(weight)

    def enlist(self, names: Sequence[Any]) -> None:
        super().enlist(names)
        self.ability = grown(self.ability, np.ones(len(names)))  # as the prior says

    def start(self) -> Floats:
        start: Floats = (super().start()[:, None] + self.log_weight).ravel()
        return start

    def says(self, worker: Rows, label: Rows, scale: Floats) -> Floats:
        x = self.ability[worker, None] * self.easiness
        logs = np.repeat((log_expit(-x) - np.log(self.K - 1))[:, None], self.K, axis=1)
        logs[np.arange(len(label)), label] = log_expit(x)
        return logs.reshape(len(label), self.states)

    def count_(self, worker: Rows, label: Rows, change: Floats) -> None:
        states = change.reshape(len(label), self.K, self.model.points)
        add_rows(self.right, worker, states[np.arange(len(label)), label])
        add_rows(self.met, worker, states.sum(axis=1))

    def learn_(self, worker: Rows, fading: Fading) -> None:
        worker = np.unique(worker)
        scale = fading.scale(worker)[:, None]
        right, met = self.right[worker] * scale, self.met[worker] * scale
        self.ability[worker] = self.model.raise_ability(
            self.ability[worker], right, np.maximum(met - right, 0)
        )

    def skill(self, worker: Rows, scale: Floats) -> Floats:
        return divide(self.right[worker].sum(axis=1), self.given[worker])

    def stats(self, scale: Floats) -> Stats:
        wrong = np.maximum(self.met - self.right, 0)
        return self.seen, self.right * scale[:, None], wrong * scale[:, None]

    def adopt(self, found: Aggregate) -> None:
        self.ability = np.array(found.params["ability"])

    def params(self, counts: Stats) -> Params:
        return Abilities(self.model.class_prior(counts[0]), self.ability)


RULES: dict[type[Aggregator], type[Rule]] = {
    MajorityVoting: Agreed,
    NaiveSoft: Shares,
    WeightedMajority: Weights,
    Wawa: Agreeing,
    OneCoin: Coins,
    ZenCrowd: Coins,
    DawidSkene: Tables,
    FastDawidSkene: Hard,
    HybridDawidSkene: Hard,
    IBCC: Tables,
    GLAD: Levels,
}
ONLINE = {model.name: model for model in RULES}


def rule_of(model: Aggregator, K: int) -> Rule:
    """What a stream counts for a model of so many classes."""
    if type(model) not in RULES:
        raise ValueError(f"{model.name} needs all votes at once; {', '.join(ONLINE)} can follow a stream")
    return RULES[type(model)](model, K)
