"""What is done with one file of votes, wherever it is read; every function is pure."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crowdpilot import io
from crowdpilot.arrays import Codes, Names
from crowdpilot.io.arrow import names_array
from crowdpilot.io.column_names import resolve
from crowdpilot.votes import Votes

Hashes = NDArray[np.uint64]

WIDTH = 4096  # letters of a name after which the random numbers of a hash come again
ROLES = ("task", "worker", "label", "weight", "gold")


@dataclass(frozen=True, eq=False)
class Looked:
    """A file as it is, with codes of its own; its tasks are numbered and their names kept aside."""

    path: str
    roles: Mapping[str, str]
    votes: Votes
    names: pa.Array  # of the tasks


class Brief(NamedTuple):
    """What all must know of one file."""

    path: str
    roles: Mapping[str, str]
    kind: pa.DataType  # of the names of tasks
    workers: pa.Array
    given: NDArray[np.int64]  # votes of each worker
    classes: pa.Array
    votes: int
    tasks: int
    dropped: int
    shares: bool  # whether it holds shares of a crowd instead of votes


class Key(NamedTuple):
    """The codes of one file among those of all."""

    workers: Codes  # of each of its workers; -1 if their votes do not count
    labels: Codes  # of each of its classes
    size: int  # how many workers there are in all
    classes: Names
    gold: Mapping[Any, Any]  # the true label of some of its tasks


@dataclass(frozen=True, eq=False)
class Part:
    """The votes of one file with the codes of all: merged, with numbers in place of names."""

    path: str
    votes: Votes
    names: pa.Array  # of the tasks
    classes: Names
    given: NDArray[np.int64] | None  # votes of each task, if not those of `votes`

    def named(self) -> Votes:
        """The votes with the names of tasks and classes."""
        return replace(self.votes, tasks=to_numpy(self.names), classes=self.classes)

    def __sizeof__(self) -> int:
        held = (sys.getsizeof(value) for value in vars(self.votes).values())
        return sum(held) + int(self.names.nbytes)


def look(path: str, reading: Mapping[str, Any]) -> Looked:
    """Read a file."""
    if not os.path.isfile(path):
        raise ValueError(
            f"{path} is not there for the process on {socket.gethostname()}; "
            "all processes must reach the files under the same path"
        )
    votes = io.read(path, format="parquet", **reading)
    roles = resolve(pq.read_schema(path).names, reading["columns"])
    known = {role: name for role, name in roles.items() if role in ROLES}
    plain = replace(votes, tasks=np.arange(len(votes.tasks)), seconds=None, time=None)
    return Looked(path, known, plain, names_array(votes.tasks))


def brief(looked: Looked, _: None = None) -> Brief:
    """What all must know of a file."""
    votes = looked.votes
    given = np.bincount(votes.worker, minlength=len(votes.workers))
    names = names_array(votes.workers), names_array(votes.classes)
    sizes = len(votes), len(votes.tasks), votes.dropped
    return Brief(
        looked.path, looked.roles, looked.names.type, names[0], given, names[1], *sizes, votes.are_shares
    )


def among(looked: Looked, names: set[str]) -> list[str]:
    """Which of these names are those of tasks of a file."""
    texts = looked.names.cast(pa.string()).to_pylist()
    return [text for text in texts if text in names]


def encode(looked: Looked, key: Key) -> Part:
    """The votes of a file with the codes of all."""
    own = looked.votes
    gold = None if own.gold is None else np.append(key.labels, np.int32(-1))[own.gold]
    votes = Votes(
        own.task, np.maximum(key.workers[own.worker], 0), key.labels[own.label], own.tasks,
        np.arange(key.size), np.arange(len(key.classes)), weight=own.weight, gold=gold,
    )  # fmt: skip
    if (key.workers < 0).any():
        votes = votes.take(key.workers[own.worker] >= 0)
    if key.gold:
        votes = replace(votes, gold=_known(looked, votes, key))
    merged = votes.merged
    given = None if len(merged) == len(votes) else np.bincount(votes.task, minlength=len(votes.tasks))
    if merged.weight is not None and (merged.weight == 1).all():
        merged = replace(merged, weight=None)
    _ = merged.cell, merged.starts  # are kept with it, and all that most rounds look at
    return Part(looked.path, merged, looked.names, key.classes, given)


def _known(looked: Looked, votes: Votes, key: Key) -> Codes:
    named = replace(votes, tasks=to_numpy(looked.names), classes=key.classes).with_gold(key.gold)
    if named.gold is None or votes.gold is None:
        return np.full(len(votes.tasks), -1, np.int32) if named.gold is None else named.gold
    return np.where(named.gold >= 0, named.gold, votes.gold)


def to_numpy(names: pa.Array) -> Names:
    """Names as Votes has them."""
    found: Names = names.to_numpy(zero_copy_only=False)
    return found


def some_hashes(looked: Looked, which: tuple[int, int]) -> Hashes:
    """The hashes of the names of tasks that leave a remainder when divided by a number."""
    remainder, number = which
    hashes = hash_array(looked.names)
    some: Hashes = hashes[hashes % np.uint64(number) == remainder]
    return some


def name_of(looked: Looked, hashed: np.uint64) -> list[Any]:
    """The names of tasks with this hash."""
    names: list[Any] = looked.names.filter(pa.array(hash_array(looked.names) == hashed)).to_pylist()
    return names


def hash_array(names: pa.Array) -> Hashes:
    """A number for each name: the random numbers of its bytes, by their places, added without carry.

    Tabulation hashing: Zobrist, 1970. Numbers that are equal have equal bytes, whatever their type.
    """
    if pa.types.is_floating(names.type):
        values = names.to_numpy(zero_copy_only=False)
        whole = values.astype(np.int64)
        return _hash_numbers(np.where(whole == values, whole, values.view(np.int64)))
    if not pa.types.is_string(names.type):
        return _hash_numbers(names.cast(pa.int64()).to_numpy(zero_copy_only=False))
    if len(names) == 0:
        return np.zeros(0, np.uint64)
    ends = np.frombuffer(names.buffers()[1], np.int32, len(names) + 1, names.offset * 4)
    data = np.frombuffer(names.buffers()[2], np.uint8, ends[-1])[ends[0] :]
    starts = ends[:-1] - ends[0]
    place = (np.arange(len(data)) - np.repeat(starts, np.diff(ends))) % WIDTH
    table = _random_numbers(int(place.max(initial=0)) + 1)
    hashes: Hashes = np.bitwise_xor.reduceat(table[place, data], starts)
    return hashes


def _hash_numbers(numbers: NDArray[np.int64]) -> Hashes:
    digits = np.ascontiguousarray(numbers, "<i8").view(np.uint8).reshape(-1, 8)
    table = _random_numbers(8)
    hashes: Hashes = np.bitwise_xor.reduce(table[np.arange(8), digits], axis=1)
    return hashes


def _random_numbers(places: int) -> Hashes:
    return np.random.default_rng(0).integers(2**64, size=(places, 256), dtype=np.uint64)
