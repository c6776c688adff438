"""Assignment of workers to tasks: distinct workers for each task, within a maximum load per worker."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats

MAX_CELLS_AT_ONCE = 2**22  # cells of (tasks, workers) looked at together
MAX_COLLISION_SHARE = 0.9  # share of all draws that hit a taken worker at worst before another way is taken

RowIndices = NDArray[np.intp]


def assign(
    tasks: int, votes_per_task: int, popularity: Floats, max_votes_per_worker: int | None, rng: Generator
) -> Codes:
    """Draw the workers of each task, (tasks, votes_per_task), each row sorted and without repeats.

    Workers are drawn without replacement in proportion to the exponential of their popularity.
    Without a binding `max_votes_per_worker` tasks are independent; with one, votes beyond it go to workers
    who have room, and tasks that then hold a worker twice trade with others until none does.

    Parameters
    ----------
    tasks, votes_per_task
        How many tasks there are, and how many votes each gets.
    popularity
        (workers,); log of the relative rate of each worker, up to a constant.
    max_votes_per_worker
        Votes a worker gives at most; all workers together must have room for `tasks * votes_per_task`.
    rng
        Draws the workers.
    """
    if votes_per_task == len(popularity):
        return np.broadcast_to(np.arange(votes_per_task, dtype=np.int32), (tasks, votes_per_task))
    likely = np.exp(popularity - popularity.max())
    likely /= likely.sum()
    if np.sort(likely)[-votes_per_task:].sum() < MAX_COLLISION_SHARE:
        assigned = _draw_with_rejection(tasks, votes_per_task, likely, rng)
    else:
        assigned = _draw_by_exponential_keys(tasks, votes_per_task, popularity, rng)
    if max_votes_per_worker is not None and max_votes_per_worker < tasks:
        _respect_load_(assigned.reshape(-1), len(popularity), max_votes_per_worker, rng)
        _separate_duplicates_(assigned, rng)
    assigned.sort(axis=1)
    return assigned


def _draw_with_rejection(tasks: int, votes_per_task: int, likely: Floats, rng: Generator) -> Codes:
    """A worker drawn twice for a task is drawn again: the law of drawing without replacement."""
    assigned = _draw(likely, (tasks, votes_per_task), rng)
    rows = np.arange(tasks)
    while len(rows):
        pool = np.sort(assigned[rows], axis=1)
        duplicate = _repeats_previous(pool)
        pool[duplicate] = _draw(likely, int(duplicate.sum()), rng)
        assigned[rows] = pool
        rows = rows[duplicate.any(axis=1)]
    return assigned


def _draw(likely: Floats, size: int | tuple[int, int], rng: Generator) -> Codes:
    if (likely == likely[0]).all():
        return rng.integers(len(likely), size=size, dtype=np.int32)
    steps = likely.cumsum()
    drawn = np.searchsorted(steps, rng.random(size) * steps[-1], side="right")
    codes: Codes = np.minimum(drawn, len(likely) - 1).astype(np.int32)
    return codes


def _draw_by_exponential_keys(tasks: int, votes_per_task: int, popularity: Floats, rng: Generator) -> Codes:
    """The first to arrive, when workers arrive at exponential times with rates like their popularity.

    The same law as drawing again (Efraimidis and Spirakis, Information Processing Letters 97(5),
    2006), at a cost of all tasks times all workers; blocks bound the memory.
    """
    assigned = np.empty((tasks, votes_per_task), np.int32)
    step = max(1, MAX_CELLS_AT_ONCE // len(popularity))
    for start in range(0, tasks, step):
        rows = assigned[start : start + step]
        arrival = np.log(rng.standard_exponential((len(rows), len(popularity)))) - popularity
        rows[:] = np.argpartition(arrival, votes_per_task - 1, axis=1)[:, :votes_per_task]
    return assigned


def _respect_load_(worker: Codes, workers: int, max_votes_per_worker: int, rng: Generator) -> None:
    """Hand the votes that a worker has too many, chosen at random, to workers with room, in place."""
    load = np.bincount(worker, minlength=workers)
    while (load > max_votes_per_worker).any():
        votes = rng.permutation(np.flatnonzero((load > max_votes_per_worker)[worker]))
        votes = votes[np.argsort(worker[votes], kind="stable")]
        first = np.searchsorted(worker[votes], worker[votes])
        excess = votes[np.arange(len(votes)) - first >= max_votes_per_worker]
        room = np.maximum(max_votes_per_worker - load, 0.0)
        worker[excess] = _draw(room, len(excess), rng)
        load = np.bincount(worker, minlength=workers)


def _separate_duplicates_(assigned: Codes, rng: Generator) -> None:
    """Make the workers of each task distinct, in place, keeping how many votes each one gives."""
    duplicated = np.flatnonzero(_repeats_previous(np.sort(assigned, axis=1)).any(axis=1))
    while len(duplicated):
        pairs = _pair(duplicated, len(assigned), rng)
        pair_rows = assigned[pairs]  # (pairs, 2, votes_per_task)
        pool = np.sort(pair_rows.reshape(len(pairs), 2 * assigned.shape[1]), axis=1)
        assigned[pairs] = _trade(pool, rng).reshape(pair_rows.shape)
        rows = np.union1d(duplicated, pairs)
        duplicated = rows[_repeats_previous(np.sort(assigned[rows], axis=1)).any(axis=1)]


def _pair(rows: RowIndices, count: int, rng: Generator) -> RowIndices:
    """A random other row for each; pairs that meet a row already taken wait for another time."""
    pairs = np.stack([rng.permutation(rows), rng.integers(count, size=len(rows))], axis=1)
    fresh = np.zeros(pairs.size, bool)
    fresh[np.unique(pairs, return_index=True)[1]] = True
    return pairs[fresh.reshape(-1, 2).all(axis=1)]


def _trade(pool: Codes, rng: Generator) -> Codes:
    """Two assigned of sorted pair_rows as two new ones: duplicated apart, the others shuffled.

    These are the trades of Strona et al., Nature Communications 5:4114, 2014.
    """
    follows = _repeats_previous(pool)
    duplicate = follows | np.roll(follows, -1, axis=1)  # the first column never follows
    side = np.arange(pool.shape[1]) % 2 * 3 - 1.0  # -1 sorts to the first hand, 2 to the second
    key = np.where(duplicate, side, rng.random(pool.shape))
    return np.take_along_axis(pool, key.argsort(axis=1), axis=1)


def _repeats_previous(pool: Codes) -> NDArray[np.bool_]:
    """Where a sorted row repeats the value before."""
    duplicate = np.zeros(pool.shape, bool)
    duplicate[:, 1:] = pool[:, 1:] == pool[:, :-1]
    return duplicate
