"""The tables of the page, as data that its script sorts, searches and pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from markupsafe import Markup

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.diagnosis.false_discoveries import Flags
from crowdpilot.reporting.truth import Known

Kind = Literal["text", "flags", "whole", "share", "points", "number", "yes", "interval"]
DIGITS = 5  # that count, of every number
NOTHING = 1e-100  # a number below this is zero to any reader
ROWS = 50_000  # of a table, at most: more would make a page that no browser likes
SAFE = 2**53  # whole numbers up to this are exact in a browser


class Column(NamedTuple):
    """How a column of the table looks and what its head says; `main` ones are shown at first."""

    title: str
    about: str
    kind: Kind
    main: bool = True


WORKERS = {
    "worker": Column("worker", "Name of the worker", "text"),
    "flags": Column("flags", "What is suspicious", "flags"),
    "votes": Column("votes", "Number of votes", "whole"),
    "skill": Column("skill", "How often the worker is right, by the model, with its interval", "interval"),
    "own_skill": Column("by strategy", "Skill by the strategy that made the labels", "share", False),
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
    "drift": Column("drift", "Skill in the last part of the time minus the first", "points"),
    "drift_p": Column("drift, p", "p-value of the drift", "number", False),
    "group": Column("group", "Group of workers who seem to copy from each other", "whole", False),
    "group_evidence": Column("evidence", "For the group: log10 likelihood ratio", "number", False),
    "top_label": Column("top answer", "The answer given most", "text", False),
    "top_share": Column("its share", "Share of the answer given most", "share", False),
    "excess": Column("excess", "How much more than the classes explain", "share", False),
}
TASKS = {
    "task": Column("task", "Name of the task", "text"),
    "label": Column("label", "The most probable class", "text"),
    "confidence": Column("confidence", "Probability of the label", "share"),
    "truth": Column("truth", "The true class, where it is known", "text"),
    "votes": Column("votes", "Number of votes", "whole"),
    "majority": Column("majority", "The class with most votes", "text"),
    "vote_entropy": Column("votes at odds", "Entropy of the votes: 0 if all agree, 1 if even", "number"),
    "entropy": Column("doubt", "Entropy of the probabilities", "number", False),
    "margin": Column("margin", "Probability of the first class minus the second", "share", False),
    "difficulty": Column("difficulty", "Difficulty of GLAD", "number", False),
    "expected_accuracy": Column("votes right", "Share of its votes that should be right", "share", False),
    "more_votes": Column("more votes", "Votes still needed to reach the target", "whole"),
    "waum": Column("WAUM", "Areas under the margin of its votes by trust: low is ambiguous", "number"),
    "waum_perworker": Column("WAUM per worker", "WAUM with a classifier for each worker", "number"),
    "aum": Column("AUM", "Area under the margin of its label: low is ambiguous", "number"),
    "changed": Column("changes", "The label changes without the suspicious workers", "yes"),
    "review": Column("review", "Rank in the list for review, 1 first", "whole"),
    "why": Column("why", "Why it should be looked at", "text"),
}


def workers_table(diagnosis: Diagnosis) -> Markup:
    """The workers, the suspicious first, then others with a flag, each by their votes, as JSON to embed."""
    worst = diagnosis.who("spammer") | diagnosis.who("colluding")
    order = np.lexsort((-diagnosis.workers["votes"], ~diagnosis.flagged, ~worst))
    return _embed(diagnosis.workers, WORKERS, diagnosis.flagged, order)


def tasks_table(diagnosis: Diagnosis, known: Known | None = None) -> Markup:
    """The tasks in the order of review, as JSON to embed."""
    columns: dict[str, Any] = dict(diagnosis.tasks)
    if known is not None:
        truth = np.full(len(columns["task"]), None, object)
        truth[known.task] = known.classes[known.truth]
        columns["truth"] = truth
    return _embed(columns, TASKS, to_review(diagnosis), np.argsort(columns["review"], kind="stable"))


def to_review(diagnosis: Diagnosis) -> Flags:
    """The tasks that someone should look at: in doubt, or decided by suspicious workers."""
    tasks, gold = diagnosis.tasks, diagnosis.votes.gold
    doubtful: Flags = (tasks["confidence"] < diagnosis.rules.target) | diagnosis.changed
    return doubtful if gold is None else doubtful & (gold < 0)


def _embed(values: Mapping[str, Any], known: Mapping[str, Column], marked: Any, order: Any) -> Markup:
    """Columns in the order of the list, then those it does not know, with the rows that a switch keeps.

    Of very many rows only the first are there.
    """
    names = [*(name for name in known if name in values), *(name for name in values if name not in known)]
    first = np.asarray(order)[:ROWS]
    kept = np.sort(first)
    heads = {name: _shown(known.get(name) or _guess(name, values[name]), values[name]) for name in names}
    return embed(
        {
            "columns": [{"name": name, **head._asdict()} for name, head in heads.items()],
            "values": [to_list(np.asarray(values[name])[kept]) for name in names],
            "marked": np.flatnonzero(np.asarray(marked)[kept]).tolist(),
            "order": np.searchsorted(kept, first).tolist(),
            "total": len(order),
            "kept": kept.tolist() if len(kept) < len(order) else None,  # the rows of all that are here
        }
    )


def _shown(head: Column, values: Any) -> Column:
    """The same head, but not at first if there is nothing below it."""
    empty = head.kind in ("flags", "yes") and not np.asarray(values, bool).any()
    return head._replace(main=False) if empty else head


def _guess(name: str, values: Any) -> Column:
    number = np.asarray(values).dtype.kind in "iuf"
    return Column(name.replace("_", " "), name, "number" if number else "text")


def embed(data: Any) -> Markup:
    """JSON that can stand inside a script element, whatever the texts in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # all ASCII, so no line separators
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def to_list(values: Any) -> list[Any]:
    """A column as plain numbers and texts; what is not known is None."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        known = _round(array).astype(object)
        known[~np.isfinite(array)] = None
        listed: list[Any] = known.tolist()
        return listed
    if array.dtype.kind in "iub":
        listed = array.tolist()
        exact = array.dtype.kind == "b" or np.abs(array.astype(np.float64)).max(initial=0) < SAFE
        return listed if exact else list(map(str, listed))
    return [_plain(value) for value in array.tolist()]


def _plain(value: Any) -> Any:
    simple = value is None or isinstance(value, bool | str) or (isinstance(value, int) and abs(value) < SAFE)
    return value if simple else str(value)


def _round(values: Floats) -> Floats:
    """The same numbers with so many digits that count."""
    size = np.abs(values)
    usual = np.isfinite(values) & (size > NOTHING) & (size < 1 / NOTHING)
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.where(usual, size, 1))))
    rounded: Floats = np.where(usual, np.round(np.where(usual, values, 0) * scale) / scale, values)
    return np.where(size < NOTHING, 0.0, rounded)
