from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from crowdpilot.diagnose import IDENTIFICATIONS

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
    assert [name for name in IDENTIFICATIONS if name not in shown.replace("│", "")] == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("-s", "WAUM"), "content of the tasks"),
        (("-s", "spam"), "there are workers"),
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
