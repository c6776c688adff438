"""The one path from a table of any kind to Votes, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Encoded, Floats, Names, to_names
from crowdpilot.io.column_names import resolve
from crowdpilot.io.engine import Array, Table, engine
from crowdpilot.io.errors import NotANumber, failures
from crowdpilot.io.format import Raw
from crowdpilot.votes import Repeats, Votes

NUMBERS = ("weight", "seconds", "time")


def as_table(source: Any) -> Table:
    """Table of any data frame, or of a mapping of columns."""
    try:
        return engine().as_table(source)
    except (TypeError, ValueError) as error:
        found = f"{type(source).__module__}.{type(source).__qualname__}"
        reason = str(error).split("\n")[0]
        raise ValueError(f"{found} is no path and no table of columns of one type ({reason})") from error


def from_frame(table: Table, columns: Mapping[str, str | None]) -> Raw:
    """A table in memory, whose columns are named by the user or by themselves."""
    try:
        return Raw(table, resolve(table.column_names, columns), columns.keys())
    except ValueError as error:
        raise ValueError(f"the table: {error}") from error


class Coded(NamedTuple):
    """The columns of a table as codes and numbers: all that is kept of it."""

    name: str
    task: Encoded
    worker: Encoded
    label: Encoded
    gold: dict[Any, Any]
    numbers: dict[str, Floats]
    classes: Sequence[Any] | None
    repeats: Repeats | None

    def to_votes(self, classes: Sequence[Any] | None, abstain: Iterable[Any], repeats: Repeats) -> Votes:
        """Votes, for which the memory of the table is free again."""
        engine().release()
        label = _with_classes(self.label, self.gold)
        known = self.classes if classes is None else classes
        try:
            votes = Votes.from_codes(
                self.task, self.worker, label, classes=known, abstain=abstain,
                repeats=self.repeats or repeats, **self.numbers,
            )  # fmt: skip
            return votes.with_gold(self.gold) if self.gold else votes
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error


def from_table(raw: Raw) -> Coded:
    """The codes of the table that a format has found; every reader ends here."""
    raw.require("task", "worker", "label")
    task = _encode(raw, "task", raw.tasks)
    worker = _encode(raw, "worker", raw.workers)
    label = _encode(raw, "label")
    gold = _truth(raw, task, _encode(raw, "gold")) if "gold" in raw.roles else {}
    numbers = _numbers(raw)
    _check_weights(raw, label, numbers.get("weight"))
    return Coded(raw.name, task, worker, label, gold, numbers, raw.classes, raw.repeats)


def labels_from_table(raw: Raw) -> dict[Any, Any]:
    """The label of each task, from a table that has at most one for each; of votes, the true one."""
    is_plain = "label" in raw.given or ("label" in raw.roles and "worker" not in raw.roles)
    role = "gold" if "gold" in raw.roles and not is_plain else "label"
    raw.require("task", role)
    return _truth(raw, _encode(raw, "task"), _encode(raw, role))


def _encode(raw: Raw, role: str, listed: Array | None = None) -> Encoded:
    name = raw.roles[role]
    try:
        return engine().encode_column(raw.table[name], raw.is_text, listed)
    except failures(ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise raw.error(f"{reason} in column {name!r}, expected one text or number each") from error


def _truth(raw: Raw, task: Encoded, gold: Encoded) -> dict[Any, Any]:
    """The one known label of each task that has one."""
    rows = np.flatnonzero((gold.codes >= 0) & (task.codes >= 0))
    known = np.full(len(task.names), -1, np.int32)
    known[task.codes[rows]] = gold.codes[rows]
    other = rows[known[task.codes[rows]] != gold.codes[rows]]
    if len(other):
        n, t = other[0], task.codes[other[0]]
        both = f"{gold.names.item(gold.codes[n])!r} and {gold.names.item(known[t])!r}"
        raise raw.error(f"task {task.names.item(t)!r} has the true labels {both}, expected one", int(n))
    has = np.flatnonzero(known >= 0)
    return dict(zip(task.names[has].tolist(), gold.names[known[has]].tolist(), strict=True))


def _with_classes(label: Encoded, gold: Mapping[Any, Any]) -> Encoded:
    """Labels whose names include those that only occur as a true label."""
    known = set(map(str, label.names.tolist()))
    extra = [name for name in dict.fromkeys(gold.values()) if str(name) not in known]
    return Encoded(label.codes, to_names([*label.names.tolist(), *extra])) if extra else label


def _numbers(raw: Raw) -> dict[str, Floats]:
    """Weights and times; a time that nobody named and that cannot be read is left out."""
    found: dict[str, Floats] = {}
    for role in NUMBERS:
        read = engine().to_times if role == "time" else engine().to_floats
        try:
            if role in raw.roles:
                found[role] = read(raw.table[raw.roles[role]])
        except failures(ValueError) as error:
            if role == "weight" or role in raw.given:
                problem = f"{str(error).partition(chr(10))[0]} in column {raw.roles[role]!r}"
                expected = "a time" if role == "time" else "a number"
                row = error.row if isinstance(error, NotANumber) else None
                raise raw.error(f"{problem}, expected {expected}", row) from error
    return found


def _check_weights(raw: Raw, label: Encoded, weight: Floats | None) -> None:
    if weight is None:
        return
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)) & (label.codes >= 0))
    if len(bad):
        raise raw.error(f"found the weight {weight[bad[0]]}, expected a number of 0 or more", int(bad[0]))


def to_table(votes: Votes) -> Table:
    """A row for each vote, and one without a label for each task that has none."""
    unseen = np.flatnonzero(np.bincount(votes.task, minlength=len(votes.tasks)) == 0).astype(np.int32)
    none = np.full(len(unseen), -1, np.int32)
    task = np.concatenate([votes.task, unseen])
    by = engine()
    columns = {
        "task": by.named(task, votes.tasks),
        "worker": by.named(np.concatenate([votes.worker, none]), votes.workers),
        "label": by.named(np.concatenate([votes.label, none]), votes.classes),
    }
    for name in NUMBERS:
        if (values := getattr(votes, name)) is not None:
            columns[name] = by.column(np.append(values, np.full(len(unseen), np.nan)))
    if votes.gold is not None:
        columns["gold"] = by.named(votes.gold[task], votes.classes)
    return by.table(columns)


def split_rows(table: Table, column: str) -> dict[str, Table]:
    """The rows of a table by what a column says, as text."""
    said = np.asarray([str(name) for name in engine().values(table[column])], object)
    return {name: table.filter(said == name) for name in dict.fromkeys(said.tolist())}


def names_array(names: Names) -> Array:
    """Names of tasks, workers or classes; those of mixed types become text."""
    return engine().names(names)
