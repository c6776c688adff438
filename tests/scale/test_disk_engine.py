from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crowdpilot.aggregation import DawidSkene
from crowdpilot.scale import DiskEngine, Shards, aggregate_files
from crowdpilot.scale.disk_engine import ALIGNMENT_BYTES, bounded_map, read_mapped, write_mappable
from crowdpilot.scale.engine import no_progress
from crowdpilot.votes import Votes
from tests.scale.shard_files import write_parts

FILES = [str(n) for n in range(7)]


def load_number(path: str) -> dict[str, Any]:
    """A partition of the number that a path is; the last files are loaded first."""
    time.sleep(0.002 * (7 - int(path)))
    return {"number": int(path), "values": np.full(int(path), 1.5)}


def add(partition: dict[str, Any], more: int) -> int:
    return int(partition["number"]) + more


def number_and_sum(partition: dict[str, Any], _: None) -> tuple[int, np.ndarray]:
    return partition["number"], np.array([len(partition["values"]), partition["values"].sum()])


def multiply(partition: dict[str, Any], factor: int) -> dict[str, Any]:
    return {"number": partition["number"] * factor, "values": partition["values"] * factor}


@pytest.mark.parametrize("threads", [1, 3, 20])
def test_partitions_are_mapped_in_the_order_of_the_files(threads: int, tmp_path: Path) -> None:
    engine = DiskEngine(threads=threads, folder=tmp_path)
    with engine.load(load_number, FILES, no_progress) as partitions:
        assert list(partitions.map(add, 10)) == list(range(10, 17))


def test_sums_are_taken_element_by_element(tmp_path: Path) -> None:
    with DiskEngine(folder=tmp_path).load(load_number, FILES, no_progress) as partitions:
        number, sizes = partitions.sum(number_and_sum)
        assert number == 21
        np.testing.assert_array_equal(sizes, [21, 31.5])


def test_partitions_are_replaced_with_an_argument_for_each(tmp_path: Path) -> None:
    with DiskEngine(folder=tmp_path).load(load_number, FILES, no_progress) as partitions:
        replaced = partitions.replace(multiply, [10] * 6 + [100])
        assert list(replaced.map(add, 0)) == [0, 10, 20, 30, 40, 50, 600]
        assert replaced.sum(number_and_sum)[1][0] == 21
        with pytest.raises(ValueError, match="zip"):
            partitions.replace(multiply, [1, 2])


def test_arrays_of_partitions_are_not_copied_into_memory(tmp_path: Path) -> None:
    with DiskEngine(folder=tmp_path).load(load_number, FILES, no_progress) as partitions:
        assert not any(partitions.map(lambda partition, _: partition["values"].flags.owndata))
        assert not any(partitions.map(lambda partition, _: partition["values"].flags.writeable))


def test_progress_counts_the_files(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with DiskEngine(folder=tmp_path).load(
        load_number, FILES, lambda done, total: calls.append((done, total))
    ) as partitions:
        assert calls == [(n, 7) for n in range(1, 8)]
        calls.clear()
        list(partitions.map(add, 0, progress=lambda done, total: calls.append((done, total))))
        assert calls == [(n, 7) for n in range(1, 8)]


def test_the_folder_is_removed_at_the_end_and_after_an_error(tmp_path: Path) -> None:
    def fail(path: str) -> None:
        raise OSError(f"cannot read {path}")

    engine = DiskEngine(threads=2, folder=tmp_path)
    with engine.load(load_number, FILES, no_progress):
        (folder,) = tmp_path.iterdir()
        assert sorted(file.name for file in folder.iterdir()) == FILES
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="cannot read 0"), engine.load(fail, FILES, no_progress):
        pass
    assert list(tmp_path.iterdir()) == []


def test_no_more_results_are_computed_than_may_wait() -> None:
    started: list[int] = []
    lock = threading.Lock()

    def work(item: int) -> int:
        with lock:
            started.append(item)
        return item

    with ThreadPoolExecutor(2) as pool:
        results = bounded_map(pool, 3, work, range(100))
        assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
        time.sleep(0.02)
        assert len(started) <= 5 + 3
        assert list(results) == list(range(5, 100))


def test_work_that_waits_is_cancelled_when_nobody_asks_for_more() -> None:
    started: list[int] = []
    release = threading.Event()

    def work(item: int) -> int:
        started.append(item)
        if item:
            release.wait(10)
        return item

    with ThreadPoolExecutor(1) as pool:
        results: Iterator[int] = bounded_map(pool, 4, work, range(100))
        assert next(results) == 0
        results.close()  # type: ignore[attr-defined]  # it is a generator
        release.set()
    assert len(started) <= 2


def test_nothing_is_left_in_the_temporary_folder(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    (tmp_path / "temporary").mkdir()
    seen = []

    def stop(what: str, done: int, of: int) -> None:
        seen.extend((tmp_path / "temporary").iterdir())
        if what == "iterations":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        aggregate_files(
            DawidSkene(), Shards(folder), engine=DiskEngine(folder=tmp_path / "temporary"), progress=stop
        )
    assert seen
    assert list((tmp_path / "temporary").iterdir()) == []


def test_mapped_values_are_views_of_the_file(tmp_path: Path) -> None:
    thing = {"a": np.arange(7), "b": np.zeros((0, 3)), "c": pa.array(["x", "yy"]), "d": np.ones(9)[::2]}
    write_mappable(thing, tmp_path / "thing")
    back = read_mapped(tmp_path / "thing")
    assert back["c"] == thing["c"]
    for name in "abd":
        np.testing.assert_array_equal(back[name], thing[name])
    assert not back["a"].flags.owndata


@settings(max_examples=30, deadline=None)
@given(values=st.lists(arrays(st.sampled_from([np.int32, np.float64, np.uint8]), st.integers(0, 50))))
def test_any_arrays_are_read_as_they_were_written(
    values: list[np.ndarray], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("mapped") / "arrays"
    write_mappable(values, path)
    for array, read in zip(values, read_mapped(path), strict=True):
        assert read.dtype == array.dtype
        np.testing.assert_array_equal(read, array)
        assert read.size == 0 or read.ctypes.data % ALIGNMENT_BYTES == 0
