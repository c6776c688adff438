"""`crowdpilot aggregate-deep`: labels that votes and a classifier give together."""

from __future__ import annotations

import csv
import inspect
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from crowdpilot import io, metrics
from crowdpilot.cli.commands.aggregate_deep import DEFAULT_METHOD
from crowdpilot.learning import METHODS, CrowdClassifier

Run = Callable[..., Result]
Load = Callable[[str], dict[str, np.ndarray]]
QUICK = ("--x", "x.npz", "--network", "linear", "--epochs", "8", "--lr", "0.05")


def test_labels_of_all_tasks_go_to_standard_output_in_the_order_of_the_votes(
    crowd_files: Path, cli: Run
) -> None:
    result = cli("aggregate-deep", "crowd.csv", *QUICK, "-s", "crowdlayer")
    rows = list(csv.DictReader(StringIO(result.stdout)))
    assert list(rows[0]) == ["task", "label", "confidence"]
    assert [row["task"] for row in rows] == io.read("crowd.csv").tasks.tolist()
    truth = io.read_labels("truth.csv")
    assert np.mean([truth[row["task"]] == row["label"] for row in rows]) > 0.85
    assert result.stderr == ""


def test_they_are_the_posterior_of_the_library(crowd_files: Path, cli: Run, load: Load) -> None:
    cli("aggregate-deep", "crowd.csv", *QUICK, "-s", "crowdlayer[kind='vw']", "-o", "out.npy", "--seed", "5")
    file, votes = load("x.npz"), io.read("crowd.csv")
    model = CrowdClassifier("linear", "crowdlayer[kind='vw']", epochs=8, lr=0.05, seed=5)
    model.fit(file["x"], votes, tasks=file["task"].tolist())
    index = {name: n for n, name in enumerate(file["task"].tolist())}
    order = [index[task] for task in votes.tasks.tolist()]
    np.testing.assert_allclose(np.load("out.npy"), model.posterior_[order], atol=1e-6)


def test_a_file_also_counts_the_votes_and_has_probabilities_if_wanted(crowd_files: Path, cli: Run) -> None:
    cli("aggregate-deep", "crowd.csv", *QUICK, "-s", "crowdlayer", "-o", "out.parquet", "--probs")
    table = pq.read_table("out.parquet")
    classes = ["p_bird", "p_fish", "p_newt"]
    assert table.column_names == ["task", "label", "confidence", "votes", *classes]
    assert set(table["votes"].to_pylist()) == {3}
    np.testing.assert_allclose(sum(table[name].to_numpy() for name in classes), 1)


def test_tasks_without_votes_come_last(crowd_files: Path, cli: Run) -> None:
    lines = Path("crowd.csv").read_text().splitlines()
    Path("some.csv").write_text("\n".join(line for line in lines if not line.startswith("t7,")))
    cli("aggregate-deep", "some.csv", *QUICK, "-s", "crowdlayer", "-o", "out.csv")
    *others, last = csv.DictReader(StringIO(Path("out.csv").read_text()))
    assert len(others) == 119
    assert (last["task"], last["votes"]) == ("t7", "0")


def test_scores_are_printed_and_written(crowd_files: Path, cli: Run) -> None:
    measured = ("--truth", "truth.csv", "--test-x", "test.npz", "--test-labels", "test.csv")
    result = cli(
        "aggregate-deep",
        "crowd.csv",
        *QUICK,
        "-s",
        "crowdlayer",
        *measured,
        "--results",
        "out.json",
        "-o",
        "out.csv",
    )
    assert result.stdout == ""
    found = json.loads(Path("out.json").read_text())
    assert set(found["scores"]) == {"train", "labels", "test"}
    truth = io.read_labels("truth.csv")
    labels = io.read_labels("out.csv")
    accuracy = metrics.accuracy(list(truth.values()), [labels[task] for task in truth])
    assert found["scores"]["labels"]["accuracy"] == accuracy
    assert f"labels: accuracy {accuracy:.4f}" in result.stderr
    assert found["model"]["method"] == "crowdlayer"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_run(name: str, crowd_files: Path, cli: Run, load: Load) -> None:
    result = cli("aggregate-deep", "crowd.csv", *QUICK, "-s", name, "-o", "out.npy")
    assert result.exit_code == 0
    np.testing.assert_allclose(np.load("out.npy").sum(axis=1), 1)


