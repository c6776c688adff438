"""A batch: which of the wanted votes to ask for together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.pool import Pool
from crowdpilot.hybrid.question import Question

SPARE = 4  # candidates for each place in a batch, when they are compared with each other
NEARLY = 1e-9  # wishes this close are drawn by lot
HUGE = 1e300

Place = tuple[int, int]  # question, item


def best_places(wanted: Floats, lot: Floats, n: int) -> list[Place]:
    """The `n` places with the largest wish above zero, largest first, equals by lot.

    Parameters
    ----------
    wanted
        (questions, items).
    lot
        Of each item.
    n
        How many at most.
    """
    flat, N = wanted.ravel(), wanted.shape[1]
    rows = np.flatnonzero(flat > 0)
    score = np.minimum(flat[rows], HUGE) * (1 + NEARLY * lot[rows % max(N, 1)])
    if len(rows) > n:
        kept = np.argpartition(-score, n - 1)[:n]
        rows, score = rows[kept], score[kept]
    return [divmod(row, N) for row in rows[np.argsort(-score, kind="stable")].tolist()]


def unlike(wanted: Floats, features: Any, n: int) -> list[int]:
    """`n` places among candidates, each wanted in proportion to how little it is like those before it.

    Two items that look the same teach the machine the same thing.

    Parameters
    ----------
    wanted
        How much each candidate is wanted, above zero, largest first.
    features
        A row for each.
    n
        How many to choose.
    """
    length = np.sqrt(
        np.asarray(
            (features.multiply(features) if hasattr(features, "multiply") else features**2).sum(axis=1)
        )
    )
    scale = 1 / np.maximum(length.ravel(), 1e-12)
    chosen: list[int] = []
    left = np.minimum(wanted, HUGE).astype(np.float64)
    near = np.zeros(len(left))
    for _ in range(min(n, len(left))):
        score = left * (1 - near)
        score[chosen] = -1
        first = int(score.argmax())
        chosen.append(first)
        like = features @ features[[first]].T
        like = np.asarray(like.todense() if hasattr(like, "todense") else like).ravel()
        near = np.maximum(near, np.clip(like * scale * scale[first], 0, 1))
    return chosen


def explore(
    chosen: list[Place],
    seen: set[Place],
    questions: Sequence[Question],
    pool: Pool,
    plan: Plan,
    rng: np.random.Generator,
) -> list[Place]:
    """The same places, some replaced by random ones and by items whose class is known, as the plan says."""
    if plan.explore + plan.gold == 0:
        return chosen
    for n, (q, _) in enumerate(chosen):
        draw = rng.random()
        if draw >= plan.explore + plan.gold:
            continue
        known = questions[q].gold >= 0
        some = (known if draw < plan.gold else pool.open & ~known) & ~pool.shut[q]
        taken = [row for place, row in {*seen, *chosen} if place == q]
        some[taken] = False
        if some.any():
            chosen[n] = q, int(rng.choice(np.flatnonzero(some)))
    return chosen
