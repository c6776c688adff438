from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from crowdpilot import io
from crowdpilot.simulation import STRATEGIES, make_crowd

Run = Callable[..., Result]

SMALL = ("--n-task", "20", "--n-worker", "6", "-K", "3", "--feedback", "4", "--seed", "7")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_crowd_fills_a_folder_that_can_be_read(strategy: str, here: Path, cli: Run) -> None:
    assert cli("simulate", "-s", strategy, *SMALL, "--folder", "crowd").exit_code == 0
    votes = io.read("crowd")
    assert (len(votes), len(votes.tasks)) == (80, 20)
    metadata = json.loads((here / "crowd" / "metadata.json").read_text())
    assert (metadata["n_classes"], metadata["n_workers"]) == (3, 6)
    assert np.load("crowd/ground_truth.npy").shape == (20,)


@pytest.mark.parametrize("target", ["votes.tsv", "votes.parquet", "votes.jsonl"])
def test_votes_and_truth_can_be_files(target: str, here: Path, cli: Run) -> None:
    assert cli("simulate", *SMALL, "-o", target, "--truth", "truth.csv").exit_code == 0
    simulation = make_crowd(
        "hammer-spammer", {"tasks": 20, "workers": 6, "classes": 3, "votes_per_task": 4, "seed": 7}
    ).run()
    votes = io.read(target)
    assert votes.tasks[votes.task].tolist() == simulation.votes.task.tolist()
    assert votes.classes[votes.label].tolist() == simulation.votes.label.tolist()
    assert list(io.read_labels("truth.csv").values()) == simulation.truth.tolist()


def test_the_seed_decides_everything(here: Path, cli: Run) -> None:
    for seed, name in (("1", "a.csv"), ("1", "b.csv"), ("2", "c.csv")):
        cli("simulate", *SMALL, "--seed", seed, "-o", name)
    a, b, c = ((here / name).read_text() for name in ("a.csv", "b.csv", "c.csv"))
    assert a == b
    assert a != c


def test_every_option_reaches_the_crowd(here: Path, cli: Run) -> None:
    numbers = {
        "ratio": 0.5, "ratio-diff": 2, "random": 0.1, "good": 0.3, "bad": 4, "tail": 0.5, "drifting": 0.2,
        "colluding": 0.4, "group-size": 2, "abstain": 0.1, "seconds": 9, "workerload": 19,
    }  # fmt: skip
    args = [part for name, value in numbers.items() for part in (f"--{name}", str(value))]
    more = ["--prior", "0.5,0.3,0.2", "--imbalance-votes", "--folder", "crowd"]
    result = cli("simulate", "-s", "discrete-difficulty", *SMALL, *args, *more)
    assert result.exit_code == 0, result.stderr
    written = json.loads((here / "crowd" / "metadata.json").read_text())
    assert {name: written[name.replace("-", "_")] for name in numbers} == numbers
    assert (written["prior"], written["imbalance_votes"]) == ([0.5, 0.3, 0.2], True)


def test_matrices_can_be_given(here: Path, cli: Run) -> None:
    np.save("eye.npy", np.broadcast_to(np.eye(3), (6, 3, 3)))
    crowd = ("-s", "independent-confusion", "--matrix-file", "eye.npy", "--folder", "crowd")
    assert cli("simulate", *SMALL, *crowd).exit_code == 0
    votes, truth = io.read("crowd"), np.load("crowd/ground_truth.npy")
    assert (votes.classes[votes.label] == truth[votes.tasks[votes.task].astype(int)]).all()


def test_the_concentration_of_matrices_can_be_set(here: Path, cli: Run) -> None:
    cli("simulate", "-s", "student-teacher", *SMALL, "--concentration", "0.001", "--folder", "sure")
    assert (np.load("sure/matrices.npy").max(axis=2) > 0.9).mean() > 0.9
