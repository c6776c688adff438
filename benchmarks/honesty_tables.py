"""The report of honesty: means over sets, over groups and without weak truth, and every set of `auto`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmarks.honesty_crowds import GOLD_LABELS, GOLD_SEEDS, VOTES_A_TASK, Crowd
from benchmarks.honesty_measures import Measures
from benchmarks.sets import WEAK, group_of
from benchmarks.tables import NONE, markdown

Found = dict[str, dict[str, Measures]]  # by method and set
WEIGHINGS = ("all sets", "each group as one", "without weak truth", "groups without weak truth")
COLUMNS = {
    "ece": "ECE", "debiased": "debiased", "log_loss": "log-loss", "brier": "Brier", "accuracy": "accuracy",
    "confidence": "confidence", "gap": "gap", "worst": "worst ECE",
}  # fmt: skip
LOWER_IS_BETTER = {"ece", "debiased", "log_loss", "brier", "gap", "worst"}
Means = dict[str, float | None]


def means(found: Found, weighing: str) -> dict[str, Means]:
    """The means of each method; a method that lacks a set has none."""
    names = sorted({name for row in found.values() for name in row})
    if "weak" in weighing:
        names = [name for name in names if name not in WEAK]
    groups = [group_of(name) for name in names]
    weights = [1 / groups.count(g) if "group" in weighing else 1.0 for g in groups]
    return {
        method: _means([row[n] for n in names], weights)
        for method, row in found.items()
        if names and all(n in row for n in names)
    }


def _means(rows: Sequence[Measures], weights: Sequence[float]) -> Means:
    def mean(values: Sequence[float | None]) -> float | None:
        there = [v for v in values if v is not None]
        return fmean(there, weights) if len(there) == len(values) else None

    plain = ("ece", "debiased", "log_loss", "brier", "accuracy", "balanced", "confidence", "covers", "width")
    result = {name: mean([getattr(row, name) for row in rows]) for name in plain}
    result["gap"] = mean([abs(row.gap) for row in rows])
    result["worst"] = max(row.ece for row in rows)
    return result | {"sets": float(len(rows))}


def means_table(mean: dict[str, Means]) -> str:
    """A row for each method, the lowest log-loss first; the best of a column is bold."""
    best = {
        c: (min if c in LOWER_IS_BETTER else max)((_shown(m[c]) for m in mean.values()), default="")
        for c in COLUMNS
    }
    rows = [
        [
            method,
            *(
                f"**{s}**" if s == best[c] and c != "confidence" else s
                for c in COLUMNS
                if (s := _shown(m[c]))
            ),
        ]
        for method, m in sorted(mean.items(), key=lambda item: item[1]["log_loss"] or 0)
    ]
    return markdown(["method", *COLUMNS.values()], rows)


def _shown(value: float | None, digits: int = 3) -> str:
    return NONE if value is None else f"{value:.{digits}f}"


def coverage_table(by_size: Mapping[str, dict[str, Means]]) -> str:
    """How often the intervals of the expected accuracy hold, and how wide they are."""
    rows = [
        [f"{method}, {size}", f"{m['sets']:.0f}", _shown(m["covers"], 2), _shown(m["width"])]
        for size, mean in by_size.items()
        for method, m in mean.items()
        if m["covers"] is not None
    ]
    return markdown(["", "sets", "share that hold", "mean width"], rows) if rows else "No method gives one.\n"


def sets_table(crowds: Mapping[str, Crowd], own: dict[str, Measures], shares: dict[str, Measures]) -> str:
    """Every set of `auto`, the highest ECE first, beside the shares of votes."""
    rows = []
    for name in sorted(own, key=lambda n: -own[n].ece):
        m, votes, other = own[name], crowds[name].votes, shares.get(name)
        interval = NONE if m.low is None else f"{m.low:.2f} to {m.high:.2f}"
        rows.append(
            [
                f"{name}{' (weak)' if name in WEAK else ''}", group_of(name), str(crowds[name].measured),
                f"{len(votes) / len(votes.tasks):.1f}", str(len(votes.classes)), _shown(m.accuracy),
                _shown(m.balanced), _shown(m.confidence), interval, _shown(m.ece), _shown(m.debiased),
                _shown(m.log_loss), *(map(_shown, (other.accuracy, other.ece)) if other else (NONE, NONE)),
            ]
        )  # fmt: skip
    header = [
        "set", "group", "tasks measured", "votes a task", "classes", "accuracy", "balanced", "confidence",
        "interval", "ECE", "debiased", "log-loss", "accuracy of shares", "ECE of shares",
    ]  # fmt: skip
    return markdown(header, rows)


def size_name(votes_a_task: int | None) -> str:
    """How many votes of each task were given, in words."""
    if votes_a_task is None:
        return "all votes"
    return "1 vote a task" if votes_a_task == 1 else f"{votes_a_task} votes a task"


def gold_name(gold: int) -> str:
    """How many gold labels were given, in words."""
    return f"{gold} gold labels"


def render(record: dict[str, Any], crowds: Mapping[str, Crowd], full: Found) -> str:
    """The whole report."""
    by_size: dict[str, dict[str, dict[str, Means]]] = record["means"]
    text = TEXT.format(machine=record["machine"], seeds=GOLD_SEEDS)
    for weighing, mean in by_size.get(size_name(None), {}).items():
        if mean:
            text += f"\n## All votes: {weighing}\n\n{_count(mean)}\n\n{means_table(mean)}"
    for size in (size_name(n) for n in VOTES_A_TASK[1:]):
        if mean := by_size.get(size, {}).get(WEIGHINGS[0]):
            text += f"\n## {size[0].upper()}{size[1:]}\n\n{_count(mean)}\n\n{means_table(mean)}"
    for gold in map(gold_name, GOLD_LABELS):
        if mean := by_size.get(gold, {}).get(WEIGHINGS[0]):
            text += f"\n## {gold}\n\n{_count(mean)}\n\n{means_table(mean)}"
    coverage = {size: weighed[WEIGHINGS[0]] for size, weighed in by_size.items()}
    text += f"\n## Intervals of the expected accuracy\n\n{coverage_table(coverage)}"
    if "auto" in full:
        shares = full.get("naive_soft", {})
        text += f"\n## Every set by auto, all votes\n\n{sets_table(crowds, full['auto'], shares)}"
    return text + f"\n## Missing\n\n{_missing(record)}\n"


def _count(mean: dict[str, Means]) -> str:
    return f"Means over {next(iter(mean.values()))['sets']:.0f} sets."


def _missing(record: dict[str, Any]) -> str:
    return "\n".join(f"- {case}: {reason}" for case, reason in record["missing"].items()) or "None."


TEXT = """# Honesty on real crowds

Written by `python -m benchmarks.honesty --data DIR`. Measured on {machine}.

How close the confidence of labels is to their accuracy, on sets with votes and truth. Nothing is chosen by a
set that it is then measured on: what `auto` learns from other crowds it learns from the sets of other groups
(sets that share workers, items or kind are one group). Where a worker votes on a task again, the last vote
counts, for every method. Where the title says so, a task has at most so many votes, drawn at random; one with
fewer keeps all. Gold labels are drawn at random, {seeds} times, and left out of the measure; a set needs one
and a half times as many tasks of a known class.

ECE: 15 bins of equal width of the confidence of the label. Debiased: root mean squared calibration error in
bins of equally many tasks, without what chance adds. Log-loss: a probability is at least 1e-6, for everybody.
Gap: mean of |mean confidence - accuracy| of a set. A tie between classes is broken by a seeded hash, for
everybody. A method is listed if it has a result on every set. Crowd-kit's `KOS` and `MMSR` give no
probabilities. `auto before` is `auto` as it was when it knew no other crowd. Truth is weak where it is one
person's word, automatic, or an outcome nobody can know.
"""
