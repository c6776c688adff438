"""Crowds whose truth is known: the one place where tests draw votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from crowdpilot.arrays import Codes, Floats
from crowdpilot.simulation import HammerSpammer, OneCoin, Simulation
from crowdpilot.simulation.confusion_matrices import draw_labels
from crowdpilot.votes import Votes


def one_coin_votes(
    tasks: int, skill: Sequence[float], classes: int, votes_per_task: int, seed: int
) -> tuple[Votes, Codes]:
    """Votes of workers who are right with one probability each, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    task, worker = _assign(rng, tasks, len(skill), votes_per_task)
    label = _answer(rng, truth[task], np.asarray(skill)[worker], classes)
    return _votes(task, worker, label, (tasks, len(skill), classes)), truth


def partial_votes(
    tasks: int, skill: Sequence[float], classes: int, share: float, seed: int
) -> tuple[Votes, Codes]:
    """The same where each worker votes on each task with probability `share`, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    task, worker = np.nonzero(rng.random((tasks, len(skill))) < share)
    label = _answer(rng, truth[task], np.asarray(skill)[worker], classes)
    return _votes(task, worker, label, (tasks, len(skill), classes)), truth


def confusion_votes(
    confusion: Floats, tasks: int, votes_per_task: int, seed: int, prior: Sequence[float] | None = None
) -> tuple[Votes, Codes]:
    """Votes of workers with these matrices, (workers, true, said), and the truth."""
    rng = np.random.default_rng(seed)
    workers, classes, _ = confusion.shape
    truth = rng.choice(classes, tasks, p=prior)
    task, worker = _assign(rng, tasks, workers, votes_per_task)
    label = draw_labels(confusion, worker, truth[task], rng)
    return _votes(task, worker, label, (tasks, workers, classes)), truth


def next_class_votes(
    tasks: int, workers: int, classes: int, votes: int, common: float = 0.7, seed: int = 0
) -> tuple[Votes, Codes]:
    """Votes of workers whose mistakes are the next class with probability `common`, and the truth."""
    rng = np.random.default_rng(seed)
    truth, task = rng.integers(0, classes, tasks), rng.integers(0, tasks, votes)
    worker = rng.integers(0, workers, votes)
    right = rng.random(votes) < rng.uniform(0.3, 0.95, workers)[worker]
    other = rng.integers(1, classes, votes)
    step = np.where(rng.random(votes) < common, 1, other)
    label = np.where(right, truth[task], truth[task] + step) % classes
    return _votes(task, worker, label, (tasks, workers, classes)), truth


def votes_and_features(
    tasks: int,
    skill: Sequence[float],
    classes: int,
    votes_per_task: int,
    seed: int,
    *,
    centres: Floats | None = None,
    noise: float = 1.0,
) -> tuple[Floats, Votes, Codes]:
    """X as normal clouds of deviation `noise` around the centre of each class, one-coin votes, the truth.

    `centres` is (classes, features); if not given, six features drawn from a normal law of deviation 2.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    centres = 2 * rng.normal(size=(classes, 6)) if centres is None else centres
    X = centres[truth] + rng.normal(0, noise, (tasks, centres.shape[1]))
    task, worker = _assign(rng, tasks, len(skill), votes_per_task)
    label = _answer(rng, truth[task], np.asarray(skill)[worker], classes)
    return X.astype(np.float32), _votes(task, worker, label, (tasks, len(skill), classes)), truth


def vote_tuples(
    items: Sequence[Any], classes: Sequence[Any], seed: int, *, share: float = 0.5, skill: float = 0.8
) -> list[tuple[Any, str, Any]]:
    """(item, worker, label) of six workers, each on a share of the items, in random order, for a campaign."""
    votes, _ = partial_votes(len(items), [skill] * 6, len(classes), share, seed)
    order = np.random.default_rng(seed).permutation(len(votes))
    columns = votes.task[order], votes.worker[order], votes.label[order]
    return [(items[i], f"w{w}", classes[k]) for i, w, k in zip(*columns, strict=True)]


def one_coin_crowd(
    seed: int, low: float = 0.55, high: float = 0.95, *, workers: int, **settings: Any
) -> Simulation:
    """A simulation of workers whose skills are drawn uniformly between two values."""
    skill = np.random.default_rng(seed).uniform(low, high, workers)
    return OneCoin(skill=tuple(skill), workers=workers, seed=seed, **settings).run()


def spamming_crowd(tasks: int) -> Simulation:
    """Twenty workers of whom the last four spam, with times, seconds, and gold for every tenth task."""
    settings = {"workers": 20, "classes": 4, "votes_per_task": 10, "ratio": 0.2, "seconds": 9.0}
    return with_gold(HammerSpammer(tasks=tasks, drifting=0.05, **settings).run(), every=10)


def with_gold(simulation: Simulation, every: int) -> Simulation:
    """The same crowd, with the truth of every so manyth task as gold."""
    gold = np.where(np.arange(len(simulation.truth)) % every == 0, simulation.truth, -1)
    return replace(simulation, votes=replace(simulation.votes, gold=gold))


def _assign(rng: Generator, tasks: int, workers: int, votes_per_task: int) -> tuple[Codes, Codes]:
    """The task and the worker of each vote: different workers, drawn at random, on each task."""
    worker = rng.random((tasks, workers)).argsort(axis=1)[:, :votes_per_task].ravel()
    return np.repeat(np.arange(tasks), votes_per_task), worker


def _answer(rng: Generator, truth: Codes, skill: Floats, classes: int) -> Codes:
    """The label of each vote, given the true class of its task and the skill of its worker."""
    right = rng.random(len(truth)) < skill
    wrong = (truth + rng.integers(1, max(2, classes), len(truth))) % classes
    return np.where(right, truth, wrong)


def _votes(task: Codes, worker: Codes, label: Codes, sizes: tuple[int, int, int]) -> Votes:
    return Votes(task, worker, label, *(np.arange(size) for size in sizes))
