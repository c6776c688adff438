"""A batch: which of the wanted votes to ask for together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.workers import Place
from crowdpilot.hybrid.plan import Plan

SPARE = 4  # candidates for each place in a batch, when they are compared with each other
NEARLY = 1e-9  # wishes this close are drawn by lot
HUGE = 1e300


def best_places(wanted: Floats, lot: Floats, n: int, without: Iterable[Place] = ()) -> list[Place]:
    """The `n` places with the largest wish above zero, largest first, equals by lot.

    Parameters
    ----------
    wanted
        (items, questions).
    lot
        Of each item.
    n
        How many at most.
    without
        Places that may not be chosen.
    """
    Q = wanted.shape[1]
    score = (np.minimum(wanted, HUGE) * (1 + NEARLY * lot)[:, None]).ravel()
    score[[row * Q + question for question, row in without]] = 0
    places = np.flatnonzero(score > 0)
    score = score[places]
    if len(places) > n:
        kept = np.argpartition(-score, n - 1)[:n]
        places, score = places[kept], score[kept]
    return [(place % Q, place // Q) for place in places[np.lexsort((places, -score))].tolist()]


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
    squares = features.multiply(features) if hasattr(features, "multiply") else np.asarray(features) ** 2
    length = np.sqrt(np.asarray(squares.sum(axis=1), np.float64)).ravel()
    scale = 1 / np.maximum(length, 1e-12)
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
    seen: Iterable[Place],
    free: NDArray[np.bool_],
    known: NDArray[np.bool_],
    plan: Plan,
    rng: np.random.Generator,
) -> list[Place]:
    """The same places, some replaced by random ones and by items whose class is known, as the plan says.

    Parameters
    ----------
    chosen
        Places that would be asked about.
    seen
        Places that may not be asked about.
    free, known
        Where else a vote may be asked for, and where the class is known, to test workers; (items, questions).
    plan
        With the shares of both.
    rng
        Draws them.
    """
    if plan.explore + plan.gold == 0:
        return chosen
    out = list(chosen)
    for n, (q, _) in enumerate(chosen):
        draw = rng.random()
        if draw >= plan.explore + plan.gold:
            continue
        some = (known if draw < plan.gold else free)[:, q].copy()
        some[[row for question, row in {*seen, *chosen, *out} if question == q]] = False
        if some.any():
            out[n] = q, int(rng.choice(np.flatnonzero(some)))
    return out
