from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.scale.files.name_hashes import TABLE_BYTES, hash_names


@given(st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text), unique=True))
def test_hashes_of_different_names_differ(names: list[str]) -> None:
    hashes = hash_names(pa.array(names, pa.string()))
    assert len(set(hashes.tolist())) == len(names)
    if len(names) > 2:
        np.testing.assert_array_equal(hash_names(pa.array(names, pa.string())[1:-1]), hashes[1:-1])


@given(st.lists(st.integers(-(2**40), 2**40), unique=True))
def test_whole_numbers_have_one_hash_whatever_their_type(numbers: list[int]) -> None:
    hashes = hash_names(pa.array(numbers, pa.int64()))
    assert len(set(hashes.tolist())) == len(numbers)
    np.testing.assert_array_equal(hash_names(pa.array(list(map(float, numbers)), pa.float64())), hashes)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), unique=True))
def test_fractions_have_hashes_of_their_own(numbers: list[float]) -> None:
    fractions = [n for n in numbers if not n.is_integer()]
    assert len(set(hash_names(pa.array(fractions, pa.float64())).tolist())) == len(fractions)


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.float64()])
def test_no_names_have_no_hashes(kind: pa.DataType) -> None:
    hashes = hash_names(pa.array([], kind))
    assert hashes.shape == (0,)
    assert hashes.dtype == np.uint64


def test_hashes_stay_the_same_between_processes() -> None:
    assert hash_names(pa.array(["task 1", "é"])).tolist() == [15213918692750767929, 1978865231431916637]
    numbers = hash_names(pa.array([0, 7, -1])).tolist()
    assert numbers == [
        11304559182419992327,
        9596746663071188765,
        5377580529880019353,
    ]


def test_names_longer_than_the_table_are_hashed() -> None:
    long = "x" * TABLE_BYTES
    hashes = hash_names(pa.array([long, long + "y", long + "z", "y" + long]))
    assert len(set(hashes[:3].tolist())) == 3
    assert hashes[1] == hashes[3]  # random numbers are used again: names with equal hashes are compared


def test_hashes_spread_evenly_over_files() -> None:
    hashes = hash_names(pa.array([f"task {n}" for n in range(4000)]))
    counts = np.bincount((hashes % np.uint64(8)).astype(int), minlength=8)
    assert abs(counts - 500).max() < 100
