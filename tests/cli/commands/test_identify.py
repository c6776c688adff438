from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from crowdpilot.cli.shared.training.content_scores import CONTENT_SCORES
from crowdpilot.diagnosis import IDENTIFICATIONS

Run = Callable[..., Result]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_the_worst_worker_comes_first(here: Path, cli: Run) -> None:
    found = rows(cli("identify", "votes.csv").stdout)
    assert found[0]["worker"] == "cem"
    assert {row["worker"] for row in found} == {"ann", "bob", "cem"}
    assert {"skill", "skill_low", "skill_high", "spam_score", "flags"} <= found[0].keys()


def test_disputed_tasks_come_first(here: Path, cli: Run) -> None:
    found = rows(cli("identify", "votes.csv", "-s", "entropy").stdout)
    assert found[-1]["task"] == "emu"
    assert float(found[-1]["entropy"]) == 0


def test_the_table_goes_to_a_file(here: Path, cli: Run) -> None:
    assert cli("identify", "votes.csv", "-s", "tasks", "-o", "tasks.parquet").stdout == ""
    assert pq.read_table("tasks.parquet").num_rows == 3


def test_an_array_has_the_score_in_the_order_of_the_votes(here: Path, cli: Run) -> None:
    cli("identify", "votes.csv", "-s", "entropy", "-o", "entropies.npy")
    split = -(2 * np.log(2 / 3) + np.log(1 / 3)) / 3
    np.testing.assert_allclose(np.load("entropies.npy"), [split, split, 0])


def test_gold_labels_come_from_a_file(here: Path, cli: Run) -> None:
    (here / "gold.csv").write_text("task,label\nowl,bird\neel,fish\n")
    found = rows(cli("identify", "votes.csv", "-s", "gold", "--gold", "gold.csv").stdout)
    assert found[0] == {
        "worker": "cem", "votes": "3", "gold_votes": "2", "gold_accuracy": "0.0", "fails": "False"
    }  # fmt: skip


def test_any_aggregator_can_give_the_labels(here: Path, cli: Run) -> None:
    assert cli("identify", "votes.csv", "-s", "skill", "-l", "DSWC[L=2]").exit_code == 0


def test_help_names_every_identification(cli: Run) -> None:
    shown = "".join(cli("identify", "--help").stdout.split())
    assert [name for name in (*IDENTIFICATIONS, *CONTENT_SCORES) if name not in shown.replace("│", "")] == []


@pytest.mark.parametrize("name", ["AUM", "waum", "WAUM_perworker"])
def test_tasks_are_scored_by_a_classifier_of_their_content(name: str, crowd_files: Path, cli: Run) -> None:
    found = rows(cli("identify", "crowd.csv", "-s", name, "--x", "x.npz", "--epochs", "3").stdout)
    scores = [float(row[name.lower()]) for row in found]
    assert {row["task"] for row in found} == {f"t{n}" for n in range(120)}
    assert scores == sorted(scores)
    assert [row["ambiguous"] for row in found].count("True") == 2
    assert found[0]["ambiguous"] == "True"


def test_votes_on_which_a_classifier_disagrees_come_first(crowd_files: Path, cli: Run) -> None:
    lines = Path("crowd.csv").read_text().splitlines()
    truth = dict(line.split(",") for line in Path("truth.csv").read_text().splitlines()[1:])
    other = {"bird": "fish", "fish": "newt", "newt": "bird"}
    swapped = {"t5", "t50", "t77"}
    for n, line in enumerate(lines):
        task, worker, _ = line.split(",")
        if task in swapped:
            lines[n] = f"{task},{worker},{other[truth[task]]}"
    Path("crowd.csv").write_text("\n".join(lines))
    asked = ("-s", "WAUM", "--x", "x.npz", "--use-pleiss", "--epochs", "30")
    cli("identify", "crowd.csv", *asked, "--alpha", ".05", "--too-hard", "hard.txt", "-o", "waum.npy")
    hard = Path("hard.txt").read_text().split()
    assert len(hard) == 6
    assert swapped <= set(hard)
    order = list(dict.fromkeys(line.split(",")[0] for line in lines[1:]))
    assert [order[n] for n in np.argsort(np.load("waum.npy"))[:6]] == hard


def test_options_of_the_training_change_the_scores(crowd_files: Path, cli: Run) -> None:
    plain = ("identify", "crowd.csv", "-s", "waum", "--x", "x.npz", "--epochs", "2")
    others = [
        ("--folds", "2"), ("--topk", "2"), ("--seed", "1"), ("--network", "linear"), ("--use-pleiss",),
        ("-l", "dawid_skene[smoothing=9.]"),
    ]  # fmt: skip
    found = [cli(*plain, *other).stdout for other in ((), *others)]
    assert len(set(found)) == len(found)
    assert cli(*plain, "--device", "cpu").stdout == found[0]


def test_an_x_is_not_ignored(crowd_files: Path, cli: Run) -> None:
    result = cli("identify", "crowd.csv", "-s", "entropy", "--x", "x.npz")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "--x is for AUM, WAUM, WAUM_perworker" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("-s", "WAUM"), "--x must say what the tasks hold"),
        (("-s", "WAUM", "--x", "no.npz"), "there is no such file"),
        (("-s", "WAUM", "--topk", "0"), "topk is 0"),
        (("-s", "WAUM[beta=1]"), "waum has no option 'beta'"),
        (("-s", "waum_perworker", "--folds", "3"), "holds nothing out"),
        (("-s", "spam"), "did you mean spam_score"),
        (("-s", "drift"), "no time"),
        (("-o", "x.doc"), "suffix .doc is not known"),
        (("-l", "dss"), "no strategy is called"),
    ],
)
def test_a_mistake_ends_in_one_sentence(
    options: tuple[str, ...], sentence: str, here: Path, cli: Run
) -> None:
    result = cli("identify", "votes.csv", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
