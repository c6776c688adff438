from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO

import pytest
from typer.testing import Result

from crowdpilot.aggregation import MODELS, parse_strategy
from crowdpilot.learning import METHODS

Run = Callable[..., Result]


@pytest.fixture
def listed(cli: Run) -> dict[str, dict[str, str]]:
    return {row["strategy"]: row for row in csv.DictReader(StringIO(cli("strategies").stdout))}


def test_every_model_is_listed_once_in_order(listed: dict[str, dict[str, str]]) -> None:
    assert list(listed) == list(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_each_has_one_line_and_a_paper(name: str, listed: dict[str, dict[str, str]]) -> None:
    assert listed[name]["summary"].endswith(".")
    assert "\n" not in listed[name]["summary"]
    assert name == "auto" or listed[name]["paper"]


def test_the_paper_is_that_of_the_docstring(listed: dict[str, dict[str, str]]) -> None:
    paper = "Dawid and Skene, Applied Statistics 28(1), 1979. https://doi.org/10.2307/2346806"
    assert listed["dawid_skene"]["paper"] == paper


def test_json_also_has_aliases_and_options(cli: Run) -> None:
    rows = {row["strategy"]: row for row in json.loads(cli("strategies", "--json").stdout)}
    assert list(rows) == list(MODELS)
    assert "ds" in rows["dawid_skene"]["aliases"]
    assert rows["dawid_skene"]["options"]["max_iter"] == "200"
    assert all(parse_strategy(alias).name == name for name, row in rows.items() for alias in row["aliases"])


def test_methods_that_train_are_listed_apart(cli: Run) -> None:
    rows = json.loads(cli("strategies", "--deep", "--json").stdout)
    assert [row["strategy"] for row in rows] == list(METHODS)
    assert all(row["summary"].endswith(".") and row["paper"] for row in rows)
    assert next(row for row in rows if row["strategy"] == "crowdlayer")["options"] == {"kind": "'mw'"}


def test_a_person_sees_a_table(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    shown = cli("strategies").stdout
    assert "what it does, and the paper" in shown
    assert "majority_voting," not in shown
