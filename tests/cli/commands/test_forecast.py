"""`crowdpilot forecast`: from a pilot, or from what a designer expects."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

Run = Callable[..., Result]
FEW = ("--runs", "3")


@pytest.fixture
def pilot(here: Path) -> Path:
    """pilot.csv with three votes on each of 40 tasks, truth.csv and probs.csv."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    said = np.where(rng.random((40, 3)) < 0.85, truth[:, None], 1 - truth[:, None])
    worker = np.array([rng.permutation(8)[:3] for _ in range(40)])
    names = ["no", "yes"]
    rows = [f"t{t},w{worker[t, n]},{names[said[t, n]]}\n" for t in range(40) for n in range(3)]
    (here / "pilot.csv").write_text("task,worker,label\n" + "".join(rows))
    (here / "truth.csv").write_text(
        "task,label\n" + "".join(f"t{t},{names[k]}\n" for t, k in enumerate(truth))
    )
    sure = np.where(truth == 1, 0.9, 0.1)
    (here / "probs.csv").write_text(
        "task,p_no,p_yes\n" + "".join(f"t{t},{1 - p},{p}\n" for t, p in enumerate(sure))
    )
    return here


def found(result: Result) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(result.stdout)
    return result


def test_a_pilot_tells_what_the_rest_will_cost(pilot: Path, cli: Run) -> None:
    result = found(
        cli("forecast", "pilot.csv", "--items", "100", "--costs", "fp=1,fn=2,crowd=.02", "--json", *FEW)
    )
    assert result["items"] == 100
    assert result["end"]["votes"]["low"] >= 1.2
    assert result["curves"]["loss"]["cost"][0] == pytest.approx(120 * 0.02 / 100)


def test_a_table_and_an_answer_in_words(pilot: Path, cli: Run) -> None:
    result = cli("forecast", "pilot.csv", "--items", "80", "--target-error", ".3", *FEW)
    rows = {row["for each item"]: row for row in csv.DictReader(result.stdout.splitlines())}
    assert float(rows["votes in the end"]["at least"]) <= float(rows["votes in the end"]["at most"])
    assert "error 0.3 costs" in result.stderr


def test_true_labels_and_a_machine_are_used(pilot: Path, cli: Run) -> None:
    plain, known, helped = (
        found(cli("forecast", "pilot.csv", "--items", "120", "--json", "--runs", "6", *more))["end"]
        for more in ((), ("--gold", "truth.csv"), ("--machine", "probs.csv"))
    )
    assert known["error"]["high"] < plain["error"]["high"]
    assert helped["votes"]["median"] < plain["votes"]["median"]


def test_a_designer_needs_no_votes(here: Path, cli: Run) -> None:
    result = found(
        cli(
            "forecast",
            "--skill",
            ".8",
            "--items",
            "100",
            "--classes",
            "3",
            "--target-loss",
            "0",
            "--json",
            *FEW,
        )
    )
    assert result["items"] == 100
    assert result["target_cost"]["target"] == 0
    assert "not reach" in result["in_words"]


def test_a_machine_that_a_designer_expects_saves_votes(here: Path, cli: Run) -> None:
    call = ("forecast", "--skill", ".8", "--items", "150", "--prevalence", ".3", "--json", *FEW)
    alone, helped = (found(cli(*call, *more)) for more in ((), ("--machine", ".95")))
    assert helped["end"]["votes"]["median"] < alone["end"]["votes"]["median"]


def test_a_picture_is_drawn(here: Path, cli: Run) -> None:
    cli("forecast", "--skill", ".8", "--items", "50", "--plot", "curve.svg", "--target-error", ".1", *FEW)
    assert (here / "curve.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give VOTES, or --skill and --items"),
        (("--skill", ".8"), "give VOTES, or --skill and --items"),
        (("pilot.csv", "--skill", ".8"), "--skill is for forecasts without VOTES"),
        (("--skill", ".8", "--items", "9", "--gold", "truth.csv"), "--gold needs VOTES"),
        (("pilot.csv", "--items", "9"), "has votes on 40 already"),
        (("pilot.csv", "--target-error", ".1", "--target-loss", ".1"), "give one of them"),
        (("pilot.csv", "--target-error", "-1"), "--target-error is -1"),
        (("pilot.csv", "--gold", "other.csv"), "names none of the 40 tasks"),
        (("pilot.csv", "--policy", "magic"), "magic"),
        (("--skill", ".8", "--items", "9", "--classes", "1"), "expected 2 or more"),
        (("--skill", ".8", "--items", "9", "--prevalence", "many"), "expected numbers"),
        (("--skill", ".8", "--items", "9", "--plot", "curve.txt"), "suffix"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    pilot: Path, cli: Run, options: tuple[str, ...], message: str
) -> None:
    (pilot / "other.csv").write_text("task,label\nx,yes\n")
    result = cli("forecast", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
