from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from crowdpilot import io
from crowdpilot.scale import DiskEngine, simulate_files
from crowdpilot.scale.files.simulation import simulate_shard
from crowdpilot.simulation import HammerSpammer, IndependentConfusion

CROWD = IndependentConfusion(tasks=50, workers=9, classes=3, votes_per_task=4, seed=3)


def test_all_tasks_have_votes_of_the_same_workers(tmp_path: Path) -> None:
    assert simulate_files(CROWD, tmp_path / "votes", 4) == 200
    assert [file.name for file in sorted((tmp_path / "votes").iterdir())] == [
        f"part-0000{n}.parquet" for n in range(4)
    ]
    votes = io.read(tmp_path / "votes")
    assert (len(votes), len(votes.tasks), len(votes.workers), len(votes.classes)) == (200, 50, 9, 3)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_seed_and_the_number_of_files_decide_everything(threads: int, tmp_path: Path) -> None:
    for name, engine in (("one", None), ("two", DiskEngine(threads=threads))):
        simulate_files(CROWD, tmp_path / name, 3, engine=engine)
    for file in (tmp_path / "one").iterdir():
        assert pq.read_table(file) == pq.read_table(tmp_path / "two" / file.name)


def test_files_hold_the_shards_of_the_crowd(tmp_path: Path) -> None:
    simulate_files(CROWD, tmp_path / "votes", 3, truth=tmp_path / "truth")
    for n, file in enumerate(sorted((tmp_path / "votes").iterdir())):
        expected, truth = CROWD.shard(n, 3)
        votes = io.read(file, repeats="all", classes=list(range(3)))
        assert votes.tasks.tolist() == expected.tasks.tolist()
        np.testing.assert_array_equal(votes.label, expected.label)
        labels = io.read_labels(tmp_path / "truth" / file.name)
        assert [labels[task] for task in expected.tasks.tolist()] == expected.classes[truth].tolist()


def test_no_truth_is_written_unless_it_is_asked_for(tmp_path: Path) -> None:
    simulate_files(CROWD, tmp_path / "votes", 2)
    assert [folder.name for folder in tmp_path.iterdir()] == ["votes"]


def test_progress_counts_the_files(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    simulate_files(CROWD, tmp_path / "votes", 3, progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("shards", [0, 51])
def test_there_is_a_task_for_each_file(shards: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{shards} files were asked for, expected 1 to 50"):
        simulate_files(CROWD, tmp_path / "votes", shards)


@pytest.mark.parametrize("used", ["votes", "truth"])
def test_folders_that_are_not_empty_are_refused(used: str, tmp_path: Path) -> None:
    (tmp_path / used).mkdir()
    (tmp_path / used / "file").touch()
    with pytest.raises(ValueError, match=f"{used} exists already"):
        simulate_files(CROWD, tmp_path / "votes", 2, truth=tmp_path / "truth")
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["file"]


def test_an_error_leaves_no_files(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_files(CROWD, tmp_path / "votes", 2, truth=tmp_path / "truth", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_one_shard_returns_its_number_of_votes(tmp_path: Path) -> None:
    paths = {str(tmp_path / f"{n}.parquet"): n for n in range(2)}
    crowd: Any = HammerSpammer(tasks=10, workers=5, classes=2, votes_per_task=3, seed=0)
    sizes = [simulate_shard(path, crowd, paths, None) for path in paths]
    assert sizes == [15, 15]
    assert [len(io.read(path)) for path in paths] == sizes
