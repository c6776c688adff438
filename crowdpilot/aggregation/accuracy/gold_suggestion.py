"""Gold suggestion: which tasks to check next, and how many, to know the accuracy of labels more exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.registry import as_result
from crowdpilot.arrays import Codes, Floats, Names, need_arrow
from crowdpilot.calibration.experience import AccuracyEstimate, CrowdMap
from crowdpilot.notebook_html import panel, table

if TYPE_CHECKING:
    import pyarrow as pa

COUNTS = (10, 20, 50, 100, 200)  # numbers of tasks that are considered
USUAL_COUNT = 100  # where none of them is enough
MIN_NARROWING = 0.5  # width of the interval afterwards, as a share of the width now, at most
MAX_CANDIDATES = 5000  # tasks to choose from; of more, a random sample
MIN_GAIN = 0.5  # of a task, as a share of the largest gain, that counts as equally good


@dataclass(frozen=True, eq=False)
class GoldSuggestion:
    """Tasks to check next, and what is gained by it.

    Parameters
    ----------
    tasks
        Names of the tasks, the most useful first.
    codes
        Their codes.
    now
        The expected share of right labels, with its interval.
    predicted
        The same once these tasks are checked, as far as it can be predicted: the interval can move by
        what the checks find, its width hardly depends on it.
    by_count
        The prediction for each of several numbers of tasks.
    how_many
        The smallest of these numbers that halves the interval; 100 if none of them does.
    """

    tasks: Names
    codes: Codes
    now: AccuracyEstimate
    predicted: AccuracyEstimate
    by_count: dict[int, AccuracyEstimate]
    how_many: int

    def __len__(self) -> int:
        return len(self.tasks)

    def __str__(self) -> str:
        number = f"{len(self)} task{'' if len(self) == 1 else 's'}"
        return f"check {number}: from {self.now} right labels to about {self.predicted}"

    def _repr_html_(self) -> str:
        counts, right = [*self.by_count], [*map(str, self.by_count.values())]
        by_count = table({"tasks to check": counts, "right labels": right})
        return panel("GoldSuggestion", str(self), by_count, table({"task": self.tasks}))

    def columns(self) -> dict[str, Names]:
        """A table to fill in: the task, and an empty column for its true label.

        The label of the crowd is left out, so that nobody is tempted to agree with it.
        """
        return {"task": self.tasks, "truth": np.full(len(self), "", dtype=object)}

    def to_table(self) -> pa.Table:
        """The same as an Arrow table."""
        return need_arrow("to_table()").table(self.columns())


class OpenTasks(NamedTuple):
    """What is known about the tasks without a gold label."""

    map: CrowdMap
    codes: Codes  # of the tasks
    features: Floats  # (tasks, features)
    known: int  # tasks with a gold label


def suggest_gold(result: Any, n: int | None = 20, *, seed: int = 0) -> GoldSuggestion:
    """Which tasks an expert should check next, so that the accuracy of all labels is known more exactly.

    P(label is right) is a logistic regression with normally distributed coefficients b ~ N(m, S) (see
    `crowdpilot.calibration.experience.CrowdMap`). The number of right labels has the variance
    g' S g + sum p (1 - p), where g is the sum of p (1 - p) x over the open tasks, x their features. A task
    that is checked adds p (1 - p) x x' to the inverse of S, and no longer counts in the sums. Tasks are
    chosen one after the other for a large fall of the variance. All that reach half of the largest fall
    count as equally good, and are taken in a random order that is spread over the confidence: always the
    largest fall would check tasks of one kind, and leave unseen where the regression is wrong.

    The choice depends on the features alone, not on the truth, and the update by gold labels conditions
    on the features: so chosen tasks do not bias it, as a choice by somebody who looks at the tasks would.
    But the share of right labels among the chosen tasks is not that of all tasks.

    Parameters
    ----------
    result
        Of any model, or votes of any kind, to which `auto` is fitted; gold labels that the votes have are
        taken into account.
    n
        Number of tasks; as many as `GoldSuggestion.how_many` says if None.
    seed
        Of the choice between equally good tasks.

    Examples
    --------
    >>> from crowdpilot.aggregation import aggregate
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=300, skill=[0.9, 0.8, 0.6, 0.6], seed=0)
    >>> suggestion = suggest_gold(aggregate(votes), 50)
    >>> now, then = suggestion.now, suggestion.predicted
    >>> len(suggestion.tasks), then.high - then.low < now.high - now.low
    (50, True)
    """
    if n is not None and n < 1:
        raise ValueError(f"n is {n}, expected a number of tasks, at least 1")
    result = as_result(result)
    tasks = open_tasks(result)
    counts = [count for count in COUNTS if count <= len(tasks.codes)]
    rng = np.random.default_rng(seed)
    order, maps = choose_tasks(tasks, max([n or 0, *counts, min(USUAL_COUNT, len(tasks.codes))]), rng)
    by_count = {count: _accuracy(tasks, order[:count], maps) for count in counts}
    now = result.expected_accuracy
    enough = [
        count for count, then in by_count.items()
        if then.high - then.low <= MIN_NARROWING * (now.high - now.low)
    ]  # fmt: skip
    how_many = min(min(enough, default=USUAL_COUNT), len(tasks.codes))
    chosen = order[: how_many if n is None else n]
    codes = tasks.codes[chosen]
    return GoldSuggestion(
        result.votes.tasks[codes], codes, now, _accuracy(tasks, chosen, maps), by_count, how_many
    )


def open_tasks(result: Aggregate) -> OpenTasks:
    """The tasks of a result that have votes and no gold label."""
    votes, crowd = result.votes, result.crowd
    known = np.zeros(len(votes.tasks), bool) if votes.gold is None else votes.gold >= 0
    voted = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
    codes = np.flatnonzero(voted & ~known).astype(np.int32)
    return OpenTasks(crowd.map, codes, crowd.features[codes], int(known.sum()))


def choose_tasks(
    tasks: OpenTasks, n: int, rng: np.random.Generator, min_gain: float = MIN_GAIN
) -> tuple[NDArray[np.intp], list[Floats]]:
    """Rows of the tasks to check in their order, and the covariance of coefficients after 0, 1 and more.

    A task whose gain is `min_gain` times the largest counts as equally good.
    """
    order = _spread_order(tasks.map.confidence(tasks.features), rng)[: max(MAX_CANDIDATES, n)]
    x = tasks.features[order]
    slope = tasks.map.slope(x)
    scale = len(tasks.codes) / max(len(order), 1)  # candidates stand for all tasks
    total: Floats = scale * slope @ x
    S, covariances = tasks.map.covariance, [tasks.map.covariance]
    chosen: list[int] = []
    left = np.ones(len(order), bool)
    for _ in range(min(n, len(order))):
        fall = np.where(left, variance_falls(S, total, x, slope), -np.inf)
        enough = fall.max() - (1 - min_gain) * abs(fall.max())
        best = int(np.argmax(fall >= enough))  # the first in the random order
        Sx = S @ x[best]
        S = S - slope[best] * np.outer(Sx, Sx) / (1 + slope[best] * (x[best] @ Sx))
        total, left[best] = total - slope[best] * x[best], False
        chosen.append(best)
        covariances.append(S)
    return order[np.asarray(chosen, np.intp)], covariances


def variance_falls(S: Floats, total: Floats, x: Floats, slope: Floats) -> Floats:
    """How much the variance of the number of right labels falls by checking each task, (tasks,).

    The task leaves the sums and, by the formula of Sherman and Morrison, S loses the part along S x.

    Parameters
    ----------
    S
        Covariance of the coefficients, (features, features).
    total
        Sum of p (1 - p) x over all open tasks, (features,).
    x, slope
        Features and p (1 - p) of the tasks, (tasks, features) and (tasks,).
    """
    rest = total - slope[:, None] * x
    Sx, S_rest = x @ S, rest @ S
    after = (rest * S_rest).sum(axis=1)
    after -= slope * (x * S_rest).sum(axis=1) ** 2 / (1 + slope * (x * Sx).sum(axis=1))
    falls: Floats = total @ S @ total - after + slope
    return falls


def _accuracy(tasks: OpenTasks, checked: NDArray[np.intp], covariances: list[Floats]) -> AccuracyEstimate:
    """The predicted share of right labels once some tasks are checked and corrected."""
    rest = np.ones(len(tasks.codes), bool)
    rest[checked] = False
    then = CrowdMap(tasks.map.mean, covariances[len(checked)], tasks.map.checked + len(checked))
    return then.accuracy(tasks.features[rest], tasks.known + len(checked))


def _spread_order(confidence: Floats, rng: np.random.Generator) -> NDArray[np.intp]:
    """A random order of tasks whose every first part is spread evenly over the confidence.

    It is the van der Corput sequence over the ranks: the bits of a rank in reverse are its position.
    """
    T = len(confidence)
    by_confidence = np.lexsort([rng.random(T), confidence])
    bits = max(T - 1, 1).bit_length()
    rank = (np.arange(T) + rng.integers(0, 2**bits)) % 2**bits
    position = np.zeros(T, np.int64)
    for bit in range(bits):
        position |= (rank >> bit & 1) << (bits - 1 - bit)
    order: NDArray[np.intp] = by_confidence[np.argsort(position)]
    return order
