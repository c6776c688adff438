"""Who votes on what: distinct workers for every task, within the load each worker takes."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats

CELLS = 2**22  # cells of (tasks, workers) looked at together
CROWDED = 0.9  # share of all draws that hit a taken worker at worst before another way is taken

Rows = NDArray[np.intp]


def assign(tasks: int, feedback: int, popularity: Floats, workerload: int | None, rng: Generator) -> Codes:
    """Draw the workers of every task, (tasks, feedback), each row sorted and without repeats.

    Workers come one after the other in proportion to their popularity among those not yet there.
    Without a binding `workerload` tasks are independent; with one, votes beyond it go to workers
    who have room, and tasks that then hold a worker twice trade with others until none does.

    Parameters
    ----------
    tasks, feedback
        How many tasks there are, and how many votes each gets.
    popularity
        (workers,); logs of how likely each worker is to come, up to a constant.
    workerload
        Votes a worker gives at most; all workers together must have room for `tasks * feedback`.
    rng
        Draws the workers.
    """
    if feedback == len(popularity):
        return np.broadcast_to(np.arange(feedback, dtype=np.int32), (tasks, feedback))
    likely = np.exp(popularity - popularity.max())
    likely /= likely.sum()
    if np.sort(likely)[-feedback:].sum() < CROWDED:
        hands = _draw_again(tasks, feedback, likely, rng)
    else:
        hands = _draw_by_race(tasks, feedback, popularity, rng)
    if workerload is not None and workerload < tasks:
        _share_load_(hands.reshape(-1), len(popularity), workerload, rng)
        _separate_twins_(hands, rng)
    hands.sort(axis=1)
    return hands


def _draw_again(tasks: int, feedback: int, likely: Floats, rng: Generator) -> Codes:
    """A worker drawn twice for a task is drawn again: the law of drawing without replacement."""
    hands = _draw(likely, (tasks, feedback), rng)
    rows = np.arange(tasks)
    while len(rows):
        pool = np.sort(hands[rows], axis=1)
        twin = _follows_twin(pool)
        pool[twin] = _draw(likely, int(twin.sum()), rng)
        hands[rows] = pool
        rows = rows[twin.any(axis=1)]
    return hands


def _draw(likely: Floats, size: int | tuple[int, int], rng: Generator) -> Codes:
    if (likely == likely[0]).all():
        return rng.integers(len(likely), size=size, dtype=np.int32)
    steps = likely.cumsum()
    drawn = np.searchsorted(steps, rng.random(size) * steps[-1], side="right")
    codes: Codes = np.minimum(drawn, len(likely) - 1).astype(np.int32)
    return codes


def _draw_by_race(tasks: int, feedback: int, popularity: Floats, rng: Generator) -> Codes:
    """The first to arrive, when workers arrive at exponential times with rates like their popularity.

    The same law as drawing again (Efraimidis and Spirakis, Information Processing Letters 97(5),
    2006), at a cost of all tasks times all workers; blocks bound the memory.
    """
    hands = np.empty((tasks, feedback), np.int32)
    step = max(1, CELLS // len(popularity))
    for start in range(0, tasks, step):
        rows = hands[start : start + step]
        arrival = np.log(rng.standard_exponential((len(rows), len(popularity)))) - popularity
        rows[:] = np.argpartition(arrival, feedback - 1, axis=1)[:, :feedback]
    return hands


def _share_load_(worker: Codes, workers: int, workerload: int, rng: Generator) -> None:
    """Hand the votes that a worker has too many, chosen at random, to workers with room, in place."""
    load = np.bincount(worker, minlength=workers)
    while (load > workerload).any():
        votes = rng.permutation(np.flatnonzero((load > workerload)[worker]))
        votes = votes[np.argsort(worker[votes], kind="stable")]
        first = np.searchsorted(worker[votes], worker[votes])
        excess = votes[np.arange(len(votes)) - first >= workerload]
        room = np.maximum(workerload - load, 0.0)
        worker[excess] = _draw(room, len(excess), rng)
        load = np.bincount(worker, minlength=workers)


def _separate_twins_(hands: Codes, rng: Generator) -> None:
    """Make the workers of each task distinct, in place, keeping how many votes each one gives."""
    twins = np.flatnonzero(_follows_twin(np.sort(hands, axis=1)).any(axis=1))
    while len(twins):
        pairs = _pair(twins, len(hands), rng)
        cards = hands[pairs]  # (pairs, 2, feedback)
        pool = np.sort(cards.reshape(len(pairs), 2 * hands.shape[1]), axis=1)
        hands[pairs] = _redeal(pool, rng).reshape(cards.shape)
        rows = np.union1d(twins, pairs)
        twins = rows[_follows_twin(np.sort(hands[rows], axis=1)).any(axis=1)]


def _pair(rows: Rows, count: int, rng: Generator) -> Rows:
    """A random other row for each; pairs that meet a row already taken wait for another time."""
    pairs = np.stack([rng.permutation(rows), rng.integers(count, size=len(rows))], axis=1)
    fresh = np.zeros(pairs.size, bool)
    fresh[np.unique(pairs, return_index=True)[1]] = True
    return pairs[fresh.reshape(-1, 2).all(axis=1)]


def _redeal(pool: Codes, rng: Generator) -> Codes:
    """Two hands of sorted cards as two new ones: twins apart, the others shuffled.

    These are the trades of Strona et al., Nature Communications 5:4114, 2014.
    """
    follows = _follows_twin(pool)
    twin = follows | np.roll(follows, -1, axis=1)  # the first column never follows
    side = np.arange(pool.shape[1]) % 2 * 3 - 1.0  # -1 sorts to the first hand, 2 to the second
    key = np.where(twin, side, rng.random(pool.shape))
    return np.take_along_axis(pool, key.argsort(axis=1), axis=1)


def _follows_twin(pool: Codes) -> NDArray[np.bool_]:
    """Where a sorted row repeats the value before."""
    twin = np.zeros(pool.shape, bool)
    twin[:, 1:] = pool[:, 1:] == pool[:, :-1]
    return twin
