from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from crowdpilot.metrics import accuracy, brier, ece, interval, log_loss, per_class

Run = Callable[..., Result]

TRUTH = ["cat", "dog", "dog", "cat", "dog"]
LABEL = ["cat", "dog", "cat", "cat", "dog"]
SURE = [0.9, 0.8, 0.6, 0.7, 0.55]


@pytest.fixture
def files(here: Path) -> Path:
    (here / "truth.csv").write_text("task,label\n" + "".join(f"t{n},{c}\n" for n, c in enumerate(TRUTH)))
    (here / "labels.csv").write_text("task,label\n" + "".join(f"t{n},{c}\n" for n, c in enumerate(LABEL)))
    rows = zip(LABEL, SURE, strict=True)
    (here / "sure.csv").write_text(
        "task,label,confidence\n" + "".join(f"t{n},{c},{p}\n" for n, (c, p) in enumerate(rows))
    )
    return here


def numbers(text: str) -> dict[tuple[str, str], tuple[float, ...]]:
    rows = csv.DictReader(StringIO(text))
    return {
        (row["measure"], row["class"]): tuple(float(row[n]) for n in ("value", "low", "high") if row[n])
        for row in rows
    }


def test_each_measure_comes_with_its_interval(files: Path, cli: Run) -> None:
    found = numbers(cli("score", "labels.csv", "truth.csv").stdout)
    assert found["accuracy", ""] == pytest.approx(tuple(interval(accuracy, TRUTH, LABEL)))
    assert [m for m, k in found if k == ""] == ["accuracy", "balanced_accuracy", "macro_f1"]


def test_each_class_has_its_rows(files: Path, cli: Run) -> None:
    found = numbers(cli("score", "labels.csv", "truth.csv").stdout)
    table = per_class(TRUTH, LABEL)
    for k, name in enumerate(["cat", "dog"]):
        assert found["support", name] == (table.support[k],)
        assert found["precision", name][0] == pytest.approx(table.precision[k])
        value, low, high = found["recall", name]
        assert value == pytest.approx(table.recall[k])
        assert low <= value <= high


def test_confidence_is_scored_too(files: Path, cli: Run) -> None:
    found = numbers(cli("score", "sure.csv", "truth.csv").stdout)
    codes = np.array([c == "dog" for c in TRUTH], int)
    dog = np.array([p if c == "dog" else 1 - p for c, p in zip(LABEL, SURE, strict=True)])
    probs = np.stack([1 - dog, dog], axis=1)
    for name, metric in (("brier", brier), ("log_loss", log_loss), ("ece", ece)):
        assert found[name, ""] == pytest.approx(tuple(interval(metric, codes, probs)))


def test_the_rest_of_the_confidence_is_shared_by_the_other_classes(here: Path, cli: Run) -> None:
    (here / "truth.csv").write_text("task,label\na,x\nb,y\nc,z\n")
    (here / "labels.csv").write_text("task,label,confidence\na,x,0.6\nb,x,0.6\nc,x,0.6\n")
    found = numbers(cli("score", "labels.csv", "truth.csv").stdout)
    assert found["log_loss", ""][0] == pytest.approx(-np.mean(np.log([0.6, 0.2, 0.2])))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_probabilities_are_found_in_what_aggregate_writes(suffix: str, here: Path, cli: Run) -> None:
    cli("aggregate", "votes.csv", "-s", "naive_soft", "--probs", "-o", f"labels.{suffix}")
    (here / "truth.csv").write_text("task,label\nowl,bird\neel,bird\nemu,bird\n")
    found = numbers(cli("score", f"labels.{suffix}", "truth.csv").stdout)
    assert found["log_loss", ""][0] == pytest.approx(-np.mean(np.log([2 / 3, 1 / 3, 1])))


def test_a_task_without_a_label_does_not_count_but_is_reported(files: Path, cli: Run) -> None:
    (files / "truth.csv").write_text((files / "truth.csv").read_text() + "t9,cat\n")
    result = cli("score", "labels.csv", "truth.csv")
    assert numbers(result.stdout)["accuracy", ""][0] == pytest.approx(0.8)
    assert result.stderr == "crowdpilot: 1 of 6 tasks of truth.csv have no label and do not count\n"


def test_an_array_of_the_truth_will_do(here: Path, cli: Run) -> None:
    np.save("truth.npy", np.array([1, 0, 1]))
    (here / "labels.csv").write_text("task,label\n0,1\n1,1\n2,1\n")
    assert numbers(cli("score", "labels.csv", "truth.npy").stdout)["accuracy", ""][0] == pytest.approx(2 / 3)


def test_the_interval_can_be_asked_for_otherwise(files: Path, cli: Run) -> None:
    options = {"level": 0.5, "samples": 99, "seed": 3}
    args = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    found = numbers(cli("score", "labels.csv", "truth.csv", *args).stdout)
    assert found["accuracy", ""] == pytest.approx(
        tuple(interval(accuracy, TRUTH, LABEL, level=0.5, samples=99, seed=3))
    )


def test_json_has_the_same_numbers(files: Path, cli: Run) -> None:
    rows = json.loads(cli("score", "sure.csv", "truth.csv", "--json").stdout)
    found = numbers(cli("score", "sure.csv", "truth.csv").stdout)
    assert {(r["measure"], r["class"] or ""): r["value"] for r in rows} == {k: v[0] for k, v in found.items()}


def test_a_person_sees_a_table(files: Path, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    shown = cli("score", "labels.csv", "truth.csv").stdout
    assert "0.8000" in shown
    assert "accuracy," not in shown


def test_one_line_compares_confidence_with_accuracy(files: Path, cli: Run) -> None:
    shown = cli("score", "sure.csv", "truth.csv").stderr
    assert shown == (
        "crowdpilot: 80% of 5 labels are right, and their mean confidence is 71%: 9 points too low\n"
    )
    assert cli("score", "labels.csv", "truth.csv").stderr == ""


def test_honest_labels_are_said_to_be_so(files: Path, cli: Run) -> None:
    names = zip(LABEL, [0.9, 0.9, 0.7, 0.8, 0.7], strict=True)
    rows = "".join(f"t{n},{c},{p}\n" for n, (c, p) in enumerate(names))
    (files / "honest.csv").write_text(f"task,label,confidence\n{rows}")
    assert cli("score", "honest.csv", "truth.csv").stderr.endswith(
        "their mean confidence is 80%: as it should be\n"
    )


def test_rows_without_a_label_are_counted_in_one_line(files: Path, cli: Run) -> None:
    with (files / "labels.csv").open("a") as labels:
        labels.write("t7,\nt8,\n")
    assert (
        "crowdpilot: 2 of 7 rows of labels.csv left out: without a label\n"
        in cli("score", "labels.csv", "truth.csv").stderr
    )
