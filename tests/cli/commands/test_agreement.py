from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from crowdpilot.diagnosis.agreement import MEASURES, measure_agreement
from crowdpilot.diagnosis.pairwise_agreement import cohen_kappa
from crowdpilot.io import read

Run = Callable[..., Result]

RATINGS = "task,worker,label\n" + "".join(
    f"t{t},w{w},{1 + (t + (t + w) % 4 // 3) % 3}\n" for t in range(12) for w in range(3)
)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_each_measure_comes_with_its_interval(here: Path, cli: Run) -> None:
    result = cli("agreement", "votes.csv")
    found = [tuple(map(float, list(row.values())[1:])) for row in rows(result.stdout)]
    assert result.stderr == ""
    assert result.stdout.startswith("measure,value,low,high,tasks\npercent_agreement,")
    assert found == [row[1:] for row in measure_agreement(read("votes.csv"))]
    assert len(found) == 4


def test_numbers_have_an_order(here: Path, cli: Run) -> None:
    (here / "ratings.csv").write_text(RATINGS)
    assert [row["measure"] for row in rows(cli("agreement", "ratings.csv").stdout)] == list(MEASURES)
    text = cli("agreement", "ratings.csv", "--classes", "1,2,3", "--samples", "9").stdout
    assert [row["measure"] for row in rows(text)] == list(MEASURES)


def test_measures_can_be_asked_for(here: Path, cli: Run) -> None:
    ordinal = "krippendorff_alpha_ordinal"
    args = ["--measure", f"gwet_ac1,{ordinal}", "--measure", "percent_agreement"]
    found = rows(cli("agreement", "votes.csv", *args).stdout)
    assert [row["measure"] for row in found] == ["gwet_ac1", ordinal, "percent_agreement"]


def test_the_interval_can_be_asked_for_otherwise(here: Path, cli: Run) -> None:
    (here / "ratings.csv").write_text(RATINGS)
    options = {"level": 0.5, "samples": 99, "seed": 3}
    args = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    found = rows(cli("agreement", "ratings.csv", *args).stdout)
    expected = measure_agreement(read("ratings.csv"), **options)
    assert [(float(row["low"]), float(row["high"])) for row in found] == [row[2:4] for row in expected]


def test_pairs_of_workers_are_compared(here: Path, cli: Run) -> None:
    (here / "ratings.csv").write_text(RATINGS)
    found = rows(cli("agreement", "ratings.csv", "--pairs").stdout)
    expected = cohen_kappa(read("ratings.csv"))
    assert list(found[0]) == ["worker", "other", "shared", "agreement", "kappa", "low", "high"]
    assert [(row["worker"], row["other"]) for row in found] == [("w0", "w1"), ("w0", "w2"), ("w1", "w2")]
    np.testing.assert_allclose([float(row["kappa"]) for row in found], expected.kappa)
    assert len(rows(cli("agreement", "ratings.csv", "--pairs", "--limit", "2").stdout)) == 2


def test_workers_who_share_too_little_are_reported_with_the_option(here: Path, cli: Run) -> None:
    result = cli("agreement", "votes.csv", "--pairs")
    assert result.stdout == "worker,other,shared,agreement,kappa,low,high\n"
    assert "--min-shared" in result.stderr
    assert len(rows(cli("agreement", "votes.csv", "--pairs", "--min-shared", "3").stdout)) == 3


def test_what_is_undefined_is_left_empty(here: Path, cli: Run) -> None:
    (here / "same.csv").write_text("task,worker,label\na,x,cat\na,y,cat\nb,x,cat\nb,y,cat\n")
    found = {row["measure"]: row["value"] for row in rows(cli("agreement", "same.csv").stdout)}
    assert found == {
        "percent_agreement": "1.0",
        "fleiss_kappa": "",
        "gwet_ac1": "1.0",
        "krippendorff_alpha": "",
    }


def test_one_vote_for_each_task_is_reported(here: Path, cli: Run) -> None:
    (here / "one.csv").write_text("task,worker,label\na,x,cat\nb,y,dog\n")
    result = cli("agreement", "one.csv")
    assert {row["value"] for row in rows(result.stdout)} == {""}
    assert result.stderr == "crowdpilot: no task has two votes, so there is nothing to agree on\n"


def test_rows_without_a_vote_are_counted(here: Path, cli: Run) -> None:
    result = cli("agreement", "votes.csv", "--abstain", "fish")
    assert "; 3 rows without a vote" in result.reading


@pytest.mark.parametrize("args", [[], ["--pairs", "--min-shared", "1"]])
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.jsonl", "out.parquet"])
def test_the_suffix_decides_the_format(name: str, args: list[str], here: Path, cli: Run) -> None:
    shown = rows(cli("agreement", "votes.csv", *args).stdout)
    assert cli("agreement", "votes.csv", *args, "-o", name).stdout == ""
    text = "" if name.endswith("parquet") else (here / name).read_text()
    found = {
        "out.csv": lambda: rows(text),
        "out.tsv": lambda: list(csv.DictReader(StringIO(text), delimiter="\t")),
        "out.jsonl": lambda: list(map(json.loads, text.splitlines())),
        "out.parquet": lambda: pq.read_table(here / name).to_pylist(),
    }[name]()
    assert [list(row) for row in found] == [list(row) for row in shown]
    column = "kappa" if args else "value"
    assert [float(row[column]) for row in found] == [float(row[column]) for row in shown]


def test_a_person_sees_a_table(here: Path, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    shown = cli("agreement", "votes.csv").stdout
    assert "gwet_ac1" in shown
    assert "gwet_ac1," not in shown


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--measure", "kappa"], "there is no measure 'kappa'"),
        (["--measure", "krippendorff_alpha_interval"], "a class is not a number"),
        (["--measure", "gwet_ac1", "--pairs"], "--measure cannot be given with --pairs"),
        (["--min-shared", "2"], "--min-shared can be given with --pairs only"),
        (["--limit", "2"], "--limit can be given with --pairs only"),
        (["--pairs", "--limit", "0"], "limit is 0"),
        (["--level", "95"], "level is 95"),
        (["-o", "out.xlsx"], "the suffix .xlsx is not known"),
    ],
)
def test_a_mistake_ends_in_one_sentence(args: list[str], message: str, here: Path, cli: Run) -> None:
    result = cli("agreement", "votes.csv", *args)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr


def test_measures_are_completed_and_listed(cli: Run) -> None:
    line = "crowdpilot agreement --measure krip"
    env = {"_CROWDPILOT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "3"}
    alphas = [name for name in MEASURES if name.startswith("krip")]
    assert cli(env=env).stdout.splitlines() == alphas
    shown = "".join(cli("agreement", "--help", env={"COLUMNS": "200"}).stdout.split())
    assert all(name.removeprefix("krippendorff_alpha") in shown for name in MEASURES)
