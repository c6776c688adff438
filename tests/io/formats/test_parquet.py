"""Parquet files, and folders of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot.io import read, write
from crowdpilot.votes import Votes

COLUMNS = {"task": ["a", "a", "b"], "worker": [3, 3, 4], "label": ["cat", None, "dog"], "text": ["x"] * 3}


def test_a_file_is_known_by_its_content(tmp_path, rows):
    pq.write_table(pa.table(COLUMNS), tmp_path / "votes.data")
    votes = read(tmp_path / "votes.data")
    assert rows(votes) == [("a", 3, "cat"), ("b", 4, "dog")]
    assert votes.dropped == 1


def test_many_row_groups_number_names_by_appearance(tmp_path, rows):
    names = [f"t{n % 7}" for n in range(100)]
    table = pa.table({"task": names, "worker": list(range(100)), "label": ["x"] * 100})
    pq.write_table(table, tmp_path / "votes.parquet", row_group_size=9)
    votes = read(tmp_path / "votes.parquet")
    assert votes.tasks.tolist() == [f"t{n}" for n in range(7)]
    assert [task for task, _, _ in rows(votes)] == names


def test_a_folder_of_files_is_one_table(tmp_path, rows):
    for n in range(2):
        pq.write_table(pa.table({**COLUMNS, "worker": [n] * 3}), tmp_path / f"part-{n}.parquet")
    assert len(read(tmp_path)) == 4


def test_columns_can_be_named(tmp_path, rows):
    pq.write_table(pa.table(COLUMNS), tmp_path / "votes.parquet")
    votes = read(tmp_path / "votes.parquet", columns={"label": "text"})
    assert votes.classes.tolist() == ["x"]


def test_texts_of_digits_stay_texts(tmp_path):
    write(Votes.of(["1", "2"], ["x", "x"], ["0", "1"]), tmp_path / "votes.parquet")
    assert read(tmp_path / "votes.parquet").tasks.tolist() == ["1", "2"]


def test_all_columns_come_back(tmp_path):
    given = Votes.of(
        [1, 1, 2], [5, 6, 5], [0, 1, 1], tasks=[3], weight=[1, 2, 3], seconds=[1, np.nan, 2], time=[7, 8, 9],
        gold={1: 0, 3: 1},
    )  # fmt: skip
    write(given, tmp_path / "votes.parquet")
    votes = read(tmp_path / "votes.parquet")
    for column in ("task", "worker", "label", "tasks", "workers", "weight", "seconds", "time", "gold"):
        np.testing.assert_array_equal(getattr(votes, column), getattr(given, column))


@pytest.mark.parametrize("size", [4, 100, -1])
def test_a_file_that_was_cut_off_is_an_error(tmp_path, size):
    pq.write_table(pa.table(COLUMNS), tmp_path / "whole.parquet")
    path = tmp_path / "cut.parquet"
    path.write_bytes((tmp_path / "whole.parquet").read_bytes()[:size])
    with pytest.raises(ValueError, match="found a broken Parquet file") as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_missing_column_is_an_error_that_lists_all(tmp_path):
    pq.write_table(pa.table(COLUMNS).drop(["worker"]), tmp_path / "votes.parquet")
    with pytest.raises(ValueError, match=r"found no worker column among 'task', 'label', 'text'"):
        read(tmp_path / "votes.parquet")