def results(cli: Run, *args: str) -> dict[str, Any]:
    done = cli("aggregate-deep", "crowd.csv", *QUICK, *args, "--results", "out.json", "-o", "out.csv")
    assert done.exit_code == 0
    found: dict[str, Any] = json.loads(Path("out.json").read_text())
    return found


@pytest.mark.parametrize(
    ("strategy", "method", "training"),
    [
        ("dasc", "crowdlayer", "dasc"),
        ("DASC[rounds=2]", "crowdlayer", "DASC[rounds=2]"),
        (
            "random[base='crowdlayer[kind=\"vw\"]',rounds=2,add=20]",
            'crowdlayer[kind="vw"]',
            "random[rounds=2,add=20]",
        ),
    ],
)
def test_self_training_has_a_base(
    strategy: str, method: str, training: str, crowd_files: Path, cli: Run
) -> None:
    short = ("--epochs", "2")
    named = results(cli, "-s", strategy, *short)
    assert named["settings"]["method"] == method
    assert named["settings"]["self_training"] == training
    assert named["rounds"][0]["pseudo_votes"] == [0, 0, 0]
    assert sum(named["rounds"][1]["pseudo_votes"]) > 0
    by_option = results(cli, "-s", method, "--self-training", training, *short)
    assert (named["epochs"], named["rounds"]) == (by_option["epochs"], by_option["rounds"])


def test_pruned_tasks_are_named_and_have_a_label_all_the_same(crowd_files: Path, cli: Run) -> None:
    found = results(cli, "-s", "crowdlayer", "--prune", "entropy[alpha=.05]")
    assert len(found["pruned"]) == 6
    labels = io.read_labels("out.csv")
    assert set(found["pruned"]) < set(labels)
    assert len(labels) == 120
    assert results(cli, "-s", "crowdlayer")["pruned"] == []


def test_classes_may_be_counted(crowd_files: Path, cli: Run) -> None:
    text = Path("crowd.csv").read_text()
    for number, name in enumerate(("bird", "fish", "newt")):
        text = text.replace(name, str(number))
    Path("crowd.csv").write_text(text)
    assert results(cli, "-s", "crowdlayer", "-K", "4")["model"]["classes"] == ["0", "1", "2", "3"]


def test_what_is_done_if_no_method_is_named_is_what_the_library_does() -> None:
    default = inspect.signature(CrowdClassifier).parameters["method"].default
    assert default == DEFAULT_METHOD
    assert default in METHODS


WRONG = {
    "self-training over nothing": ("-s", "dasc[base='nothing']"),
    "self-training twice": ("-s", "dasc", "--self-training", "dasc"),
    "broken options of self-training": ("-s", "dasc[rounds"),
    "an unknown pruning": ("--prune", "scissors"),
    "classes by_option twice": ("-K", "3", "--classes", "bird,fish,newt"),
    "weights for a network that has none": ("--pretrained",),
    "an unknown method": ("-s", "crowdlyer"),
    "an option the method does not have": ("-s", "crowdlayer[scale=2]"),
    "a table of another format": ("-o", "out.xlsx"),
    "results that are no JSON": ("--results", "out.txt"),
}


@pytest.mark.parametrize("args", WRONG.values(), ids=WRONG)
def test_a_mistake_ends_in_one_sentence(args: tuple[str, ...], crowd_files: Path, cli: Run) -> None:
    before = set(crowd_files.iterdir())
    result = cli("aggregate-deep", "crowd.csv", *QUICK, *args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert set(crowd_files.iterdir()) == before


def test_a_name_that_is_nearly_right_is_guessed(crowd_files: Path, cli: Run) -> None:
    assert "did you mean crowdlayer?" in cli("aggregate-deep", "crowd.csv", *QUICK, "-s", "crowdlyer").stderr
