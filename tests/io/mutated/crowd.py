"""Votes whose truth is known, with the names of tasks, workers and classes that people use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

VOCABULARIES = (
    ("cat", "dog", "bird"),
    ("yes", "no"),
    ("0", "1"),
    ("1", "2", "3", "4", "5"),
    ("positive", "negative", "neutral"),
    ("True", "False"),
    ("schön", "übel"),
    ("spam", "not spam"),
    ("entailment", "contradiction", "neutral"),
    ("A", "B", "C", "D"),
)
MAX_TASKS = 80
FEW_SENTENCES = (
    "The parcel came late, but the shop was friendly.",
    'She said "never again", and she meant it.',
    "Grüße aus Köln: schön und günstig",
    "Nobody knows; 12.5 or 7,5?",
    "I would buy it again",
    "What a day!",
    "It broke after a week, sadly",
    "The manual is missing | no support",
    "Five stars from me",
    "Not what was promised",
    "Es war sehr laut im Hotel",
    "Friendly people, fair prices",
)
SENTENCES = tuple(
    FEW_SENTENCES[n % len(FEW_SENTENCES)] + (f" (part {n})" if n >= len(FEW_SENTENCES) else "")
    for n in range(MAX_TASKS)
)
PEOPLE = ("anna", "ben", "carla", "dora", "emil", "fay", "gus")
FIRST_TIME = 1_772_000_000


class Vote(NamedTuple):
    """What a worker said, and when."""

    task: str
    worker: str
    label: str
    time: int


@dataclass(frozen=True)
class Crowd:
    """Votes, each pair of a task and a worker once, and the names that there are."""

    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    classes: tuple[str, ...]
    votes: tuple[Vote, ...]


def counted(votes: Iterable[Vote], by_time: bool) -> frozenset[tuple[str, str, str]]:
    """The last vote of each worker on each task, by time or as they come."""
    ordered = sorted(votes, key=lambda vote: vote.time) if by_time else votes
    last = {(vote.task, vote.worker): vote.label for vote in ordered}
    return frozenset((task, worker, label) for (task, worker), label in last.items())


def simulated(random: Random) -> Crowd:
    """A small crowd that mostly agrees; every class occurs."""
    tasks = _tasks(
        random, random.choice((random.randint(5, 12), random.randint(5, 12), random.randint(20, MAX_TASKS)))
    )
    workers = _workers(random, random.randint(3, 6))
    classes = random.choice(VOCABULARIES)
    share = random.choice((1.0, 0.8, 0.6))
    votes: list[Vote] = []
    for n, task in enumerate(tasks):
        right = classes[n % len(classes)]
        asked = [worker for worker in workers if random.random() < share] or [workers[n % len(workers)]]
        for worker in asked:
            label = right if random.random() < 0.7 else random.choice(classes)
            votes.append(Vote(task, worker, label, FIRST_TIME + 60 * len(votes)))
    return Crowd(tasks, workers, classes, tuple(votes))


def _tasks(random: Random, count: int) -> tuple[str, ...]:
    start = random.randint(100, 900)
    return random.choice((
        tuple(f"t{n}" for n in range(count)),
        tuple(str(start + n) for n in range(count)),
        tuple(f"img_{n:03}.jpg" for n in range(count)),
        tuple(f"https://example.org/{start + n}.png" for n in range(count)),
        tuple(str(1_580_000_000_000_000_000 + start * 1001 + n) for n in range(count)),
        SENTENCES[:count],
    ))  # fmt: skip


def _workers(random: Random, count: int) -> tuple[str, ...]:
    return random.choice((
        PEOPLE[:count],
        tuple(f"{name}@example.org" for name in PEOPLE[:count]),
        tuple(f"A{random.getrandbits(44):012X}" for _ in range(count)),
        tuple(f"{random.getrandbits(96):024x}" for _ in range(count)),
        tuple(str(n + 1) for n in range(count)),
        tuple(f"rater_{n}" for n in range(count)),
    ))  # fmt: skip
