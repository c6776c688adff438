from __future__ import annotations

import csv
import signal
import subprocess
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from crowdpilot import io

Run = Callable[..., Result]

SMALL = ("--n-task", "50", "--n-worker", "8", "-K", "3", "--feedback", "4", "--seed", "7")


@pytest.fixture
def files(here: Path, cli: Run) -> Path:
    """A folder of three files of votes."""
    assert (
        cli("simulate", "-s", "independent-confusion", *SMALL, "--shards", "3", "-o", "votes").exit_code == 0
    )
    return here / "votes"


def labels(folder: Path) -> dict[str, str]:
    table = pa.concat_tables([pq.read_table(file) for file in sorted(folder.glob("*.parquet"))])
    return dict(zip(map(str, table["task"].to_pylist()), map(str, table["label"].to_pylist()), strict=True))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def of_one_file(cli: Run, *options: str) -> dict[str, str]:
    io.write(io.read("votes", repeats="all"), "one.csv")
    return {row["task"]: row["label"] for row in rows(cli("aggregate", "one.csv", *options).stdout)}


@pytest.mark.parametrize("source", ["votes/*.parquet", "votes"])
def test_labels_of_many_files_lie_beside_them(source: str, files: Path, cli: Run) -> None:
    result = cli("aggregate", source, "-s", "ds", "--workers", "workers.csv")
    assert result.stdout == ""
    assert result.stderr == f"crowdpilot: 50 tasks in 3 files are labelled in {files / '_labels'}\n"
    assert labels(files / "_labels") == of_one_file(cli, "-s", "ds", "--workers", "one-workers.csv")
    found, expected = (rows(Path(name).read_text()) for name in ("workers.csv", "one-workers.csv"))
    skills = [[float(row["skill"]) for row in table] for table in (found, expected)]
    np.testing.assert_allclose(*skills)
    assert [row["votes"] for row in found] == [row["votes"] for row in expected]


def test_a_second_run_does_not_read_the_labels_of_the_first(files: Path, cli: Run) -> None:
    results = [cli("aggregate", "votes/*.parquet", "-s", "mv") for _ in range(2)]
    assert results[0].stderr == results[1].stderr


def test_a_folder_can_be_chosen_and_all_probabilities_be_asked_for(files: Path, cli: Run) -> None:
    assert cli("aggregate", "votes/*.parquet", "-s", "ns", "-o", "out", "--probs").exit_code == 0
    assert {"p_0", "p_1", "p_2"} < set(pq.read_table("out/part-00000.parquet").column_names)


def test_a_folder_can_still_be_read_as_one(files: Path, cli: Run) -> None:
    assert len(rows(cli("aggregate", "votes", "-s", "kos").stdout)) == 50
    assert cli("aggregate", "votes", "-s", "ds", "-o", "out.csv").exit_code == 0
    assert len(rows(Path("out.csv").read_text())) == 50


def test_the_iterations_on_one_file_can_run_on_torch(here: Path, cli: Run) -> None:
    pytest.importorskip("torch")
    here_, there = (cli("aggregate", "votes.csv", "-s", "ds", *more) for more in ((), ("--device", "cpu")))
    assert [row["label"] for row in rows(there.stdout)] == [row["label"] for row in rows(here_.stdout)]
    result = cli("aggregate", "votes.csv", "-s", "kos", "--device", "cpu")
    assert result.stderr == "crowdpilot: kos runs in memory only, so leave out --device\n"


def test_what_is_known_of_tasks_and_workers_is_used(files: Path, cli: Run) -> None:
    Path("gold.csv").write_text("task,label\n0,1\n49,2\n")
    Path("out.csv").write_text("worker\n3\n")
    options = ("-s", "ds", "--gold", "gold.csv", "--exclude", "out.csv", "--abstain", "0")
    result = cli("aggregate", "votes/*.parquet", *options)
    assert labels(files / "_labels") == of_one_file(cli, *options)
    assert "rows hold no vote" in result.stderr
    assert "1 of 8 workers" in result.stderr


