"""Pools of decided items to be audited: simulated ones whose model is often wrong, and real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyarrow import csv
from scipy.special import expit, logit

from benchmarks import sets
from crowdpilot.aggregation import DawidSkene
from crowdpilot.hybrid.costs import Costs
from crowdpilot.votes import Votes

SIZES = (200, 400, 800)
CROWDS = ("amazon_isbook", "sentiment_polarity", "medical_cause", "jn_product", "dog", "labelme")
VOTES = 3  # drawn for each task of a real crowd
NETWORK_SEEDS = 5  # a pool of ten thousand images varies little

Random = np.random.Generator
Floats = NDArray[np.float64]


class Pool(NamedTuple):
    """Decided items with their truth, which the audit does not see."""

    costs: Costs
    decided: NDArray[Any]
    probs: Floats
    truth: NDArray[Any]

    @property
    def losses(self) -> Floats:
        return self.costs.errors[self.truth, self.decided]

    @property
    def wrong(self) -> Floats:
        return (self.truth != self.decided).astype(float)


def _model(rng: Random, size: int, spread: float = 2.5) -> tuple[Floats, NDArray[Any]]:
    """Log-odds of a calibrated model of two classes, and the truth."""
    odds = rng.normal(-1, 1, size) + rng.choice([-1, 1], size) * rng.exponential(spread, size)
    return odds, (rng.random(size) < expit(odds)).astype(int)


def _pool(odds: Floats, truth: NDArray[Any], costs: Costs | None = None) -> Pool:
    costs = Costs.binary(fp=1, fn=1) if costs is None else costs
    probs = np.stack([expit(-odds), expit(odds)], axis=1)
    return Pool(costs, costs.decide(probs), probs, truth)


def honest(rng: Random, size: int) -> Pool:
    return _pool(*_model(rng, size), Costs.binary(fp=1, fn=5))


def overconfident(rng: Random, size: int) -> Pool:
    odds, truth = _model(rng, size)
    return _pool(odds * rng.uniform(2, 4), truth, Costs.binary(fp=1, fn=5))


def shared_difficulty(rng: Random, size: int) -> Pool:
    """Three workers of whom all err on the same hard tasks; Dawid-Skene assumes that they are independent."""
    truth, hard = rng.integers(0, 2, size), rng.random(size) < 0.2
    right = np.where(hard, 0.4, 0.93)
    said = np.where(rng.random((3, size)) < right, truth, 1 - truth)
    worker = (np.arange(3)[:, None] * 10 + rng.integers(0, 10, (3, size))).ravel()
    task = np.tile(np.arange(size), 3)
    votes = Votes.of(task, worker, said.ravel(), classes=[0, 1], tasks=range(size))
    return _pool(logit(np.clip(DawidSkene().fit(votes).probs[:, 1], 1e-9, 1 - 1e-9)), truth)


def confident_errors(rng: Random, size: int) -> Pool:
    """Of the surest half 4 % are wrong."""
    odds, truth = _model(rng, size)
    sure = np.abs(odds) > np.median(np.abs(odds))
    flip = sure & (rng.random(size) < 0.04)
    return _pool(odds, np.where(flip, (odds < 0).astype(int), truth))


def misleading(rng: Random, size: int) -> Pool:
    """Confidences of other items: the model predicts the classes, but not where it errs."""
    odds, truth = _model(rng, size)
    return _pool(np.sign(odds) * rng.permutation(np.abs(odds)), truth, Costs.binary(fp=1, fn=5))


def tiny_losses(rng: Random, size: int) -> Pool:
    return _pool(*_model(rng, size, spread=30.0))


def expensive_rare(rng: Random, size: int) -> Pool:
    """Few positives; to miss one costs fifty times as much as a false alarm."""
    odds = rng.normal(-5.5, 1.5, size)
    truth = (rng.random(size) < expit(odds)).astype(int)
    return _pool(1.5 * odds, truth, Costs.binary(fp=1, fn=50))


def many_classes(rng: Random, size: int) -> Pool:
    """Five classes, errors of many prices, an overconfident model."""
    honest = rng.dirichlet(np.full(5, 0.12), size) * 0.97 + 0.006
    truth = (rng.random(size)[:, None] > honest.cumsum(axis=1)).sum(axis=1)
    costs = Costs(np.where(np.eye(5), 0, np.add.outer(np.arange(5), np.arange(5)) + 1.0))
    probs = honest**2 / (honest**2).sum(axis=1, keepdims=True)
    return Pool(costs, costs.decide(probs), probs, np.minimum(truth, 4))


KINDS: tuple[Callable[[Random, int], Pool], ...] = (
    honest, overconfident, shared_difficulty, confident_errors,
    misleading, tiny_losses, expensive_rare, many_classes,
)  # fmt: skip


def simulate(kind: Callable[[Random, int], Pool], pools: int) -> Iterator[tuple[Pool, int]]:
    """Pools of a kind, of several sizes."""
    for seed in range(pools):
        yield kind(np.random.default_rng([seed, KINDS.index(kind)]), SIZES[seed % len(SIZES)]), seed


def real(data: Path, seeds: int) -> Iterator[tuple[str, str, Iterator[tuple[Pool, int]]]]:
    """Names of real pools, of their costs, and the pools."""
    for folder in sets.find(data, ",".join(CROWDS)):
        crowd = sets.read(folder)
        for label, price in (("equal", 1.0), ("5 : 1", 5.0)):
            yield crowd.name, label, ((_thin(crowd, price, seed), seed) for seed in range(seeds))
    if (networks := data / "cifar10h_models" / "probabilities.npz").exists():
        truth = csv.read_csv(data / "cifar10h" / "truth.csv")["label"].to_numpy()
        with np.load(networks) as file:
            for name in file.files:
                probs = file[name].astype(np.float64)
                for label, price in (("equal", 1.0), ("5 : 1", 5.0)):
                    pool = _priced(probs, truth.astype(int), price)
                    yield f"cifar10h, {name}", label, ((pool, seed) for seed in range(NETWORK_SEEDS))


def _priced(probs: Floats, truth: NDArray[Any], price: float) -> Pool:
    """To miss the last class costs this much, any other error 1; a network decides for the likeliest."""
    errors = 1 - np.eye(probs.shape[1])
    errors[-1] *= price
    costs = Costs(errors)
    return Pool(costs, costs.decide(probs), probs, truth)


def _thin(crowd: sets.Set, price: float, seed: int) -> Pool:
    """Dawid-Skene on a few votes for each task, and the tasks whose class is known."""
    votes = crowd.with_repeats("last")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(votes))
    order = order[np.argsort(votes.task[order], kind="stable")]
    starts = np.searchsorted(votes.task[order], np.arange(len(votes.tasks)))
    rank = np.arange(len(votes)) - starts[votes.task[order]]
    kept = np.zeros(len(votes), bool)
    kept[order[rank < VOTES]] = True
    thin = votes.take(kept)
    code = {str(name): k for k, name in enumerate(votes.classes.tolist())}
    truth = np.asarray([code.get(crowd.truth.get(str(task), ""), -1) for task in votes.tasks.tolist()])
    probs = DawidSkene().fit(thin).probs
    return _priced(probs[truth >= 0], truth[truth >= 0], price)
