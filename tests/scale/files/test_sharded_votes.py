from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot import io
from crowdpilot.aggregation import MajorityVoting
from crowdpilot.scale import DiskEngine, Shards, aggregate_files
from crowdpilot.scale.engine import no_progress
from crowdpilot.scale.files import sharded_votes
from crowdpilot.scale.files.file_votes import VotesPartition
from crowdpilot.scale.files.sharded_votes import load_shards, merge_names, sum_by_code
from crowdpilot.votes import Votes
from tests.scale.shard_files import write_parts, write_rows


def test_a_task_in_two_files_is_named_with_both(tmp_path: Path) -> None:
    io.write(Votes.of(["cat", "owl"], ["w", "w"], ["x", "y"]), tmp_path / "a.parquet")
    io.write(Votes.of(["eel", "owl"], ["w", "v"], ["x", "y"]), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"task 'owl' has votes in .*a\.parquet and in .*b\.parquet.*--shards"
    ):
        aggregate_files(MajorityVoting(), Shards(tmp_path))


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"task": [1], "worker": [1], "label": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"task": [2], "worker": [1], "answer": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet: found the columns label=answer.*expected label=label"):
        aggregate_files(MajorityVoting(), Shards(tmp_path))


def test_names_of_other_types_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"task": [1], "worker": [1], "label": [1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"task": [2], "worker": ["w"], "label": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"workers are int64 and string in different files"):
        aggregate_files(MajorityVoting(), Shards(tmp_path))


def test_a_file_that_cannot_be_seen_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must reach the files under the same path"):
        aggregate_files(MajorityVoting(), Shards([tmp_path / "gone.parquet"]))


def test_a_gold_label_that_is_no_class_is_an_error(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match="gold label 'zebra' of task 't5' is not a class"):
        aggregate_files(MajorityVoting(), Shards(folder, gold={"t5": "zebra"}))


@pytest.mark.parametrize(
    ("out", "message"), [(["ghost"], "none of the 12"), ([*map("w{}".format, range(12))], "all")]
)
def test_excluded_workers_must_be_some(
    out: list[str], message: str, named_votes: Votes, tmp_path: Path
) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    with pytest.raises(ValueError, match=message):
        aggregate_files(MajorityVoting(), Shards(folder, exclude=out))


def partition_itself(partition: VotesPartition, _: None) -> VotesPartition:
    return partition


def rows_of(shards: Shards) -> tuple[list[tuple[Any, Any, Any]], Any]:
    """All votes by name, as one list; and the numbers of the sharded votes."""
    rows = []
    with load_shards(shards, DiskEngine(threads=1), no_progress) as sharded:
        for partition in sharded.partitions.map(partition_itself):
            votes = partition.named_votes()
            tasks, labels = votes.tasks[votes.task], votes.classes[votes.label]
            rows += list(
                zip(tasks.tolist(), sharded.workers[votes.worker].tolist(), labels.tolist(), strict=True)
            )
        return rows, sharded._replace(partitions=None)  # type: ignore[arg-type]  # closed after this


def test_codes_of_all_files_are_those_of_one_file(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) // 17)
    whole = io.read(folder)
    rows, sharded = rows_of(Shards(folder))
    assert sharded.workers.tolist() == whole.workers.tolist()
    assert sharded.classes.tolist() == whole.classes.tolist()
    assert sharded.votes_per_worker.tolist() == np.bincount(whole.worker).tolist()
    assert (sharded.n_votes, sharded.n_tasks) == (300, 60)
    columns = whole.tasks[whole.task], whole.workers[whole.worker], whole.classes[whole.label]
    assert sorted(rows) == sorted(zip(*(column.tolist() for column in columns), strict=True))


def test_classes_come_in_natural_order_or_as_they_are_given(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [("a", "w", "class 10")])
    write_rows(tmp_path / "2.parquet", [("b", "w", "class 9")])
    assert rows_of(Shards(tmp_path))[1].classes.tolist() == ["class 9", "class 10"]
    given_classes = ["class 10", "class 9", "class 1"]
    rows, sharded = rows_of(Shards(tmp_path, classes=given_classes))
    assert sharded.classes.tolist() == given_classes
    assert rows == [("a", "w", "class 10"), ("b", "w", "class 9")]


