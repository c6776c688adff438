"""Tabulation hashes (Zobrist) of the names of tasks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

TABLE_BYTES = 4096  # length of a name after which the random numbers of the table are used again


def hash_names(names: pa.Array) -> Hashes:
    """Hash each name: the exclusive or of random numbers of its bytes, by position.

    Whole numbers are hashed by their eight bytes, so that equal numbers of any type have the same hash.

    References
    ----------
    Zobrist, A new hashing method with application for game playing, 1970.
    """
    if pa.types.is_floating(names.type):
        values = names.to_numpy(zero_copy_only=False)
        whole = values.astype(np.int64)
        return _hash_integers(np.where(whole == values, whole, values.view(np.int64)))
    if not pa.types.is_string(names.type):
        return _hash_integers(names.cast(pa.int64()).to_numpy(zero_copy_only=False))
    if len(names) == 0:
        return np.zeros(0, np.uint64)
    ends = np.frombuffer(names.buffers()[1], np.int32, len(names) + 1, names.offset * 4)
    data = np.frombuffer(names.buffers()[2], np.uint8, ends[-1])[ends[0] :]
    starts = ends[:-1] - ends[0]
    position = (np.arange(len(data)) - np.repeat(starts, np.diff(ends))) % TABLE_BYTES
    table = _random_table(int(position.max(initial=0)) + 1)
    hashes: Hashes = np.bitwise_xor.reduceat(table[position, data], starts)
    return hashes


def _hash_integers(numbers: NDArray[np.int64]) -> Hashes:
    digits = np.ascontiguousarray(numbers, "<i8").view(np.uint8).reshape(-1, 8)
    table = _random_table(8)
    hashes: Hashes = np.bitwise_xor.reduce(table[np.arange(8), digits], axis=1)
    return hashes


def _random_table(positions: int) -> Hashes:
    """A random number for each value of a byte at each position, (positions, 256)."""
    return np.random.default_rng(0).integers(2**64, size=(positions, 256), dtype=np.uint64)
