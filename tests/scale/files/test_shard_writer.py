from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot import io
from crowdpilot.aggregation import MajorityVoting
from crowdpilot.scale import Shards, write_shards
from crowdpilot.scale.files.shard_writer import check_new, shard_names
from crowdpilot.votes import Votes
from tests.scale.shard_files import assert_same_as_one_fit


def test_each_task_is_in_one_of_the_new_files(named_votes: Votes, tmp_path: Path) -> None:
    halves = [named_votes.take(np.arange(len(named_votes)) % 2 == n) for n in range(2)]
    assert write_shards(halves, tmp_path / "new", 5) == len(named_votes)
    assert len(list((tmp_path / "new").iterdir())) == 5
    assert_same_as_one_fit(
        MajorityVoting(), io.read(tmp_path / "new"), Shards(tmp_path / "new"), tmp_path / "labels"
    )


def triples(votes: Votes) -> list[tuple[str, str, str]]:
    """Task, worker and label of each vote, in the order of the votes."""
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return list(zip(*(column.tolist() for column in columns), strict=True))


@settings(max_examples=20, deadline=None)
@given(shards=st.integers(1, 7), batches=st.integers(1, 4))
def test_no_vote_is_lost_and_votes_on_a_task_stay_in_order(
    shards: int, batches: int, named_votes: Votes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("shards") / "new"
    pieces = np.array_split(np.arange(len(named_votes)), batches)
    assert write_shards((named_votes.take(rows) for rows in pieces), folder, shards) == len(named_votes)
    written = [
        io.read(file, repeats="all") for file in sorted(folder.iterdir()) if pq.read_metadata(file).num_rows
    ]
    for votes in written:
        for task in votes.tasks.tolist():
            own, all_ = ([t for t in triples(v) if t[0] == task] for v in (votes, named_votes))
            assert own == all_
    assert sum(map(len, written)) == len(named_votes)
    assert len({t for votes in written for t in votes.tasks}) == sum(len(votes.tasks) for votes in written)


def test_weights_seconds_and_gold_are_written(named_votes: Votes, tmp_path: Path) -> None:
    n = len(named_votes)
    votes = replace(named_votes, weight=np.arange(1, n + 1) / n, gold=np.where(np.arange(60) % 2, 1, -1))
    write_shards([votes], tmp_path / "new", 3)
    read = io.read(tmp_path / "new")
    weight = {(t, w): x for (t, w, _), x in zip(triples(votes), votes.weights, strict=True)}
    assert [weight[t, w] for t, w, _ in triples(read)] == pytest.approx(read.weights.tolist())
    assert read.gold is not None
    gold = {task: read.classes[code] for task, code in zip(read.tasks, read.gold, strict=True) if code >= 0}
    assert gold == {f"t{n}": "b" for n in range(1, 60, 2)}


def test_batches_with_other_columns_are_refused_and_leave_nothing(named_votes: Votes, tmp_path: Path) -> None:
    weighted = replace(named_votes, weight=np.ones(len(named_votes)))
    with pytest.raises(ValueError, match="has the columns task, worker, label, weight, expected task"):
        write_shards([named_votes, weighted], tmp_path / "new", 2)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_reading_leaves_no_files(named_votes: Votes, tmp_path: Path) -> None:
    def batches() -> Iterator[Votes]:
        yield named_votes
        raise ValueError("unreadable")

    with pytest.raises(ValueError, match="unreadable"):
        write_shards(batches(), tmp_path / "new", 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shards", [0, -1])
def test_a_number_of_files_below_one_is_refused(shards: int, named_votes: Votes, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{shards} files were asked for"):
        write_shards([named_votes], tmp_path / "new", shards)


def test_only_new_or_empty_folders_are_written_to(named_votes: Votes, tmp_path: Path) -> None:
    check_new(None)
    check_new(tmp_path)
    check_new(tmp_path / "new")
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "file"):
        with pytest.raises(ValueError, match="exists already"):
            write_shards([named_votes], folder, 2)


def test_names_of_shards_sort_by_number() -> None:
    assert shard_names(2) == ["part-00000.parquet", "part-00001.parquet"]
    many = shard_names(200_001)
    assert sorted(many) == many
