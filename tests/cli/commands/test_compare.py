from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]
QUICK = ("-s", "wawa", "-s", "crowdlab")


@pytest.fixture
def truth(here: Path) -> Path:
    (here / "truth.csv").write_text("task,label\nowl,bird\neel,fish\nemu,fish\n")
    return here


def test_strategies_are_in_one_table_with_majority(truth: Path, cli: Run) -> None:
    result = cli("compare", "votes.csv", "--truth", "truth.csv", *QUICK)
    rows = list(csv.DictReader(StringIO(result.stdout)))
    assert {row["strategy"] for row in rows} == {"majority_voting", "wawa"}
    assert all(float(row["accuracy"]) == pytest.approx(2 / 3) for row in rows)
    assert "crowdlab is left out: crowdlab needs the probabilities of a classifier" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("crowdpilot: no strategy is reliably better")
    assert "9 votes on 3 tasks" in result.reading


def test_table_and_picture_are_written_into_new_folders(truth: Path, cli: Run) -> None:
    out = cli(
        "compare", "votes.csv", "--truth", "truth.csv", *QUICK, "-o", "a/table.csv", "--plot", "b/c.svg"
    )
    assert (out.exit_code, out.stdout) == (0, "")
    assert "strategy,accuracy," in Path("a/table.csv").read_text()
    assert Path("b/c.svg").read_text().startswith("<?xml")


def test_json_has_an_object_for_each_strategy(truth: Path, cli: Run) -> None:
    rows = json.loads(cli("compare", "votes.csv", "--truth", "truth.csv", *QUICK, "--json").stdout)
    assert [set(row) >= {"strategy", "accuracy", "difference_low", "seconds"} for row in rows] == [True, True]


def test_a_person_sees_intervals_beside_their_values(
    truth: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert "66.7 (0.0 to 100.0)" in cli("compare", "votes.csv", "--truth", "truth.csv", *QUICK).stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("votes.csv",), "no true label is known to compare with: give truth= (--truth FILE)"),
        (("votes.csv", "--truth", "votes.csv", "-s", "nothing"), "no strategy is called 'nothing'"),
        (("-", "--truth", "-"), "cannot both be standard input (-)"),
        (("votes.csv", "--truth", "others.csv"), "rename them"),
    ],
)
def test_a_mistake_is_one_sentence(args: tuple[str, ...], message: str, truth: Path, cli: Run) -> None:
    (truth / "others.csv").write_text("task,label\ncat,bird\n")
    result = cli("compare", *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
