"""Behaviour of simulated workers besides errors: guessing, drift, collusion, response times."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats

LOG_SECONDS_SD = 0.5  # between workers, and between the votes of one worker
SPAMMER_SPEEDUP = 3  # how many times faster spammers are
CAMPAIGN_SECONDS = 86_400.0


def draw_some(workers: int, share: float, rng: Generator) -> NDArray[np.bool_]:
    """Mark this share of the workers, chosen at random."""
    return rng.permutation(workers) < round(share * workers)


def draw_groups(workers: int, share: float, size: int, rng: Generator) -> Codes:
    """The group of each worker, (workers,): this share in groups of about this size, -1 for the others."""
    rank = rng.permutation(workers)
    members = round(share * workers)
    groups = max(1, round(members / size))
    return np.where(rank < members, rank % groups, -1).astype(np.int32)


def guess_(label: Codes, guessed: NDArray[np.bool_], K: int, rng: Generator) -> None:
    """Replace these labels, in place, by uniform draws from the K classes."""
    label[guessed] = rng.integers(K, size=int(guessed.sum()))


def drift_(label: Codes, drifting: NDArray[np.bool_], K: int, rng: Generator) -> Floats:
    """Replace votes of drifting workers by guesses, in place, with probability t at time t in [0, 1].

    Returns the time of each vote in seconds.
    """
    time = rng.random(len(label))
    guess_(label, drifting & (rng.random(len(label)) < time), K, rng)
    return time * CAMPAIGN_SECONDS


def collude_(label: Codes, task: Codes, group: Codes) -> None:
    """Copy, in place, the label of the first vote of a group on a task to its other votes there."""
    member = np.flatnonzero(group >= 0)
    if len(member) == 0:
        return
    meeting = task[member].astype(np.int64) * (int(group.max()) + 1) + group[member]
    _, first, which = np.unique(meeting, return_index=True, return_inverse=True)
    label[member] = label[member][first][which]


def draw_log_slowness(confusion: Floats, rng: Generator) -> Floats:
    """Log of how much slower than the median each worker is, (workers,).

    Workers whose label is independent of the class are spammers, and fast.
    """
    spams = np.isclose(np.ptp(confusion, axis=1), 0).all(axis=1)
    slowness: Floats = LOG_SECONDS_SD * rng.standard_normal(len(confusion)) - np.log(SPAMMER_SPEEDUP) * spams
    return slowness


def draw_seconds(log_slowness: Floats, median: float, rng: Generator) -> Floats:
    """Log-normal response time of each vote in seconds, from the log slowness of its worker."""
    seconds: Floats = median * np.exp(log_slowness + LOG_SECONDS_SD * rng.standard_normal(len(log_slowness)))
    return seconds
