"""Batch: which votes to ask for together, by value, diversity and random exploration."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid.campaign.items import Rows
from crowdpilot.hybrid.campaign.workers import Cell
from crowdpilot.hybrid.plan import Plan

CANDIDATES_PER_VOTE = 4  # candidates for each vote of a batch, when they are compared with each other
TIE_TOLERANCE = 1e-9  # relative difference of values below which the hash of the item decides
MAX_VALUE = 1e300
MAX_CANDIDATES = 4096  # among which the best cells are looked for
MIN_NORM = 1e-12


class BestCells:
    """Finds the cells with the largest values, seldom by a look at all of them.

    Some thousand cells with the largest scores are candidates, and those that have changed since they were
    collected. Any other cell has a score below all that were collected: so a choice above their lowest score
    is the choice from all cells. Otherwise they are collected anew.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Any value may have changed."""
        self._candidates = np.arange(0)  # cells by number: item x questions + question
        self._is_candidate = np.zeros(0, bool)  # of all cells
        self._bound = np.inf  # the score of every other cell is at most this, or 0 if this is 0
        self._changed: list[Rows] = []

    def update(self, rows: Rows) -> None:
        """The values of these items may have changed."""
        self._changed.append(rows)
        if sum(map(len, self._changed)) > MAX_CANDIDATES:
            self.forget()

    def find(self, values: Floats, tie_break: Floats, n: int, without: Collection[Cell] = ()) -> list[Cell]:
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
        if len(self._candidates) <= 2 * MAX_CANDIDATES and self._bound < np.inf:
            self._add_changed(values.shape[1])
            chosen, lowest = self._choose(values, tie_break, n, without)
            if lowest > self._bound or self._bound == 0:
                return chosen
        self._collect(values, tie_break, MAX_CANDIDATES + n + len(without))
        return self._choose(values, tie_break, n, without)[0]

    def _add_changed(self, questions: int) -> None:
        if self._changed:
            cells = (np.concatenate(self._changed)[:, None] * questions + np.arange(questions)).ravel()
            new = np.unique(cells[~self._is_candidate[cells]])
            self._candidates = np.concatenate([self._candidates, new])
            self._is_candidate[new] = True
            self._changed = []

    def _collect(self, values: Floats, tie_break: Floats, size: int) -> None:
        """Take the cells with the largest scores as candidates."""
        Q = values.shape[1]
        scores = _scores(values.ravel(), np.repeat(tie_break, Q) if Q > 1 else tie_break)
        cells = np.flatnonzero(scores > 0)
        self._bound, self._changed = 0.0, []
        if len(cells) > size:
            cells = cells[np.argpartition(-scores[cells], size - 1)[:size]]
            self._bound = float(scores[cells].min())
        self._candidates, self._is_candidate = cells, np.zeros(len(scores), bool)
        self._is_candidate[cells] = True

    def _choose(
        self, values: Floats, tie_break: Floats, n: int, without: Collection[Cell]
    ) -> tuple[list[Cell], float]:
        """The best candidates, and the lowest score among them; 0 if there are fewer."""
        Q = values.shape[1]
        rows, questions = self._candidates // Q, self._candidates % Q
        scores = _scores(values[rows, questions], tie_break[rows])
        size = n + len(without)
        best = np.argpartition(-scores, size - 1)[:size] if len(scores) > size else np.arange(len(scores))
        best = best[np.lexsort((self._candidates[best], -scores[best]))]
        best = best[scores[best] > 0]
        cells = list(zip(questions[best].tolist(), rows[best].tolist(), strict=True))
        chosen = [i for i, cell in enumerate(cells) if cell not in without][:n]
        return [cells[i] for i in chosen], float(scores[best[chosen[-1]]]) if len(chosen) == n else 0.0


def _scores(values: Floats, tie_break: Floats) -> Floats:
    return np.asarray(np.minimum(values, MAX_VALUE) * (1 + TIE_TOLERANCE * tie_break))


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
        cosine = np.nan_to_num(products * scale * scale[best])  # a row may have missing numbers
        similarity = np.maximum(similarity, np.clip(cosine, 0, 1))
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