def test_a_label_that_is_none_of_the_given_classes_is_refused(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [("a", "w", "x"), ("b", "w", "y")])
    with pytest.raises(ValueError, match="y"):
        rows_of(Shards(tmp_path, classes=["x", "z"]))


def test_files_without_votes_do_not_count(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [])
    write_rows(tmp_path / "2.parquet", [("1", "w", "x"), ("2", "v", "y")])
    write_rows(tmp_path / "3.parquet", [])
    rows, sharded = rows_of(Shards(tmp_path))
    assert rows == [("1", "w", "x"), ("2", "v", "y")]
    assert (sharded.n_votes, sharded.n_tasks, sharded.dropped) == (2, 2, 0)


def test_missing_labels_and_abstentions_are_dropped_and_counted(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [("a", "w", None), ("a", "v", "x")])
    write_rows(tmp_path / "2.parquet", [("b", "w", "?"), ("b", "v", "y")])
    rows, sharded = rows_of(Shards(tmp_path, abstain=["?"]))
    assert rows == [("a", "v", "x"), ("b", "v", "y")]
    assert sharded.dropped == 2


def test_whole_and_fractional_numbers_are_one_type(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [(1, 7, "x"), (2, 8, "y")])
    write_rows(tmp_path / "2.parquet", [(1.5, 7.0, "x"), (3.0, 0.5, "y")])
    rows, sharded = rows_of(Shards(tmp_path))
    assert sharded.workers.tolist() == [7.0, 8.0, 0.5]
    assert rows == [(1, 7.0, "x"), (2, 8.0, "y"), (1.5, 7.0, "x"), (3.0, 0.5, "y")]


def test_a_number_in_two_files_is_one_task_whatever_its_type(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [(1, 7, "x"), (2, 8, "y")])
    write_rows(tmp_path / "2.parquet", [(2.0, 7.0, "x"), (2.5, 7.0, "x")])
    with pytest.raises(ValueError, match=r"task '2.0' has votes in .*1\.parquet and in .*2\.parquet"):
        load_and_close(Shards(tmp_path))


def load_and_close(shards: Shards) -> None:
    with load_shards(shards, DiskEngine(threads=1), no_progress):
        pass


def test_repeated_tasks_are_found_in_several_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded_votes, "MAX_HASHES_IN_MEMORY", 7)
    rows = [(f"t{n}", "w", "x") for n in range(30)]
    write_rows(tmp_path / "1.parquet", rows[:15])
    write_rows(tmp_path / "2.parquet", rows[15:])
    load_and_close(Shards(tmp_path))
    write_rows(tmp_path / "2.parquet", rows[14:])
    with pytest.raises(ValueError, match="task 't14' has votes in"):
        load_and_close(Shards(tmp_path))


def test_different_tasks_with_the_same_hash_are_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def same_hash(names: pa.Array) -> np.ndarray:
        return np.full(len(names), 5, np.uint64)

    monkeypatch.setattr("crowdpilot.scale.files.file_votes.hash_names", same_hash)
    write_rows(tmp_path / "1.parquet", [("a", "w", "x"), ("b", "w", "y")])
    write_rows(tmp_path / "2.parquet", [("c", "w", "x")])
    load_and_close(Shards(tmp_path))


def test_the_empty_votes_have_all_workers_and_classes(named_votes: Votes, tmp_path: Path) -> None:
    folder = write_parts(named_votes, tmp_path / "votes", np.arange(60) % 3)
    empty = rows_of(Shards(folder))[1].empty_votes
    assert (len(empty), len(empty.tasks), len(empty.workers), len(empty.classes)) == (0, 1, 12, 4)


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), min_size=1, max_size=5))
def test_merged_names_come_in_the_order_of_their_first_appearance(files: list[list[str]]) -> None:
    names, codes = merge_names([pa.array(own, pa.string()) for own in files], "workers")
    assert names.tolist() == list(dict.fromkeys(name for own in files for name in own))
    assert [names[own].tolist() for own in codes] == files


@given(st.lists(st.dictionaries(st.integers(0, 5), st.integers(0, 100)), max_size=4))
def test_counts_are_summed_by_code(files: list[dict[int, int]]) -> None:
    codes = [np.array(list(own), np.int32) for own in files]
    counts = [np.array(list(own.values()), np.int64) for own in files]
    expected = [sum(own.get(code, 0) for own in files) for code in range(6)]
    assert sum_by_code(codes, counts, 6).tolist() == expected
