"""Batch: which votes to ask for together, by value, diversity and random exploration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid.campaign.workers import Cell
from crowdpilot.hybrid.plan import Plan

CANDIDATES_PER_VOTE = 4  # candidates for each vote of a batch, when they are compared with each other
TIE_TOLERANCE = 1e-9  # relative difference of values below which the hash of the item decides
MAX_VALUE = 1e300
MIN_NORM = 1e-12


def best_cells(values: Floats, tie_break: Floats, n: int, without: Iterable[Cell] = ()) -> list[Cell]:
    """The `n` cells with the largest value above zero, largest first; ties are broken by a seeded hash.

    Parameters
    ----------
    values
        Acquisition values, (items, questions).
    tie_break
        Hash of each item in [0, 1).
    n
        How many at most.
    without
        Cells that may not be chosen.
    """
    Q = values.shape[1]
    score = (np.minimum(values, MAX_VALUE) * (1 + TIE_TOLERANCE * tie_break)[:, None]).ravel()
    score[[row * Q + question for question, row in without]] = 0
    flat = np.flatnonzero(score > 0)
    score = score[flat]
    if len(flat) > n:
        best = np.argpartition(-score, n - 1)[:n]
        flat, score = flat[best], score[best]
    return [(cell % Q, cell // Q) for cell in flat[np.lexsort((flat, -score))].tolist()]


def diverse(values: Floats, features: Any, n: int) -> list[int]:
    """Greedy choice of `n` candidates by value x (1 - largest cosine similarity to those chosen before).

    Two items with the same features teach a classifier the same.

    Parameters
    ----------
    values
        Of each candidate, above zero, largest first.
    features
        A row for each.
    n
        How many to choose.
    """
    squares = features.multiply(features) if hasattr(features, "multiply") else np.asarray(features) ** 2
    norm = np.sqrt(np.asarray(squares.sum(axis=1), np.float64)).ravel()
    scale = 1 / np.maximum(norm, MIN_NORM)
    chosen: list[int] = []
    values = np.minimum(values, MAX_VALUE).astype(np.float64)
    similarity = np.zeros(len(values))
    for _ in range(min(n, len(values))):
        score = values * (1 - similarity)
        score[chosen] = -1
        best = int(score.argmax())
        chosen.append(best)
        products = features @ features[[best]].T
        products = np.asarray(products.todense() if hasattr(products, "todense") else products).ravel()
        similarity = np.maximum(similarity, np.clip(products * scale * scale[best], 0, 1))
    return chosen


def mix_gold(
    chosen: list[Cell], asked: Iterable[Cell], gold: Codes, share: float, rng: np.random.Generator
) -> list[Cell]:
    """The same cells, a share of them replaced, at random places, by items whose class is known.

    Each class is drawn as often as any other, so that who always gives the same label is often wrong.

    Parameters
    ----------
    chosen
        Cells by value.
    asked
        Cells that may not be asked about.
    gold
        The known class of items that workers may be tested by, -1 elsewhere; (items, questions).
    share
        Probability that a cell is replaced.
    rng
        Draws them.
    """
    cells, taken = list(chosen), {*asked, *chosen}
    for n, (q, _) in enumerate(chosen):
        if rng.random() >= share:
            continue
        known = np.flatnonzero(gold[:, q] >= 0)
        free = known[[(q, row) not in taken for row in known.tolist()]]
        if len(free):
            codes = gold[free, q]
            cells[n] = q, int(rng.choice(free[codes == rng.choice(np.unique(codes))]))
            taken.add(cells[n])
    return cells


def explore(
    chosen: list[Cell],
    asked: Iterable[Cell],
    free: NDArray[np.bool_],
    known: NDArray[np.bool_],
    plan: Plan,
    rng: np.random.Generator,
) -> list[Cell]:
    """The same cells, some replaced by random ones and by items whose class is known, as the plan says.

    Parameters
    ----------
    chosen
        Cells by value.
    asked
        Cells that may not be asked about.
    free, known
        Where a vote may be asked for, and where the class is known, to test workers; (items, questions).
    plan
        Has the shares of both.
    rng
        Draws them.
    """
    if plan.explore + plan.gold == 0:
        return chosen
    cells = list(chosen)
    for n, (q, _) in enumerate(chosen):
        draw = rng.random()
        if draw >= plan.explore + plan.gold:
            continue
        candidates = (known if draw < plan.gold else free)[:, q].copy()
        candidates[[row for question, row in {*asked, *chosen, *cells} if question == q]] = False
        if candidates.any():
            cells[n] = q, int(rng.choice(np.flatnonzero(candidates)))
    return cells
