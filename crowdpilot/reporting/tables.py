"""The tables of workers and tasks as JSON, which the script of the report sorts, searches and pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from markupsafe import Markup

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.diagnosis.false_discovery_rate import Flags
from crowdpilot.reporting.truth import KnownTasks

Kind = Literal["text", "flags", "whole", "more", "share", "points", "number", "yes", "interval"]
SIGNIFICANT_DIGITS = 5
MIN_MAGNITUDE = 1e-100  # below this a number is shown as zero
MAX_TABLE_ROWS = 50_000  # more would be too slow in a browser
MAX_EXACT_INTEGER = 2**53  # in JavaScript


class Column(NamedTuple):
    """The title, the description and the format of a column; `main` columns are shown at first."""

    title: str
    about: str
    kind: Kind
    main: bool = True


WORKER_COLUMNS = {
    "worker": Column("worker", "Name of the worker", "text"),
    "flags": Column("flags", "Why the worker is suspicious", "flags"),
    "votes": Column("votes", "Number of votes", "whole"),
    "skill": Column("skill", "Estimated probability of a right vote, with its interval", "interval"),
    "own_skill": Column("by strategy", "Skill by the strategy that gave the labels", "share", False),
    "skill_low": Column("skill, low", "Lower bound of the skill", "share", False),
    "skill_high": Column("skill, high", "Upper bound of the skill", "share", False),
    "spam_probability": Column("spammer", "Probability that the worker is a spammer", "share"),
    "spam_score": Column("spam score", "Raykar and Yu: 0 is a spammer, 1 is perfect", "number"),
    "spam_distance": Column("spam dist.", "Squared distance to a matrix with equal rows", "number", False),
    "trace": Column("trace", "Mean of the diagonal of the confusion matrix", "share", False),
    "ability": Column("ability", "Ability of GLAD, in log odds", "number", False),
    "gold_accuracy": Column("on gold", "Share of right answers on gold tasks", "share"),
    "gold_votes": Column("gold votes", "Votes on gold tasks", "whole", False),
    "consensus": Column("consensus", "Agreement with the consensus of the others", "share"),
    "peers": Column("peers", "Agreement with other workers on shared tasks", "share", False),
    "trap_accuracy": Column("on traps", "Share of right answers on traps", "share"),
    "trap_votes": Column("trap votes", "Votes on traps", "whole", False),
    "median_seconds": Column("seconds", "Median seconds per vote", "number"),
    "seconds_low": Column("seconds, low", "A tenth of the votes is faster", "number", False),
    "seconds_high": Column("seconds, high", "A tenth of the votes is slower", "number", False),
    "fast_share": Column("fast", "Share of votes that are too fast", "share", False),
    "drift": Column("drift", "Skill in the last third of the votes minus the first", "points"),
    "drift_p": Column("drift, p", "p-value of the drift", "number", False),
    "group": Column("group", "Group of workers who seem to copy from each other", "whole", False),
    "group_evidence": Column("evidence", "For the group: log10 likelihood ratio", "number", False),
    "top_label": Column("top answer", "The answer given most", "text", False),
    "top_share": Column("its share", "Share of the answer given most", "share", False),
    "excess": Column("excess", "Its share minus what the tasks explain", "share", False),
}
TASK_COLUMNS = {
    "task": Column("task", "Name of the task", "text"),
    "label": Column("label", "The most probable class", "text"),
    "confidence": Column("confidence", "Probability of the label", "share"),
    "truth": Column("truth", "The true class, where it is known", "text"),
    "votes": Column("votes", "Number of votes", "whole"),
    "majority": Column("majority", "The class with most votes", "text"),
    "vote_entropy": Column("vote entropy", "Entropy of the votes: 0 if all agree, 1 if uniform", "number"),
    "entropy": Column("entropy", "Entropy of the posterior", "number", False),
    "margin": Column("margin", "Probability of the first class minus the second", "share", False),
    "difficulty": Column("difficulty", "Difficulty of GLAD", "number", False),
    "expected_accuracy": Column("votes right", "Expected share of right votes", "share", False),
    "more_votes": Column("more votes", "Votes still needed to reach the target", "more"),
    "waum": Column(
        "WAUM", "Areas under the margin of its votes, weighted by trust: low is ambiguous", "number"
    ),
    "waum_perworker": Column("WAUM per worker", "WAUM with a classifier for each worker", "number"),
    "aum": Column("AUM", "Area under the margin of its label: low is ambiguous", "number"),
    "changed": Column("changes", "The label changes without the suspicious workers", "yes"),
    "review": Column("review", "Rank in the list for review, 1 first", "whole"),
    "why": Column("why", "Why it should be reviewed", "text"),
}


def workers_table(diagnosis: Diagnosis) -> Markup:
    """The workers, the suspicious first, then others with a flag, each by their votes, as JSON to embed."""
    worst = diagnosis.flagged_as("spammer") | diagnosis.flagged_as("colluding")
    order = np.lexsort((-diagnosis.workers["votes"], ~diagnosis.flagged, ~worst))
    return embed_table(diagnosis.workers, WORKER_COLUMNS, diagnosis.flagged, order)


def tasks_table(diagnosis: Diagnosis, known: KnownTasks | None = None) -> Markup:
    """The tasks in the order of review, as JSON to embed."""
    columns: dict[str, Any] = dict(diagnosis.tasks)
    if known is not None:
        truth = np.full(len(columns["task"]), None, object)
        truth[known.task] = known.classes[known.truth]
        columns["truth"] = truth
    return embed_table(
        columns, TASK_COLUMNS, to_review(diagnosis), np.argsort(columns["review"], kind="stable")
    )


def to_review(diagnosis: Diagnosis) -> Flags:
    """The tasks that should be reviewed, (tasks,): below the target, or decided by suspicious workers."""
    tasks, gold = diagnosis.tasks, diagnosis.votes.gold
    review: Flags = (tasks["confidence"] < diagnosis.rules.target) | diagnosis.changed
    return review if gold is None else review & (gold < 0)


def embed_table(values: Mapping[str, Any], known: Mapping[str, Column], marked: Any, order: Any) -> Markup:
    """Known columns in their order, then the others, with the rows that a checkbox selects.

    Of very many rows only the first are included.
    """
    names = [*(name for name in known if name in values), *(name for name in values if name not in known)]
    first = np.asarray(order)[:MAX_TABLE_ROWS]
    rows = np.sort(first)
    headers = {
        name: _hide_empty(known.get(name) or _unknown_column(name, values[name]), values[name])
        for name in names
    }
    return embed(
        {
            "columns": [{"name": name, **header._asdict()} for name, header in headers.items()],
            "values": [to_list(np.asarray(values[name])[rows]) for name in names],
            "marked": np.flatnonzero(np.asarray(marked)[rows]).tolist(),
            "order": np.searchsorted(rows, first).tolist(),
            "total": len(order),
            "kept": rows.tolist() if len(rows) < len(order) else None,  # their numbers in the whole table
        }
    )


def _hide_empty(header: Column, values: Any) -> Column:
    """The same column, but hidden at first if it is empty."""
    empty = header.kind in ("flags", "yes") and not np.asarray(values, bool).any()
    return header._replace(main=False) if empty else header


def _unknown_column(name: str, values: Any) -> Column:
    number = np.asarray(values).dtype.kind in "iuf"
    return Column(name.replace("_", " "), name, "number" if number else "text")


def embed(data: Any) -> Markup:
    """JSON that is safe inside a script element, whatever the texts in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # all ASCII, so no line separators
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def to_list(values: Any) -> list[Any]:
    """A column as numbers and texts for JSON; unknown values are None."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        known = _round(array).astype(object)
        known[~np.isfinite(array)] = None
        listed: list[Any] = known.tolist()
        return listed
    if array.dtype.kind in "iub":
        listed = array.tolist()
        exact = array.dtype.kind == "b" or np.abs(array.astype(np.float64)).max(initial=0) < MAX_EXACT_INTEGER
        return listed if exact else list(map(str, listed))
    return [_plain(value) for value in array.tolist()]


def _plain(value: Any) -> Any:
    simple = (
        value is None
        or isinstance(value, bool | str)
        or (isinstance(value, int) and abs(value) < MAX_EXACT_INTEGER)
    )
    return value if simple else str(value)


def _round(values: Floats) -> Floats:
    """The same numbers, rounded to `SIGNIFICANT_DIGITS`."""
    size = np.abs(values)
    normal = np.isfinite(values) & (size > MIN_MAGNITUDE) & (size < 1 / MIN_MAGNITUDE)
    scale = 10.0 ** (SIGNIFICANT_DIGITS - 1 - np.floor(np.log10(np.where(normal, size, 1))))
    rounded: Floats = np.where(normal, np.round(np.where(normal, values, 0) * scale) / scale, values)
    return np.where(size < MIN_MAGNITUDE, 0.0, rounded)
