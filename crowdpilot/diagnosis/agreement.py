"""Measures of agreement: percent agreement, Fleiss' kappa, Gwet's AC1, Krippendorff's alpha, with intervals.

A measure is computed from sums over tasks, in which each vote pattern has a weight: how many tasks
have it, or how many of them a bootstrap sample has. Several rows of weights give as many values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from crowdpilot.arrays import ROWS_PER_BLOCK, Floats, Names, divide
from crowdpilot.diagnosis.vote_patterns import VotePatterns, chance_corrected, count_patterns
from crowdpilot.io import as_votes
from crowdpilot.metrics.bootstrap import resample
from crowdpilot.notebook_html import facts, panel

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
Measure = Callable[[VotePatterns, Floats], Floats]  # of weights, (..., patterns): values, (...)

# Sum of the squared distances of all ordered pairs of votes: of each pattern, (patterns,) or
# (..., patterns), and of all votes together, (...), given the votes for each class, (..., classes).
Disagreement = Callable[[VotePatterns, Floats], tuple[Floats, Floats]]


class Agreement(NamedTuple):
    """A measure of agreement with its bootstrap interval."""

    measure: str
    value: float
    low: float
    high: float
    tasks: int  # those with two votes or more

    def _repr_html_(self) -> str:
        return panel("Agreement", "", facts(self._asdict()))


def percent_agreement(votes: Any) -> float:
    """Percent agreement: share of equal pairs of votes on a task, averaged over tasks with two or more.

    Examples
    --------
    >>> from crowdpilot.votes import Votes
    >>> percent_agreement(Votes.of([1, 1, 2, 2, 2], list("xyxyz"), list("aaabb")))
    0.6666666666666666
    """
    return _measure(votes, "percent_agreement")


def fleiss_kappa(votes: Any) -> float:
    """Fleiss' kappa: agreement beyond chance, where chance draws classes as often as they are used.

    kappa = (p_a - p_e) / (1 - p_e) with p_e = sum_k pi_k^2. The agreement p_a is `percent_agreement`;
    pi_k is the share of class k among the votes of a task, averaged over all tasks with a vote. Tasks
    may have any number of votes, as generalized by Gwet. NaN if only one class is used.

    References
    ----------
    Fleiss, Psychological Bulletin 76(5), 1971. Gwet, Handbook of inter-rater reliability, 2014.

    Examples
    --------
    >>> from crowdpilot.votes import Votes
    >>> round(fleiss_kappa(Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), list("aaabbb"))), 4)
    0.3333
    """
    return _measure(votes, "fleiss_kappa")


def gwet_ac1(votes: Any) -> float:
    """Gwet's AC1: agreement beyond chance, where only tasks that are hard to tell are left to chance.

    AC1 = (p_a - p_e) / (1 - p_e) with p_e = sum_k pi_k (1 - pi_k) / (K - 1), where p_a and pi_k are
    those of `fleiss_kappa` and K counts the classes of the votes, used or not. Unlike kappa it does
    not fall when nearly all tasks are of one class; it is 1 if only one class is used.

    References
    ----------
    Gwet, British Journal of Mathematical and Statistical Psychology 61(1), 2008.

    Examples
    --------
    >>> from crowdpilot.votes import Votes
    >>> round(gwet_ac1(Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), list("aaabbb"))), 4)
    0.3333
    """
    return _measure(votes, "gwet_ac1")


def krippendorff_alpha(votes: Any, scale: Scale = "nominal") -> float:
    """Krippendorff's alpha: one minus the disagreement within tasks over that of any two votes.

    alpha = 1 - D_o / D_e: the mean squared distance of two votes on one task, where each task counts
    by its votes, over that of two votes on any tasks. Tasks with a single vote do not count. NaN if
    no two votes differ in the distance, as when only one class is used.

    Parameters
    ----------
    votes
        Votes of any kind, and any number of them on each task.
    scale
        Decides on the distance of two classes. "nominal": 1 if they differ. "ordinal": the number of
        votes from one to the other in the order of `votes.classes`, half of their own included.
        "interval": the difference of their names, which are numbers. "ratio": that over their sum.

    References
    ----------
    Krippendorff, Content analysis: an introduction to its methodology, 2004, chapter 11.

    Examples
    --------
    >>> from crowdpilot.votes import Votes
    >>> votes = Votes.of([1, 1, 2, 2, 3, 3], list("xyxyxy"), [1, 1, 1, 2, 4, 4])
    >>> round(krippendorff_alpha(votes), 4), round(krippendorff_alpha(votes, "interval"), 4)
    (0.5455, 0.9231)
    """
    if scale not in SCALES:
        raise ValueError(f"scale is {scale!r}, expected one of {', '.join(SCALES)}")
    return _measure(votes, ALPHA if scale == "nominal" else f"{ALPHA}_{scale}")


def measure_agreement(
    votes: Any,
    *,
    measures: Iterable[str] | None = None,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> tuple[Agreement, ...]:
    """Measures of agreement, each with its bootstrap interval over tasks.

    All measures use the same bootstrap samples. They are stratified: tasks with a single vote and
    all others keep their numbers. A sample for which a measure is undefined is left out.

    Parameters
    ----------
    votes
        Votes of any kind, as for `crowdpilot.read`, and any number of them on each task; a vote of weight two
        counts as two votes.
    measures
        Names of `MEASURES`. If not given, those for the nominal scale; also those for the other
        scales if the names of the classes are numbers, and for the ratio scale only if none is
        negative and there are at most 1000, since all pairs of classes are compared.
    level
        Confidence level of the intervals.
    samples
        Number of bootstrap samples.
    seed
        Of the bootstrap.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes = one_coin(tasks=200, skill=[0.9, 0.8, 0.6], seed=0).votes
    >>> for row in measure_agreement(votes, measures=["percent_agreement", "krippendorff_alpha"]):
    ...     print(f"{row.measure} {row.value:.2f} ({row.low:.2f} to {row.high:.2f})")
    percent_agreement 0.64 (0.60 to 0.68)
    krippendorff_alpha 0.28 (0.18 to 0.36)
    """
    votes = as_votes(votes)
    names = _applicable(votes.classes) if measures is None else list(measures)
    if unknown := [name for name in names if name not in MEASURES]:
        raise ValueError(f"there is no measure {unknown[0]!r}; there are {', '.join(MEASURES)}")
    patterns = count_patterns(votes)

    def measure_all(weight: Any) -> Any:
        task_counts = weight.astype(np.float64)
        return np.stack([MEASURES[name](patterns, task_counts) for name in names], axis=-1)

    strata = patterns.tasks[patterns.paired], patterns.tasks[~patterns.paired]
    intervals = resample(measure_all, *strata, level=level, samples=samples, seed=seed)
    tasks = [int(strata[0].sum())] * len(names)
    columns = names, *(bound.tolist() for bound in intervals), tasks
    return tuple(map(Agreement._make, zip(*columns, strict=True)))


def _measure(votes: Any, name: str) -> float:
    patterns = count_patterns(as_votes(votes))
    return float(MEASURES[name](patterns, patterns.tasks))


def _percent(patterns: VotePatterns, weight: Floats) -> Floats:
    return divide(weight @ patterns.equal, weight @ patterns.paired)


def _fleiss(patterns: VotePatterns, weight: Floats) -> Floats:
    return chance_corrected(_percent(patterns, weight), (_class_shares(patterns, weight) ** 2).sum(axis=-1))


def _ac1(patterns: VotePatterns, weight: Floats) -> Floats:
    shares = _class_shares(patterns, weight)
    chance = (shares * (1 - shares)).sum(axis=-1) / max(len(patterns.classes) - 1, 1)
    return chance_corrected(_percent(patterns, weight), chance)


def _class_shares(patterns: VotePatterns, weight: Floats) -> Floats:
    """Share of each class among the votes of a task, averaged over all tasks, (..., classes)."""
    return divide(weight @ patterns.shares, weight.sum(axis=-1, keepdims=True))


def _alpha(patterns: VotePatterns, weight: Floats, disagreement: Disagreement) -> Floats:
    weight = weight * patterns.paired
    total = weight @ patterns.counts  # (..., classes)
    within, overall = disagreement(patterns, total)
    observed = np.einsum("...n,...n->...", weight, within / np.maximum(patterns.voted - 1, 1))
    return 1 - divide(observed, overall / (total.sum(axis=-1) - 1))


def _nominal(patterns: VotePatterns, total: Floats) -> tuple[Floats, Floats]:
    n = patterns.voted
    return n * (n - 1) * (1 - patterns.equal), total.sum(axis=-1) ** 2 - (total**2).sum(axis=-1)


def _ordinal(patterns: VotePatterns, total: Floats) -> tuple[Floats, Floats]:
    rank = total.cumsum(axis=-1) - total / 2  # in the middle of the votes for a class
    n = np.maximum(total.sum(axis=-1, keepdims=True), 1)
    return _squared_differences(patterns, total, rank / n - 0.5)


def _interval(patterns: VotePatterns, total: Floats) -> tuple[Floats, Floats]:
    values, votes = to_numbers(patterns.classes), patterns.tasks @ patterns.counts
    values -= values @ (votes / max(votes.sum(), 1))  # centred, so that large numbers keep their digits
    return _squared_differences(patterns, total, values / (np.abs(values).max(initial=0) or 1))


def _squared_differences(patterns: VotePatterns, total: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Sums over pairs of (x - y)^2 = 2 n sum x^2 - 2 (sum x)^2, for the value x of each class."""
    within = patterns.voted * (patterns.counts @ (values**2).T).T - (patterns.counts @ values.T).T ** 2
    overall = total.sum(axis=-1) * (total * values**2).sum(axis=-1) - (total * values).sum(axis=-1) ** 2
    low = np.where(total > 0, values, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(total > 0, values, -np.inf).max(axis=-1, initial=-np.inf)
    return 2 * within, np.where(low < high, 2 * overall, 0)


def _ratio(patterns: VotePatterns, total: Floats) -> tuple[Floats, Floats]:
    """Sums over pairs of ((x - y) / (x + y))^2; the largest array is (classes, classes)."""
    values = to_numbers(patterns.classes)
    if (values < 0).any():
        raise ValueError(f"class {values.min():g} is negative, and a ratio scale begins at 0")
    distance = divide(np.subtract.outer(values, values), np.add.outer(values, values), 0) ** 2
    parts = [
        patterns.counts[n : n + ROWS_PER_BLOCK] for n in range(0, max(len(patterns.voted), 1), ROWS_PER_BLOCK)
    ]
    within = np.concatenate([part.multiply(part @ distance).sum(axis=1) for part in parts])
    return within, (total @ distance * total).sum(axis=-1)


def to_numbers(classes: Names) -> Floats:
    """The names of the classes as numbers, (classes,); an error if one is not a number."""
    try:
        numbers = np.asarray([float(str(name)) for name in classes.tolist()], np.float64)
    except ValueError as error:
        raise ValueError(f"a class is not a number ({error}), and this measure needs numbers") from None
    if not np.isfinite(numbers).all():
        raise ValueError("a class is infinite or NaN, and this measure needs numbers")
    return numbers


def _applicable(classes: Names) -> list[str]:
    """The measures that apply to classes of these names."""
    try:
        numbers = to_numbers(classes)
    except ValueError:
        return list(NOMINAL_MEASURES)
    has_ratios = len(classes) <= MAX_CLASSES_FOR_RATIOS and (numbers >= 0).all()
    return [name for name in MEASURES if name != f"{ALPHA}_ratio" or has_ratios]


ALPHA = "krippendorff_alpha"
MAX_CLASSES_FOR_RATIOS = 1000  # for which the ratio scale is measured without being asked for
SCALES: dict[Scale, Disagreement] = {
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
        ALPHA if scale == "nominal" else f"{ALPHA}_{scale}": partial(_alpha, disagreement=disagreement)
        for scale, disagreement in SCALES.items()
    },
}
NOMINAL_MEASURES = tuple(name for name in MEASURES if not name.startswith(f"{ALPHA}_"))
