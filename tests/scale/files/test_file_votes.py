from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot import io
from crowdpilot.scale.files.file_votes import (
    FileVotes,
    SharedCodes,
    encode_file,
    hashes_with_remainder,
    read_file,
    summarize_file,
    tasks_among,
    tasks_with_hash,
)
from crowdpilot.scale.files.name_hashes import hash_names
from tests.scale.shard_files import write_rows

OPTIONS: dict[str, Any] = {"columns": {}, "abstain": [], "repeats": "all", "classes": None}
ROWS = [("a", "ann", "x"), ("a", "bob", "y"), ("b", "ann", "y"), ("b", "bob", "y"), ("a", "ann", "x")]


@pytest.fixture
def file(tmp_path: Path) -> FileVotes:
    """Five votes on two tasks, one of them repeated."""
    write_rows(tmp_path / "1.parquet", ROWS)
    return read_file(str(tmp_path / "1.parquet"), OPTIONS)


def codes(workers: list[int], classes: list[int], **gold: str) -> SharedCodes:
    """Codes of ann and bob, and of x and y, among three workers and the classes w, x and y."""
    names = np.array(["w", "x", "y"], object)
    return SharedCodes(np.array(workers, np.int32), np.array(classes, np.int32), 3, names, gold)


def test_a_file_is_read_with_names_of_tasks_beside_the_votes(file: FileVotes) -> None:
    assert file.task_names.to_pylist() == ["a", "b"]
    assert file.votes.tasks.tolist() == [0, 1]
    assert file.votes.workers.tolist() == ["ann", "bob"]
    assert file.columns == {"task": "task", "worker": "worker", "label": "label"}


def test_columns_are_read_by_role(tmp_path: Path) -> None:
    table = {"item": ["a", "b"], "who": [1, 2], "answer": ["x", "y"], "seconds": [3.0, 4.0]}
    pq.write_table(pa.table(table), tmp_path / "1.parquet")
    columns = {"task": "item", "worker": "who", "label": "answer"}
    file = read_file(str(tmp_path / "1.parquet"), OPTIONS | {"columns": columns})
    assert file.columns == columns
    assert file.votes.seconds is None


def test_a_result_has_what_shared_codes_need(file: FileVotes) -> None:
    result = summarize_file(file)
    assert result.workers.to_pylist() == ["ann", "bob"]
    assert result.votes_per_worker.tolist() == [3, 2]
    assert result.classes.to_pylist() == ["x", "y"]
    assert (result.n_tasks, result.dropped, result.are_shares) == (2, 0, False)


def test_encoded_votes_have_shared_codes_and_are_merged(file: FileVotes) -> None:
    partition = encode_file(file, codes([2, 0], [1, 2]))
    votes = partition.votes
    columns = (column.tolist() for column in (votes.task, votes.worker, votes.label, votes.weights))
    assert sorted(zip(*columns, strict=True)) == [
        (0, 0, 2, 1.0),
        (0, 2, 1, 2.0),
        (1, 0, 2, 1.0),
        (1, 2, 2, 1.0),
    ]
    assert partition.votes_per_task is not None
    assert partition.votes_per_task.tolist() == [3, 2]
    named = partition.named_votes()
    assert named.tasks.tolist() == ["a", "b"]
    assert named.classes.tolist() == ["w", "x", "y"]
    assert len(named.workers) == 3


def test_weights_of_one_are_left_out(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", ROWS[:4])
    partition = encode_file(read_file(str(tmp_path / "1.parquet"), OPTIONS), codes([0, 1], [1, 2]))
    assert partition.votes.weight is None
    assert partition.votes_per_task is None


def test_votes_of_excluded_workers_are_left_out(file: FileVotes) -> None:
    partition = encode_file(file, codes([-1, 0], [1, 2]))
    assert partition.votes.worker.tolist() == [0, 0]
    assert partition.votes.label.tolist() == [2, 2]
    assert len(partition.votes.tasks) == 2


def test_gold_of_all_files_comes_before_gold_in_the_file(tmp_path: Path) -> None:
    columns = dict(zip(("task", "worker", "label"), zip(*ROWS, strict=True), strict=True))
    pq.write_table(pa.table({**columns, "gold": ["x", None, "y", "y", "x"]}), tmp_path / "1.parquet")
    file = read_file(str(tmp_path / "1.parquet"), OPTIONS)
    assert encode_file(file, codes([0, 1], [1, 2])).votes.gold.tolist() == [1, 2]  # type: ignore[union-attr]
    assert encode_file(file, codes([0, 1], [1, 2], a="w")).votes.gold.tolist() == [0, 2]  # type: ignore[union-attr]


def test_gold_of_some_tasks_leaves_the_others_unknown(file: FileVotes) -> None:
    gold = encode_file(file, codes([0, 1], [1, 2], b="x")).votes.gold
    assert gold is not None
    assert gold.tolist() == [-1, 1]


def test_tasks_are_found_by_name_and_by_hash(file: FileVotes) -> None:
    assert tasks_among(file, {"b", "c"}) == ["b"]
    hashes = hash_names(file.task_names)
    assert tasks_with_hash(file, hashes[1]) == ["b"]
    parts = [hashes_with_remainder(file, (n, 3)) for n in range(3)]
    assert sorted(np.concatenate(parts).tolist()) == sorted(hashes.tolist())


def test_numbers_are_found_as_text(tmp_path: Path) -> None:
    write_rows(tmp_path / "1.parquet", [(10, 1, 0), (20, 1, 1)])
    file = read_file(str(tmp_path / "1.parquet"), OPTIONS)
    assert tasks_among(file, {"20", "30"}) == ["20"]


def test_the_size_of_a_partition_counts_its_arrays(file: FileVotes) -> None:
    partition = encode_file(file, codes([2, 0], [1, 2]))
    assert sys.getsizeof(partition) > partition.votes.cell.nbytes + partition.task_names.nbytes


def test_a_missing_file_is_named_with_the_machine(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"gone\.parquet is not there for the process on .+; all processes"):
        read_file(str(tmp_path / "gone.parquet"), OPTIONS)


def test_a_file_is_read_like_any_other(file: FileVotes) -> None:
    votes = io.read(file.path, repeats="all")
    for name in ("task", "worker", "label"):
        np.testing.assert_array_equal(getattr(file.votes, name), getattr(votes, name))
