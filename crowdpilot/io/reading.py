"""How a source was read (`Reading`): the votes, where they come from, and what was assumed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, has_repeats, pair
from crowdpilot.io.engine import engine
from crowdpilot.io.format import VotesTable
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.inference.reading_checks import doubts
from crowdpilot.io.inference.similar_names import (
    NUMBER,
    blank_key,
    label_key,
    merge,
    quoted,
    renaming,
    spellings,
    without,
)
from crowdpilot.io.votes_tables import EncodedVotes, from_table
from crowdpilot.names import Encoded, to_names
from crowdpilot.votes import Repeats, Votes

MISSING_LABELS = frozenset(("nan", "<na>", "nat", "null", "na"))  # as programs write them, in small letters
MISSING_WORKERS = MISSING_LABELS - {"na"}
DOUBTFUL_MARKERS = ("na", "-1")
DOUBTFUL_LABELS = frozenset(("None", "N/A", "n/a", "#N/A", "?", "-", "--", "."))  # answers, or no answer
MIN_DATE_SECONDS = 1e8  # since 1970; less is a time on another clock, or how long something took
PREVIEW_ROWS = 8
MAX_SHOWN_CLASSES = 6


class ReadingWarning(UserWarning):
    """Something was assumed on reading that may be wrong; the message says how to settle it."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Votes and how they were read.

    Parameters
    ----------
    votes
        What was read.
    name, format
        Of the source.
    origins
        Where each role comes from.
    ignored
        Columns that were not read.
    repeated
        How many votes a worker had given to a task before, or again, so that they do not count.
    left_out
        How many rows or records hold no vote, by the reason.
    notes
        What was assumed and may be wrong.
    """

    votes: Votes
    name: str
    format: str
    origins: Mapping[str, str]
    ignored: Sequence[str]
    repeated: int
    order: str
    left_out: Mapping[str, int]
    notes: Sequence[str]

    def __str__(self) -> str:
        return f"{self.name}: {'; '.join(filter(None, self._parts()))}"

    def _parts(self) -> Iterable[str]:
        votes = self.votes
        columns = ", ".join(f"{role} from {origin}" for role, origin in self.origins.items())
        yield f"{self.format}{f', {columns}' if columns else ''}"
        classes = ", ".join(map(str, votes.classes[:MAX_SHOWN_CLASSES].tolist()))
        more = ", …" if len(votes.classes) > MAX_SHOWN_CLASSES else ""
        sizes = f"{_count(len(votes.tasks), 'task')} by {_count(len(votes.workers), 'worker')}"
        kinds = _count(len(votes.classes), "class", "classes")
        yield f"{_count(len(votes), 'vote')} on {sizes}, {kinds} ({classes}{more})"
        if self.repeated:
            yield f"{_count(self.repeated, 'repeat')}, of which {self.order}"
        if votes.dropped:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
            rows = _count(votes.dropped, "row")
            yield f"{rows} without a vote{f' ({reasons})' if reasons else ''}"
        if self.ignored:
            yield f"ignored {listed(self.ignored)}"

    def preview(self, rows: int = PREVIEW_ROWS) -> dict[str, list[Any]]:
        """The first votes as they were read, by column."""
        votes = self.votes.take(slice(rows))
        columns = {
            "task": votes.tasks[votes.task], "worker": votes.workers[votes.worker],
            "label": votes.classes[votes.label],
        }  # fmt: skip
        numbers = {name: getattr(votes, name) for name in ("weight", "seconds", "time")}
        known = {name: values for name, values in numbers.items() if values is not None}
        if votes.gold is not None:
            classes = [*votes.classes.tolist(), None]
            known["gold"] = to_names([classes[code] for code in votes.gold[votes.task].tolist()])
        return {name: list(values.tolist()) for name, values in (columns | known).items()}


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def read_table(
    table: VotesTable,
    classes: Sequence[Any] | None,
    abstain: Iterable[Any],
    repeats: Repeats,
) -> Reading:
    """The votes in the table that a format has found; the memory of the table is free afterwards."""
    encoded = from_table(table)
    about = replace(table, table=table.table.select(()), ignored=table.unread, described=table.origins)
    del table
    engine().release()
    return _Reader(about, encoded, classes, [*map(str, abstain)], repeats).reading()


@dataclass(eq=False)
class _Reader:
    """One table of votes on its way to `Votes`; notes are collected."""

    about: VotesTable
    encoded: EncodedVotes
    classes: Sequence[Any] | None
    abstain: Collection[str]
    repeats: Repeats

    def __post_init__(self) -> None:
        self.notes = list(self.about.notes)
        self.left_out = dict(self.about.left_out)
        self.order = "all count"

    def reading(self) -> Reading:
        """Merge names that are written differently, put repeats in order, and check what comes out."""
        about = self.about
        known = about.classes if self.classes is None else self.classes
        label, gold = self._labels({*map(str, known or ())})
        task, worker = self._names("task"), self._names("worker")
        rows = (task.codes >= 0) & (worker.codes >= 0) & (label.codes >= 0)
        task, worker, label, numbers = self._in_order_of_time(task, worker, label)
        try:
            votes = Votes.from_codes(
                task, worker, _with_classes(label, gold), classes=known, abstain=self.abstain,
                repeats=about.repeats or self.repeats, **numbers,
            )  # fmt: skip
            votes = votes.with_gold(gold) if gold else votes
        except ValueError as error:
            raise ValueError(f"{about.name}: {error}") from error
        self.notes.extend(() if self.classes is not None else doubts(votes, about))
        repeated = max(0, len(rows) - votes.dropped - len(votes))
        return Reading(
            votes, about.name, about.format or "columns", about.origins, about.unread, repeated, self.order,
            self.left_out, tuple(dict.fromkeys(self.notes)),
        )  # fmt: skip

    # Names that are written differently ------------------------------------------------------

    def _labels(self, known: set[str]) -> tuple[Encoded, dict[Any, Any]]:
        """Labels and true labels, each class under one name."""
        settled = {label_key(name) for name in (*known, *self.abstain)}
        blank = {str(name) for name in self.encoded.label.names.tolist() if not str(name).strip()}
        markers = MISSING_LABELS.union(self.about.missing_labels, blank) - settled
        label, missing = without(self.encoded.label, markers)
        if missing:
            every = [str(name).strip() for name in self.encoded.label.names.tolist()]
            found = [name for name in every if label_key(name) in markers]
            self.left_out[f"labelled {listed(found)}"] = missing
            if doubtful := [name for name in found if label_key(name) in DOUBTFUL_MARKERS]:
                self.notes.append(
                    f"{missing} labels {doubtful[0]} are read as missing; if {doubtful[0]} is a class, name "
                    "all classes (--classes)"
                )
        gold = {task: name for task, name in self.encoded.gold.items() if label_key(name) not in markers}
        everything = _with_classes(label, gold)
        if groups := spellings(everything, label_key, known):
            self.notes.append(
                f"labels that differ only in spelling are one class: {quoted(groups)}; "
                "to keep them apart, name all classes (--classes)"
            )
        kept = renaming(groups)
        self._note_doubtful(label, known)
        return merge(label, groups), {task: kept.get(name, name) for task, name in gold.items()}

    def _note_doubtful(self, label: Encoded, known: set[str]) -> None:
        """Labels that may mean no answer: signs and words for nothing, or one word among numbers."""
        names = [str(name).strip() for name in label.names.tolist()]
        words = [name for name in names if not NUMBER.fullmatch(name)]
        only_word = words if len(words) == 1 < len(names) - 1 else []
        settled = {*known, *self.abstain}
        doubtful = [
            name for name in dict.fromkeys(names) if name in DOUBTFUL_LABELS.union(only_word) - settled
        ]
        if doubtful:
            self.notes.append(
                f"{', '.join(map(repr, doubtful))} is read as a class; if it means no answer, "
                f"use abstain= (--abstain {doubtful[0]})"
            )

    def _names(self, role: str) -> Encoded:
        """Tasks or workers; blanks around a name are no other name."""
        encoded: Encoded = getattr(self.encoded, role)
        if role == "worker":
            encoded, missing = without(encoded, MISSING_WORKERS)
            self.left_out |= {"without a worker": missing} if missing else {}
        texts = [*map(str, encoded.names.tolist())] if encoded.names.dtype == object else []
        groups = spellings(encoded, blank_key) if [*map(str.strip, texts)] != texts else {}
        if groups and self.about.numbers_as_text:  # a file that people have written, where blanks are slips
            self.notes.append(f"{role}s that differ only in blanks are one: {quoted(groups)}")
            return merge(encoded, groups)
        if groups:
            self.notes.append(f"{role}s differ only in blanks and stay apart: {quoted(groups)}")
        return encoded

    # Repeats ----------------------------------------------------------------------------------

    def _in_order_of_time(
        self, task: Encoded, worker: Encoded, label: Encoded
    ) -> tuple[Encoded, Encoded, Encoded, dict[str, Floats]]:
        """Of the votes of a worker on one task, the later one after the earlier one."""
        numbers = self.encoded.numbers
        repeats = self.about.repeats or self.repeats
        if repeats == "all":
            return task, worker, label, numbers
        self.order = f"the {repeats} in the file counts"
        valid = np.flatnonzero((task.codes >= 0) & (worker.codes >= 0) & (label.codes >= 0))
        pairs = pair(task.codes[valid], worker.codes[valid], (len(task.names), len(worker.names)))
        time = numbers.get("time")
        if not has_repeats(pairs):
            return task, worker, label, numbers
        if time is None:
            self._note_unread_times(repeats)
            return task, worker, label, numbers
        repeated = valid[np.isin(pairs, _repeated(pairs))]
        if not (time[repeated] > MIN_DATE_SECONDS).all():
            return task, worker, label, numbers
        self.order = f"the {repeats} by time counts"
        group = pair(task.codes[repeated], worker.codes[repeated], (len(task.names), len(worker.names)))
        order = np.arange(len(task.codes))
        order[repeated[np.argsort(group, kind="stable")]] = repeated[np.lexsort((time[repeated], group))]
        moved = [Encoded(one.codes[order], one.names) for one in (task, worker, label)]
        return moved[0], moved[1], moved[2], {name: column[order] for name, column in numbers.items()}

    def _note_unread_times(self, repeats: Repeats) -> None:
        if "time" in self.about.roles and repeats != "error":
            self.notes.append(
                f"{self.about.origins['time']} has a value that is no time, so that of repeats {self.order}"
            )


def _repeated(values: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The values that occur more than once."""
    distinct, counts = np.unique(values, return_counts=True)
    several: NDArray[np.integer[Any]] = distinct[counts > 1]
    return several


def _with_classes(label: Encoded, gold: Mapping[Any, Any]) -> Encoded:
    """Labels whose names include those that only occur as a true label."""
    known = set(map(str, label.names.tolist()))
    extra = [name for name in dict.fromkeys(gold.values()) if str(name) not in known]
    return Encoded(label.codes, to_names([*label.names.tolist(), *extra])) if extra else label
