"""Comparison of strategies on votes whose truth is known, with majority voting as the baseline."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from crowdpilot.aggregation.base import Aggregator
from crowdpilot.aggregation.honest import Honest
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.registry import MODELS, check_shares, parse_strategy
from crowdpilot.arrays import Codes, Floats
from crowdpilot.data_frames import data_frame
from crowdpilot.io import as_labels, as_votes
from crowdpilot.metrics import accuracy, ece, interval, log_loss, macro_f1
from crowdpilot.metrics.bootstrap import resample
from crowdpilot.names import encode, lookup
from crowdpilot.notebook_html import panel, table
from crowdpilot.votes import Votes

if TYPE_CHECKING:
    import pandas as pd

BASELINE = MajorityVoting.name
MAX_NAMED = 4  # strategies in a sentence
CAUTION = "whoever chooses by this table should check the choice on other tasks, since it is optimistic here"

Progress = Callable[[str, int, int], None]  # a strategy, how many are done, and of how many


@dataclass(frozen=True)
class StrategyScore:
    """Measures of the labels of one strategy on the tasks whose truth is known.

    Parameters
    ----------
    strategy
        Its name with options.
    accuracy, accuracy_low, accuracy_high
        With a bootstrap interval over tasks.
    difference, difference_low, difference_high
        Of its accuracy and that of majority voting on the same tasks: a paired bootstrap.
    than_majority
        `baseline`, `better`, `worse`, or `same` if the difference may be chance: an exact sign test on
        the tasks that one of both has right, by Holm's correction for the number of strategies.
    macro_f1, log_loss, ece
        The latter two of its probabilities.
    seconds
        Of the fit.
    """

    strategy: str
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    difference: float
    difference_low: float
    difference_high: float
    than_majority: str
    macro_f1: float
    log_loss: float
    ece: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` finds: a row for each strategy, the most accurate first.

    Parameters
    ----------
    rows
        Of the strategies that could be fitted.
    skipped
        Why the others could not, by strategy.
    tasks
        How many tasks count: those with votes and a known truth.
    level
        Confidence level of the intervals and of the test.
    """

    rows: tuple[StrategyScore, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    tasks: int = 0
    level: float = 0.95

    def columns(self) -> dict[str, list[Any]]:
        """The rows by column."""
        return {
            name: [getattr(row, name) for row in self.rows] for name in StrategyScore.__dataclass_fields__
        }

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas data frame."""
        frame: pd.DataFrame = data_frame(self.columns(), "pandas", "to_pandas()")
        return frame

    @property
    def summary(self) -> str:
        """Which strategies are reliably better than majority voting, in a sentence or two."""
        better = [row.strategy for row in self.rows if row.than_majority == "better"]
        where = f"than {BASELINE} on {self.tasks} tasks"
        if not better:
            return f"no strategy is reliably better {where}: all gains are within chance"
        named = ", ".join(better[:MAX_NAMED]) + (" …" if len(better) > MAX_NAMED else "")
        verb = "is" if len(better) == 1 else f"({len(better)} strategies) are"
        return f"{named} {verb} reliably better {where}; {CAUTION}"

    def _repr_html_(self) -> str:
        names = ("strategy", "accuracy", "accuracy_low", "accuracy_high", "difference", "than_majority")
        columns = {name.replace("_", " "): self.columns()[name] for name in names}
        return panel("Comparison", self.summary, table(columns))

    def __repr__(self) -> str:
        width = max((len(row.strategy) for row in self.rows), default=0)
        lines = [
            f"{row.strategy:<{width}}  {row.accuracy:.3f} ({row.accuracy_low:.3f} to {row.accuracy_high:.3f})"
            f"  {row.difference:+.3f} ({row.difference_low:+.3f} to {row.difference_high:+.3f})"
            f"  {row.than_majority}"
            for row in self.rows
        ]
        skipped = [f"{name}: {reason}" for name, reason in self.skipped.items()]
        return "\n".join([f"Comparison of {len(self.rows)} strategies: {self.summary}", *lines, *skipped])


def compare(
    votes: Any,
    truth: Any = None,
    strategies: Iterable[str | Aggregator] | None = None,
    *,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Every strategy on votes whose truth is known, beside majority voting; none of them sees the truth.

    Parameters
    ----------
    votes
        Votes, or anything that `crowdpilot.read` takes.
    truth
        The true label of tasks: a mapping, a Series, a table or a file; the gold labels of the votes if not
        given.
    strategies
        Names or models; all strategies if not given. One that cannot be fitted to these votes is listed
        with the reason.
    level, samples, seed
        Confidence level of the intervals, and number and seed of the bootstrap samples.
    progress
        Called with the name of a strategy before it is fitted, how many are done, and how many there are.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=300, skill=[0.9, 0.9, 0.5, 0.5, 0.5], seed=0)
    >>> found = compare(votes, dict(enumerate(truth)), ["dawid_skene", "wawa", "kos[max_iter=5]"])
    >>> [row.strategy for row in found.rows if row.than_majority == "better"]
    ['kos[max_iter=5]', 'dawid_skene']
    """
    data = as_votes(votes)
    known = _known_truth(data, truth)
    data = replace(data, gold=None)
    fitted: dict[str, _Fitted] = {}
    skipped: dict[str, str] = {}
    models = _models(strategies)
    for n, (name, model) in enumerate(models.items()):
        if progress is not None:
            progress(name, n, len(models))
        try:
            fitted[name] = _fit(model, data, known)
        except (ValueError, MemoryError) as error:
            skipped[name] = str(error).partition("\n")[0] or "it needs too much memory"
    baseline = fitted[BASELINE]
    than_majority = _test(fitted, known.codes, 1 - level)
    settings = {"level": level, "samples": samples, "seed": seed}
    rows = [
        _score(name, one, baseline, known.codes, than_majority[name], settings)
        for name, one in fitted.items()
    ]
    rows.sort(key=lambda row: (-row.accuracy, row.log_loss))
    return Comparison(tuple(rows), skipped, len(known.codes), level)


class _Truth(NamedTuple):
    """The tasks that count."""

    tasks: NDArray[np.intp]  # their positions among those of the votes
    codes: Codes  # of their classes; those that nobody voted for come last
    classes: int


class _Fitted(NamedTuple):
    """What a strategy says of the tasks that count."""

    labels: Codes  # (tasks,)
    probs: Floats  # (tasks, classes)
    seconds: float


def _known_truth(votes: Votes, truth: Any) -> _Truth:
    has_votes = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
    if truth is None:
        gold = np.full(len(votes.tasks), -1, np.int32) if votes.gold is None else votes.gold
        tasks = np.flatnonzero((gold >= 0) & has_votes)
        if not len(tasks):
            raise ValueError("no true label is known to compare with: give truth= (--truth FILE)")
        return _Truth(tasks, gold[tasks], len(votes.classes))
    labels = as_labels(truth)
    position = lookup(list(labels), votes.tasks)
    counts = (position >= 0) & np.append(has_votes, False)[position]
    if not counts.any():
        names = f"{str(next(iter(labels), 'nothing'))!r} there and {str(votes.tasks[0])!r} here"
        raise ValueError(
            f"the truth names none of the {len(votes.tasks)} tasks; they are called {names}: rename them"
        )
    true = [str(label) for label, listed in zip(labels.values(), counts, strict=True) if listed]
    codes, classes = encode([*map(str, votes.classes.tolist()), *true])
    return _Truth(position[counts].astype(np.intp), codes[len(votes.classes) :], len(classes))


def _models(strategies: Iterable[str | Aggregator] | None) -> dict[str, Aggregator]:
    """The models by their names, the baseline first."""
    if strategies is None:
        chosen = [model() for model in MODELS.values() if model is not Honest]
    else:
        chosen = [parse_strategy(one) if isinstance(one, str) else one for one in strategies]
    return {str(model): model for model in (MajorityVoting(), *chosen)}


def _fit(model: Aggregator, votes: Votes, known: _Truth) -> _Fitted:
    check_shares(model, votes)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a fit that has not converged is compared as it is
        result = model.fit(votes)
    seconds = time.perf_counter() - start
    probs = result.rows(known.tasks)
    unseen = np.zeros((len(probs), known.classes - probs.shape[1]))
    return _Fitted(result.codes[known.tasks], np.hstack([probs, unseen]), seconds)


def _score(
    name: str, one: _Fitted, baseline: _Fitted, truth: Codes, than_majority: str, settings: Mapping[str, Any]
) -> StrategyScore:
    gain = (one.labels == truth).astype(np.int8) - (baseline.labels == truth)
    values, counts = np.unique(gain, return_counts=True)
    difference = resample(
        lambda count: count @ values / count.sum(axis=-1), counts.astype(np.float64), **settings
    )
    return StrategyScore(
        name, *interval(accuracy, truth, one.labels, **settings), *difference, than_majority,
        macro_f1(truth, one.labels), log_loss(truth, one.probs), ece(truth, one.probs), one.seconds,
    )  # fmt: skip


def _test(fitted: Mapping[str, _Fitted], truth: Codes, error: float) -> dict[str, str]:
    """The verdict on each strategy: exact sign tests against the baseline, by Holm's correction."""
    right = {name: one.labels == truth for name, one in fitted.items()}
    wins = {name: int((of_one & ~right[BASELINE]).sum()) for name, of_one in right.items()}
    losses = {name: int((~of_one & right[BASELINE]).sum()) for name, of_one in right.items()}
    others = [name for name in fitted if name != BASELINE]
    chance = {name: _sign_test(wins[name], losses[name]) for name in others}
    verdicts = dict.fromkeys(fitted, "same") | {BASELINE: "baseline"}
    for n, name in enumerate(sorted(others, key=lambda name: chance[name])):
        if chance[name] * (len(others) - n) > error:
            break  # and so for all that follow
        verdicts[name] = "better" if wins[name] > losses[name] else "worse"
    return verdicts


def _sign_test(wins: int, losses: int) -> float:
    """Probability of so different counts or more by chance, two-sided."""
    return min(1.0, 2 * float(bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0
