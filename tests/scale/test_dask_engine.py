from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdpilot import io
from crowdpilot.aggregation import MODELS, DawidSkene, MajorityVoting
from crowdpilot.scale import FilesAggregate, Shards, aggregate_files, count_labels_in_files, simulate_files
from crowdpilot.simulation import IndependentConfusion
from crowdpilot.votes import Votes

pytest.importorskip("distributed")

from crowdpilot.scale.dask_engine import DaskEngine, local_cluster

pytestmark = [
    pytest.mark.thorough,  # starts a cluster
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # its open sockets
]
QUICK = DawidSkene(tol=1e-3)
CROWD = IndependentConfusion(tasks=900, workers=40, classes=4, votes_per_task=5, seed=3)


@pytest.fixture(scope="module")
def cluster() -> Iterator[DaskEngine]:
    """Two processes."""
    with local_cluster(2) as cluster:
        yield cluster
    gc.collect()  # sockets that Dask has left open are not found in later tests


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of nine files."""
    folder = tmp_path_factory.mktemp("cluster") / "votes"
    simulate_files(CROWD, folder, 9)
    return folder


def collect(result: FilesAggregate) -> pa.Table:
    return pa.concat_tables([pq.read_table(file) for file in result.label_files])


@pytest.mark.parametrize("name", ["dawid_skene", "hybrid_dawid_skene", "glad", "naive_soft"])
def test_a_cluster_gives_the_labels_of_one_process(
    name: str, cluster: DaskEngine, votes: Path, tmp_path: Path
) -> None:
    expected = MODELS[name]().fit(io.read(votes))
    result = aggregate_files(MODELS[name](), Shards(votes), engine=cluster, output=tmp_path)
    found = collect(result)
    assert found["task"].to_pylist() == expected.votes.tasks.tolist()
    assert found["label"].to_pylist() == expected.labels.tolist()
    np.testing.assert_allclose(found["confidence"], expected.confidence, atol=1e-7)
    np.testing.assert_allclose(result.skill, expected.skill, atol=1e-7)


def test_a_killed_process_changes_nothing(cluster: DaskEngine, votes: Path, tmp_path: Path) -> None:
    before = aggregate_files(QUICK, Shards(votes), engine=cluster, output=tmp_path / "before", probs=True)
    killed: list[int] = []
    processes = cluster.client.run(os.getpid)

    def kill(stage: str, done: int, total: int) -> None:
        if stage == "iterations" and done == 3:
            killed.append(next(iter(processes.values())))
            threading.Timer(0.005, os.kill, (killed[0], signal.SIGKILL)).start()  # in the next iteration

    after = aggregate_files(
        QUICK, Shards(votes), engine=cluster, output=tmp_path / "after", probs=True, progress=kill
    )
    cluster.client.wait_for_workers(2)
    assert killed
    assert killed[0] not in cluster.client.run(os.getpid).values()
    old, new = collect(before), collect(after)
    assert old["label"] == new["label"]
    for name in ("p_0", "p_1", "p_2", "p_3"):
        np.testing.assert_allclose(new[name], old[name], rtol=0, atol=1e-12)
    np.testing.assert_allclose(after.skill, before.skill, rtol=0, atol=1e-12)
    assert after.trace == pytest.approx(before.trace, rel=1e-12)


def test_all_processes_may_die_between_two_iterations(cluster: DaskEngine, votes: Path) -> None:
    expected = aggregate_files(QUICK, Shards(votes))

    def kill(stage: str, done: int, total: int) -> None:
        if stage == "iterations" and done == 2:
            for process in cluster.client.run(os.getpid).values():
                os.kill(process, signal.SIGKILL)

    found = aggregate_files(QUICK, Shards(votes), engine=cluster, progress=kill)
    cluster.client.wait_for_workers(2)
    np.testing.assert_allclose(found.skill, expected.skill, rtol=0, atol=1e-9)


def test_a_cluster_simulates_the_same_crowd(cluster: DaskEngine, votes: Path, tmp_path: Path) -> None:
    n_votes = simulate_files(CROWD, tmp_path / "votes", 9, engine=cluster, truth=tmp_path / "truth")
    assert n_votes == 4500
    for file in sorted(votes.iterdir()):
        assert pq.read_table(file) == pq.read_table(tmp_path / "votes" / file.name)
    assert len(io.read_labels(tmp_path / "truth" / "part-00000.parquet")) == 100


def test_labels_are_counted_on_a_cluster(cluster: DaskEngine, votes: Path) -> None:
    here, there = (count_labels_in_files(QUICK, Shards(votes), engine=engine) for engine in (None, cluster))
    assert here.workers.tolist() == there.workers.tolist()
    np.testing.assert_allclose(there.counts, here.counts, atol=1e-7)


def test_stages_report_their_progress(cluster: DaskEngine, votes: Path, tmp_path: Path) -> None:
    calls: list[tuple[Any, ...]] = []
    aggregate_files(
        QUICK, Shards(votes), engine=cluster, output=tmp_path, progress=lambda *call: calls.append(call)
    )
    assert calls[:9] == [("reading", n, 9) for n in range(1, 10)]
    assert calls[9] == ("iterations", 1, QUICK.max_iter)
    assert calls[-1] == ("writing", 9, 9)


def test_errors_of_a_process_are_those_of_the_reader(cluster: DaskEngine, tmp_path: Path) -> None:
    io.write(Votes.of(["cat", "owl"], ["w", "w"], ["x", "y"]), tmp_path / "a.parquet")
    io.write(Votes.of(["eel", "owl"], ["w", "v"], ["x", "y"]), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"task 'owl' has votes in .*a\.parquet and in .*b\.parquet"):
        aggregate_files(MajorityVoting(), Shards(tmp_path), engine=cluster)
    with pytest.raises(ValueError, match="must reach the files under the same path"):
        aggregate_files(MajorityVoting(), Shards([tmp_path / "gone.parquet"]), engine=cluster)


def test_a_wrong_address_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no Dask scheduler at 'nonsense://x'"):
        DaskEngine("nonsense://x")
