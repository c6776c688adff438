"""What workers do besides erring: guess, collude, hurry."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats

SPREAD = 0.5  # of the logarithm of seconds, between workers and between the votes of one
HASTE = 3  # how many times faster spammers are
DAY = 86_400.0  # seconds; how long a campaign lasts


def draw_some(workers: int, share: float, rng: Generator) -> NDArray[np.bool_]:
    """Mark this share of the workers, chosen at random."""
    return rng.permutation(workers) < round(share * workers)


def draw_groups(workers: int, share: float, size: int, rng: Generator) -> Codes:
    """The group of each worker, (workers,): this share in groups of about this size, -1 for the others."""
    place = rng.permutation(workers)
    members = round(share * workers)
    groups = max(1, round(members / size))
    return np.where(place < members, place % groups, -1).astype(np.int32)


def guess_(label: Codes, lost: NDArray[np.bool_], K: int, rng: Generator) -> None:
    """Replace these labels, in place, by any of the K classes."""
    label[lost] = rng.integers(K, size=int(lost.sum()))


def drift_(label: Codes, drifting: NDArray[np.bool_], K: int, rng: Generator) -> Floats:
    """Let these votes be guesses, in place, the more often the later they are given; return the times."""
    time = rng.random(len(label))
    guess_(label, drifting & (rng.random(len(label)) < time), K, rng)
    return time * DAY


def collude_(label: Codes, task: Codes, group: Codes) -> None:
    """Copy, in place, the label of the first vote of a group on a task to its other votes there."""
    member = np.flatnonzero(group >= 0)
    if len(member) == 0:
        return
    meeting = task[member].astype(np.int64) * (int(group.max()) + 1) + group[member]
    _, first, which = np.unique(meeting, return_index=True, return_inverse=True)
    label[member] = label[member][first][which]


def draw_paces(confusion: Floats, rng: Generator) -> Floats:
    """How much slower than usual each worker is, in logs, (workers,).

    Those whose label says nothing about the class are spammers, and fast.
    """
    spams = np.isclose(np.ptp(confusion, axis=1), 0).all(axis=1)
    paces: Floats = SPREAD * rng.standard_normal(len(confusion)) - np.log(HASTE) * spams
    return paces


def draw_seconds(pace: Floats, median: float, rng: Generator) -> Floats:
    """How long each vote takes, if workers of this pace give it."""
    seconds: Floats = median * np.exp(pace + SPREAD * rng.standard_normal(len(pace)))
    return seconds
