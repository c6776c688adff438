"""How much the workers agree, all together, with intervals over tasks.

A measure is computed from sums over tasks, in which each kind of task has a weight: how many tasks
there are of it, or how many were drawn. With several rows of weights it gives as many values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from crowdpilot.arrays import BLOCK, Floats, Names, divide
from crowdpilot.diagnosis.tallies import Tallies, beyond_chance, to_tallies
from crowdpilot.metrics.bootstrap import resample
from crowdpilot.votes import Votes

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Measure = Callable[[Tallies, Floats], Floats]  # of weights, (..., kinds): values, (...)

# Sum of the squared distances of all ordered pairs of votes: of each kind, (kinds,) or (..., kinds),
# and of all votes together, (...), when there are so many of each class, (..., classes).
Disagree = Callable[[Tallies, Floats], tuple[Floats, Floats]]


class Agreement(NamedTuple):
    """A measure of agreement and the bounds between which it may well be."""

    measure: str
    value: float
    low: float
    high: float
    tasks: int  # those with two votes or more, on which it rests


def percent_agreement(votes: Votes) -> float:
    """Share of equal pairs among the votes of a task, in the mean of the tasks with two or more.

    Examples
    --------
    >>> percent_agreement(Votes.of([1, 1, 2, 2, 2], list("xyxyz"), list("aaabb")))
    0.6666666666666666
    """
    return _measure(votes, "percent_agreement")


def fleiss_kappa(votes: Votes) -> float:
    """How much more workers agree than by chance, if chance draws from the classes as they are used.

    kappa = (p_a - p_e) / (1 - p_e) with p_e = sum_k pi_k^2. The agreement p_a is `percent_agreement`;
    pi_k is the share of class k among the votes of a task, in the mean of all tasks with a vote. So
    tasks may have any number of votes, as generalized by Gwet. NaN if only one class is used.

    References
    ----------
    Fleiss, Psychological Bulletin 76(5), 1971. Gwet, Handbook of inter-rater reliability, 2014.

    Examples
    --------
    >>> round(fleiss_kappa(Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), list("aaabbb"))), 4)
    0.3333
    """
    return _measure(votes, "fleiss_kappa")


def gwet_ac1(votes: Votes) -> float:
    """How much more workers agree than by chance, if only tasks that are hard to tell are left to it.

    AC1 = (p_a - p_e) / (1 - p_e) with p_e = sum_k pi_k (1 - pi_k) / (K - 1), where p_a and pi_k are
    those of `fleiss_kappa` and K counts the classes of the votes, used or not. Unlike kappa it does
    not fall when nearly all tasks are of one class; it is 1 if only one class is used.

    References
    ----------
    Gwet, British Journal of Mathematical and Statistical Psychology 61(1), 2008.

    Examples
    --------
    >>> round(gwet_ac1(Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), list("aaabbb"))), 4)
    0.3333
    """
    return _measure(votes, "gwet_ac1")


def krippendorff_alpha(votes: Votes, level: Level = "nominal") -> float:
    """One minus the disagreement within tasks over the disagreement of any two votes.

    alpha = 1 - D_o / D_e: the mean squared distance of two votes on one task, where each task counts
    by its votes, over that of two votes on any tasks. Tasks with a single vote do not count. NaN if
    no two votes differ in the distance, as when only one class is used.

    Parameters
    ----------
    votes
        Any number of them on each task.
    level
        The distance of two classes. "nominal": 1 if they differ. "ordinal": the number of votes
        from one to the other in the order of `votes.classes`, half of their own included.
        "interval": the difference of their names, which are numbers. "ratio": that over their sum.

    References
    ----------
    Krippendorff, Content analysis: an introduction to its methodology, 2004, chapter 11.

    Examples
    --------
    >>> votes = Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), [1, 1, 1, 2, 4, 4])
    >>> round(krippendorff_alpha(votes), 4), round(krippendorff_alpha(votes, "interval"), 4)
    (0.5455, 0.9231)
    """
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}, expected one of {', '.join(LEVELS)}")
    return _measure(votes, ALPHA if level == "nominal" else f"{ALPHA}_{level}")


def agreement(
    votes: Votes,
    *,
    measures: Iterable[str] | None = None,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> tuple[Agreement, ...]:
    """Measures of agreement, each with its bootstrap interval over tasks.

    All measures see the same draws. Tasks with a single vote are drawn apart from the others, so
    that the number of both stays. A draw for which a measure is undefined is left out.

    Parameters
    ----------
    votes
        Any number of them on each task; a vote of weight two counts as two votes.
    measures
        Names of `MEASURES`. If not given, those for classes without an order; those for classes
        with one too if their names are numbers, but for ratios none may be negative, and there may
        be 1000 at most, since every two of them are compared.
    level
        How often an interval should hold the value for all tasks there might be.
    samples
        How many times to draw.
    seed
        Draws the tasks.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes = one_coin(tasks=200, skill=[0.9, 0.8, 0.6], seed=0).votes
    >>> for row in agreement(votes, measures=["percent_agreement", "krippendorff_alpha"]):
    ...     print(f"{row.measure} {row.value:.2f} ({row.low:.2f} to {row.high:.2f})")
    percent_agreement 0.64 (0.60 to 0.68)
    krippendorff_alpha 0.28 (0.18 to 0.36)
    """
    names = _fitting(votes.classes) if measures is None else list(measures)
    if unknown := [name for name in names if name not in MEASURES]:
        raise ValueError(f"there is no measure {unknown[0]!r}; there are {', '.join(MEASURES)}")
    kinds = to_tallies(votes)

    def values(weight: Any) -> Any:
        counted = weight.astype(np.float64)
        return np.stack([MEASURES[name](kinds, counted) for name in names], axis=-1)

    drawn_apart = kinds.tasks[kinds.paired], kinds.tasks[~kinds.paired]
    found = resample(values, *drawn_apart, level=level, samples=samples, seed=seed)
    tasks = [int(drawn_apart[0].sum())] * len(names)
    columns = names, *(bound.tolist() for bound in found), tasks
    return tuple(map(Agreement._make, zip(*columns, strict=True)))


def _measure(votes: Votes, name: str) -> float:
    kinds = to_tallies(votes)
    return float(MEASURES[name](kinds, kinds.tasks))


def _percent(kinds: Tallies, weight: Floats) -> Floats:
    return divide(weight @ kinds.equal, weight @ kinds.paired)


def _fleiss(kinds: Tallies, weight: Floats) -> Floats:
    return beyond_chance(_percent(kinds, weight), (_use(kinds, weight) ** 2).sum(axis=-1))


def _ac1(kinds: Tallies, weight: Floats) -> Floats:
    use = _use(kinds, weight)
    chance = (use * (1 - use)).sum(axis=-1) / max(len(kinds.classes) - 1, 1)
    return beyond_chance(_percent(kinds, weight), chance)


def _use(kinds: Tallies, weight: Floats) -> Floats:
    """Share of each class among the votes of a task, in the mean of all tasks: (..., classes)."""
    return divide(weight @ kinds.shares, weight.sum(axis=-1, keepdims=True))


def _alpha(kinds: Tallies, weight: Floats, disagree: Disagree) -> Floats:
    weight = weight * kinds.paired
    total = weight @ kinds.counts  # (..., classes)
    within, overall = disagree(kinds, total)
    observed = np.einsum("...n,...n->...", weight, within / np.maximum(kinds.voted - 1, 1))
    return 1 - divide(observed, overall / (total.sum(axis=-1) - 1))


def _nominal(kinds: Tallies, total: Floats) -> tuple[Floats, Floats]:
    n = kinds.voted
    return n * (n - 1) * (1 - kinds.equal), total.sum(axis=-1) ** 2 - (total**2).sum(axis=-1)


def _ordinal(kinds: Tallies, total: Floats) -> tuple[Floats, Floats]:
    rank = total.cumsum(axis=-1) - total / 2  # in the middle of the votes for a class
    n = np.maximum(total.sum(axis=-1, keepdims=True), 1)
    return _square(kinds, total, rank / n - 0.5)


def _interval(kinds: Tallies, total: Floats) -> tuple[Floats, Floats]:
    place, use = to_numbers(kinds.classes), kinds.tasks @ kinds.counts
    place -= place @ (use / max(use.sum(), 1))  # near zero large numbers keep their digits
    return _square(kinds, total, place / (np.abs(place).max(initial=0) or 1))


def _square(kinds: Tallies, total: Floats, place: Floats) -> tuple[Floats, Floats]:
    """By n, sum x and sum x^2: the sum over pairs of (x - y)^2 is 2 n sum x^2 - 2 (sum x)^2."""
    within = kinds.voted * (kinds.counts @ (place**2).T).T - (kinds.counts @ place.T).T ** 2
    overall = total.sum(axis=-1) * (total * place**2).sum(axis=-1) - (total * place).sum(axis=-1) ** 2
    low = np.where(total > 0, place, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(total > 0, place, -np.inf).max(axis=-1, initial=-np.inf)
    return 2 * within, np.where(low < high, 2 * overall, 0)


def _ratio(kinds: Tallies, total: Floats) -> tuple[Floats, Floats]:
    """By the distance of every two classes; the largest array is (classes, classes)."""
    place = to_numbers(kinds.classes)
    if (place < 0).any():
        raise ValueError(f"class {place.min():g} is negative, and a ratio scale begins at 0")
    distance = divide(np.subtract.outer(place, place), np.add.outer(place, place), 0) ** 2
    parts = [kinds.counts[n : n + BLOCK] for n in range(0, max(len(kinds.voted), 1), BLOCK)]
    within = np.concatenate([part.multiply(part @ distance).sum(axis=1) for part in parts])
    return within, (total @ distance * total).sum(axis=-1)


def to_numbers(classes: Names) -> Floats:
    """The numbers that the names of the classes are, also as text; an error if one is none."""
    try:
        numbers = np.asarray([float(str(name)) for name in classes.tolist()], np.float64)
    except ValueError as error:
        raise ValueError(f"a class is no number ({error}), and this measure needs numbers") from None
    if not np.isfinite(numbers).all():
        raise ValueError("a class is infinite or NaN, and this measure needs numbers")
    return numbers


def _fitting(classes: Names) -> list[str]:
    """The measures that make sense for classes of these names."""
    try:
        numbers = to_numbers(classes)
    except ValueError:
        return list(UNORDERED)
    has_ratios = len(classes) <= RATIOS and (numbers >= 0).all()
    return [name for name in MEASURES if name != f"{ALPHA}_ratio" or has_ratios]


ALPHA = "krippendorff_alpha"
RATIOS = 1000  # classes at most whose ratios are looked at without being asked for
LEVELS: dict[Level, Disagree] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}
MEASURES: dict[str, Measure] = {
    "percent_agreement": _percent,
    "fleiss_kappa": _fleiss,
    "gwet_ac1": _ac1,
    **{
        ALPHA if level == "nominal" else f"{ALPHA}_{level}": partial(_alpha, disagree=disagree)
        for level, disagree in LEVELS.items()
    },
}
UNORDERED = tuple(name for name in MEASURES if not name.startswith(f"{ALPHA}_"))  # for classes without order
