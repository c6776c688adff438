"""From many files to votes with one set of codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Names
from crowdpilot.names import natural_order, to_names
from crowdpilot.scale.engines import Count, Engine, Held
from crowdpilot.scale.files.file_contents import (
    Brief,
    Key,
    among,
    brief,
    encode,
    look,
    name_of,
    some_hashes,
    to_numpy,
)
from crowdpilot.scale.files.shards import Shards
from crowdpilot.votes import Votes

MANY = 1 << 24  # names of tasks that are compared at the same time


class Gathered(NamedTuple):
    """The votes of all files, held as parts somewhere."""

    held: Held
    workers: Names
    classes: Names
    given: NDArray[np.int64]  # votes of each worker
    tasks: int
    dropped: int  # rows that are no votes
    excluded: tuple[int, int]  # how many workers do not count, and how many votes of theirs
    shares: bool

    @property
    def votes(self) -> int:
        """How many votes there are."""
        return int(self.given.sum())

    @property
    def outline(self) -> Votes:
        """The workers and classes, and one task without a vote."""
        none = np.zeros(0, np.int32)
        return Votes(none, none, none, np.zeros(1, np.int64), self.workers, self.classes)


@contextmanager
def gather(shards: Shards, engine: Engine, tell: Count) -> Iterator[Gathered]:
    """Read all files and number what is in them as if they were one.

    Workers come in the order of their first appearance and classes in their natural order, so that
    it does not matter into how many files the votes are cut.
    """
    with engine.hold(partial(look, reading=shards.reading), shards.files, tell) as looked:
        briefs = list(looked.each(brief))
        _check_alike(briefs)
        _check_tasks(looked, briefs)
        workers, codes = number([b.workers for b in briefs], "workers")
        given = sum_all(codes, [b.given for b in briefs], len(workers))
        counts = _who_counts(shards, workers, given)
        place = np.where(counts, np.cumsum(counts) - 1, -1).astype(np.int32)
        classes, labels = _number_classes(shards, briefs)
        known = _known(looked, shards)
        size = int(counts.sum())
        keys = [
            Key(place[worker], label, size, classes, gold)
            for worker, label, gold in zip(codes, labels, known, strict=True)
        ]
        yield Gathered(
            looked.change(encode, keys),
            workers[counts],
            classes,
            given[counts],
            sum(b.tasks for b in briefs),
            sum(b.dropped for b in briefs),
            (int((~counts).sum()), int(given[~counts].sum())),
            len(workers) == 1 and any(b.shares for b in briefs),
        )


def number(names: Sequence[pa.Array], what: str) -> tuple[Names, list[Codes]]:
    """All names in the order of their first appearance, and the codes of each file's own."""
    kinds = {array.type for array in names if len(array)}
    if kinds == {pa.int64(), pa.float64()}:
        kinds = {pa.float64()}
    if len(kinds) > 1:
        found = " and ".join(sorted(map(str, kinds)))
        raise ValueError(f"the {what} are {found} in different files, expected one type in all")
    kind = kinds.pop() if kinds else pa.string()
    coded = pa.concat_arrays([array.cast(kind) for array in names]).dictionary_encode()
    ends = np.cumsum([len(array) for array in names])[:-1]
    codes = np.split(coded.indices.to_numpy(zero_copy_only=False).astype(np.int32), ends)
    return to_numpy(coded.dictionary), codes


def sum_all(codes: Sequence[Codes], counts: Sequence[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """The sum of the counts of all files by code."""
    total = np.zeros(size, np.int64)
    for own, count in zip(codes, counts, strict=True):
        total[own] += count
    return total


def _number_classes(shards: Shards, briefs: Sequence[Brief]) -> tuple[Names, list[Codes]]:
    if shards.classes is not None:
        classes = to_names(list(shards.classes))
        return classes, [np.arange(len(classes), dtype=np.int32)] * len(briefs)
    names, codes = number([b.classes for b in briefs], "labels")
    order = natural_order(names)
    rank = np.argsort(order).astype(np.int32)
    return names[order], [rank[own] for own in codes]


def _known(looked: Held, shards: Shards) -> list[dict[str, Any]]:
    """The true labels that belong to each file."""
    if not shards.gold:
        return [{} for _ in shards.files]
    gold = {str(task): label for task, label in shards.gold.items()}
    return [{task: gold[task] for task in here} for here in looked.each(among, set(gold))]


def _check_alike(briefs: Sequence[Brief]) -> None:
    first, *others = briefs
    for other in others:
        if other.roles != first.roles:
            found, expected = (
                ", ".join(f"{role}={name}" for role, name in sorted(b.roles.items())) for b in (other, first)
            )
            raise ValueError(
                f"{other.path}: found the columns {found}, expected {expected} as in {first.path}"
            )


def _who_counts(shards: Shards, workers: Names, given: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(workers,); whether the votes of each one count."""
    out = set(map(str, shards.exclude))
    if not out:
        return np.ones(len(workers), bool)
    counts = np.asarray([str(name) not in out for name in workers.tolist()], bool)
    if counts.all():
        raise ValueError(f"none of the {len(workers)} workers is among the excluded ones")
    if not given[counts].any():
        raise ValueError("all workers are excluded, so that no vote is left")
    return counts


def _check_tasks(looked: Held, briefs: Sequence[Brief]) -> None:
    """Raise if a task has votes in two files."""
    rounds = 1 + sum(b.tasks for b in briefs) // MANY
    for n in range(rounds):
        hashes = list(looked.each(some_hashes, (n, rounds)))
        together = np.sort(np.concatenate(hashes))
        for twice in np.unique(together[1:][together[1:] == together[:-1]]):
            names = list(looked.each(name_of, twice))
            held = [(str(name), b.path) for b, own in zip(briefs, names, strict=True) for name in own]
            _check_name(held)


def _check_name(held: list[tuple[str, str]]) -> None:
    for (name, path), (again, other) in pairwise(sorted(held)):
        if name == again:
            raise ValueError(
                f"task {name!r} has votes in {path} and in {other}, expected all votes of a task in one "
                "file; `crowdpilot convert IN OUT --shards N` writes such files"
            )