@pytest.mark.thorough  # starts a cluster
def test_a_cluster_of_processes_gives_the_same_labels(
    files: Path, cli: Run, start: Callable[..., subprocess.Popen[str]]
) -> None:
    pytest.importorskip("distributed")
    process = start("aggregate", "votes/*.parquet", "-s", "ds", "--local-cluster", "1", "-v")
    stdout, stderr = process.communicate(timeout=100)
    assert (stdout, process.returncode) == ("", 0)
    assert "200 votes, 50 tasks, 8 workers, 3 classes by dawid_skene, " in stderr
    assert labels(files / "_labels") == of_one_file(cli, "-s", "ds")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("aggregate", "votes/*.parquet"), "auto needs all votes at once"),
        (("aggregate", "none/*.parquet", "-s", "ds"), "there is no Parquet file here"),
        (("aggregate", "votes/*.parquet", "-s", "ds", "-o", "out.csv"), "expected a folder"),
        (("aggregate", "votes/*.parquet", "-s", "ds", "--device", "cuda"), "--device is for"),
        (("aggregate", "votes/*.parquet", "-s", "ds", "--format", "csv"), "leave out --format"),
        (("aggregate", "votes/*.parquet", "-s", "ds", "--cluster", "a", "--local-cluster", "1"), "exclude"),
        (("identify", "votes/*.parquet", "-s", "drift"), "needs all votes at once"),
        (("identify", "votes/*.parquet", "-s", "gold"), "no true label is known"),
        (("simulate", *SMALL, "--shards", "3"), "no file to write is named"),
        (("simulate", *SMALL, "--shards", "3", "-o", "votes"), "exists already"),
        (("simulate", *SMALL, "--shards", "51", "-o", "new"), "expected 1 to 50"),
        (("simulate", *SMALL, "--shards", "2", "-o", "new", "--workerload", "40"), "max_votes_per_worker"),
        (("simulate", *SMALL, "--local-cluster", "1", "-o", "new"), "need --shards"),
        (("convert", "votes", "votes", "--shards", "2"), "exists already"),
        (("convert", "votes", "new", "--shards", "0"), "expected 1 or more"),
        (("convert", "votes", "new", "--shards", "2", "--to", "csv"), "leave out --to"),
        (("convert", "votes", "new", "--shards", "2", "--repeats", "last"), "leave it out"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line(
    args: tuple[str, ...], problem: str, files: Path, cli: Run
) -> None:
    result = cli(*args)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("new").exists()


@pytest.mark.parametrize("strategy", ["trace_confusion", "spam_score", "glad", "gold"])
def test_workers_of_many_files_are_scored_as_those_of_one(strategy: str, files: Path, cli: Run) -> None:
    Path("gold.csv").write_text("task,label\n" + "".join(f"{n},{n % 3}\n" for n in range(50)))
    options = ("-s", strategy, "-l", "ds", "--gold", "gold.csv")
    found = rows(cli("identify", "votes/*.parquet", *options).stdout)
    io.write(io.read("votes"), "one.csv")
    expected = rows(cli("identify", "one.csv", *options).stdout)
    assert [row["worker"] for row in found] == [row["worker"] for row in expected]
    for column in found[0]:
        np.testing.assert_allclose(
            *([float(row[column]) for row in table] for table in (found, expected)), rtol=1e-6
        )


def test_entropies_go_to_files_and_the_highest_are_shown(files: Path, cli: Run) -> None:
    shown = rows(cli("identify", "votes/*.parquet", "-s", "entropy").stdout)
    io.write(io.read("votes"), "one.csv")
    expected = [float(row["entropy"]) for row in rows(cli("identify", "one.csv", "-s", "entropy").stdout)]
    np.testing.assert_allclose([float(row["entropy"]) for row in shown], expected[: len(shown)])
    tables = [pq.read_table(file) for file in (files / "_entropy").iterdir()]
    assert sum(map(len, tables)) == 50


def test_any_votes_can_be_cut_into_files_with_a_task_in_one_of_them(here: Path, cli: Run) -> None:
    result = cli("convert", "votes.csv", "new", "--shards", "2")
    assert result.stderr == "crowdpilot: 9 votes written to 2 files in new\n"
    assert cli("aggregate", "new", "-s", "mv").exit_code == 0
    assert labels(here / "new" / "_labels") == {"owl": "bird", "eel": "fish", "emu": "bird"}


def test_files_that_share_tasks_can_be_cut_anew(here: Path, cli: Run) -> None:
    header, *lines = Path("votes.csv").read_text().splitlines()
    Path("old").mkdir()
    for n, part in enumerate((lines[:5], lines[5:])):
        Path("part.csv").write_text("\n".join([header, *part]))
        io.write(io.read("part.csv"), f"old/{n}.parquet")
    assert "task 'eel' has votes in" in cli("aggregate", "old", "-s", "mv").stderr
    assert cli("convert", "old/*.parquet", "new", "--shards", "2").exit_code == 0
    cli("aggregate", "new", "-s", "mv")
    assert labels(here / "new" / "_labels") == {"owl": "bird", "eel": "fish", "emu": "bird"}


def test_simulated_files_have_one_crowd_and_a_truth(here: Path, cli: Run) -> None:
    options = (
        "-s",
        "hammer-spammer",
        "--ratio",
        "0.5",
        "--n-task",
        "600",
        "--n-worker",
        "6",
        "--feedback",
        "3",
    )
    assert cli("simulate", *options, "--shards", "4", "-o", "votes", "--truth", "truth").exit_code == 0
    right = []
    for file in sorted(Path("votes").iterdir()):
        votes, truth = io.read(file), io.read_labels(Path("truth") / file.name)
        hit = (
            votes.classes[votes.label] == np.array([truth[task] for task in votes.tasks.tolist()])[votes.task]
        )
        order = np.argsort(votes.workers)
        right.append(votes.worker_mean(hit.astype(float))[order])
    assert len(io.read("votes").tasks) == 600
    np.testing.assert_allclose(right[0][:3], 1)
    assert max(np.abs(np.array(right)[:, 3:] - 0.2).ravel()) < 0.2


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_codes_on_disk_are_removed_when_the_command_is_stopped(
    sign: signal.Signals, code: int, files: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    Path("room").mkdir()
    process = start("aggregate", "votes/*.parquet", "-s", "ds[max_iter=10000000,tol=-1]", TMPDIR="room")
    while not list(Path("room").glob("crowdpilot-*/2")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(sign)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "crowdpilot: interrupted; nothing was written\n")
    assert list(Path("room").iterdir()) == []
