"""`--json`: the table that is printed, as records."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

from tests.cli.listing import commands

Run = Callable[..., Result]

QUICK = "--epochs 2 --network linear"
TABLES = {  # a call of every command that prints a table
    "aggregate": "aggregate crowd.csv --probs",
    "compare": "compare crowd.csv --truth truth.csv -s wawa --samples 20",
    "score": "score labels.csv truth.csv --samples 20",
    "strategies": "strategies",
    "identify": "identify crowd.csv -s skill",
    "agreement": "agreement crowd.csv --samples 20",
    "train": f"train crowd.csv --x x.npz --test-x test.npz --test-labels test.csv {QUICK}",
    "aggregate-deep": f"aggregate-deep crowd.csv --x x.npz --probs {QUICK}",
    "predict": "predict model.safetensors test.npz --probs",
    "keys list": "keys list -d keys.db",
    "members list": "members list -d keys.db",
    "datasets": "datasets",
    "datasets info": "datasets info anesthesia",
    "forecast": "forecast --skill .8 --items 30 --runs 3",
    "replay": "replay crowd.csv --truth truth.csv --seeds 1 -p fixed[votes=1]",
    "audit": "audit labels.csv --checked check.csv",
    "next": "next --votes crowd.csv",
}
OTHERWISE = {
    "strategies",
    "compare",  # which measures seconds
    "datasets info",
    "forecast",
    "replay",
    "audit",
    "next",
}  # whose JSON tells more than the table
NONE = {
    "report",
    "convert",
    "simulate",
    "serve",
    "demo",
    "keys create",
    "keys revoke",
    "keys link",
    "members add",
    "members remove",
    "members role",
    "backup",
    "restore",
    "secrets rotate",
    "datasets get",
    "project create",
    "project settings",
    "connect label-studio",
}  # print no table


@pytest.fixture
def made(crowd_files: Path, cli: Run) -> Path:
    """A folder with all that the calls read."""
    cli("aggregate", "crowd.csv", "-s", "mv", "-o", "labels.csv", "--probs")
    cli("audit", "labels.csv", "--sample", "5", "-o", "check.csv")
    rows = list(csv.DictReader(StringIO((crowd_files / "check.csv").read_text())))
    Path("check.csv").write_text("task,label\n" + "".join(f"{row['task']},bird\n" for row in rows))
    return crowd_files


def test_every_command_that_prints_a_table_is_here() -> None:
    found = {name: {o for p in command.params for o in p.opts} for name, command in commands().items()}
    assert TABLES.keys() | NONE == found.keys()
    assert {name for name, options in found.items() if "--json" in options} == TABLES.keys()


@pytest.mark.parametrize("name", sorted(TABLES.keys() - OTHERWISE))
def test_records_are_the_rows_of_the_table(name: str, made: Path, cli: Run) -> None:
    if name == "predict":
        cli("train", "crowd.csv", "--x", "x.npz", *QUICK.split(), "--save", "model.safetensors")
    if name in ("keys list", "members list"):
        cli("keys", "create", "ann", "-d", "keys.db")
    plain, as_json = cli(*TABLES[name].split()), cli(*TABLES[name].split(), "--json")
    assert (plain.exit_code, as_json.exit_code) == (0, 0), as_json.stderr
    rows, records = list(csv.DictReader(StringIO(plain.stdout))), json.loads(as_json.stdout)
    assert records
    assert [list(row) for row in rows] == [list(record) for record in records]
    cells = [cell for row in rows for cell in row.values()]
    values = [value for record in records for value in record.values()]
    assert [pair for pair in zip(cells, values, strict=True) if not same(*pair)] == []


def same(cell: str, value: Any) -> bool:
    """Whether a cell of CSV and a value of JSON are the same, to the last digit."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(cell) == value
    return cell == ("" if value is None else str(value))


@pytest.mark.parametrize("name", sorted(OTHERWISE))
def test_where_there_is_more_to_tell_json_tells_it_and_nothing_else_is_printed(
    name: str, made: Path, cli: Run
) -> None:
    assert json.loads(cli(*TABLES[name].split(), "--json").stdout)


def test_a_number_that_is_not_there_is_null(here: Path, cli: Run) -> None:
    Path("one.csv").write_text("task,worker,label\na,x,1\na,y,1\n")
    (record,) = json.loads(cli("agreement", "one.csv", "--measure", "fleiss_kappa", "--json").stdout)
    assert record["value"] is None


def test_no_row_is_an_empty_list(here: Path, cli: Run) -> None:
    assert json.loads(cli("agreement", "votes.csv", "--pairs", "--min-shared", "99", "--json").stdout) == []


def test_names_in_any_script_are_kept(here: Path, cli: Run) -> None:
    Path("words.csv").write_text(
        'task,worker,label\n"a ""b"", c",x,Füchsin\n狐,x,Füchsin\n', encoding="utf-8"
    )
    records = json.loads(cli("aggregate", "words.csv", "-s", "mv", "--json").stdout)
    assert [(r["task"], r["label"]) for r in records] == [('a "b", c', "Füchsin"), ("狐", "Füchsin")]


@pytest.mark.parametrize("call", ["aggregate votes.csv", "identify votes.csv", "agreement votes.csv"])
def test_a_table_goes_to_one_place(call: str, here: Path, cli: Run) -> None:
    result = cli(*call.split(), "--json", "-o", "out.csv")
    assert result.exit_code == 2
    assert "leave out one of them" in result.stderr
    assert not (here / "out.csv").exists()


def test_tasks_and_classes_that_are_numbers_stay_numbers(here: Path, cli: Run) -> None:
    np.savetxt("n.csv", [[1, 7, 0], [2, 7, 1]], "%d", ",", header="task,worker,label", comments="")
    records = json.loads(cli("aggregate", "n.csv", "-s", "mv", "--json").stdout)
    assert [(r["task"], r["label"]) for r in records] == [(1, 0), (2, 1)]
