"""`crowdpilot audit`: draw, check, bound, and again."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

Run = Callable[..., Result]
SIZE = 200
SAVED = Path(__file__).parent / "saved"


@pytest.fixture
def truth(here: Path) -> dict[str, str]:
    """Labels of a crowd in `labels.csv`, and what is true."""
    rng = np.random.default_rng(0)
    yes = rng.beta(0.5, 0.5, SIZE)
    rows = [f"t{n},{'yes' if p > 0.5 else 'no'},{max(p, 1 - p)},{1 - p},{p}\n" for n, p in enumerate(yes)]
    (here / "labels.csv").write_text("task,label,confidence,p_no,p_yes\n" + "".join(rows))
    return {f"t{n}": "yes" if rng.random() < p else "no" for n, p in enumerate(yes)}


def fill(file: Path, truth: dict[str, str], part: slice = slice(None)) -> list[str]:
    """Write the truth of drawn tasks into their file, and say which these are."""
    tasks = [row["task"] for row in csv.DictReader(file.read_text().splitlines())]
    shown = set(tasks[part])
    lines = [f"{task},{truth[task] if task in shown else ''}\n" for task in tasks]
    file.write_text("task,label\n" + "".join(lines))
    return tasks


def test_two_steps_prove_a_bound_and_more_steps_a_better_one(
    here: Path, cli: Run, truth: dict[str, str]
) -> None:
    drawn = cli("audit", "labels.csv", "--sample", "40", "-o", "check.csv", "--costs", "fp=1,fn=5")
    assert drawn.exit_code == 0
    assert "40 tasks to be checked are in check.csv" in drawn.stderr
    first = fill(here / "check.csv", truth)
    assert len(set(first)) == 40
    found = json.loads(
        cli("audit", "labels.csv", "--checked", "check.csv", "--target-loss", "9", "--json").stdout
    )
    assert found["checked"] == 40
    assert found["done"]
    more = cli("audit", "labels.csv", "--sample", "200", "-o", "more.csv")
    assert more.exit_code == 0
    second = fill(here / "more.csv", truth)
    assert not set(first) & set(second)
    end = json.loads(cli("audit", "labels.csv", "--checked", "more.csv", "--json").stdout)
    decided = {
        row["task"]: row["label"] for row in csv.DictReader((here / "labels.csv").read_text().splitlines())
    }
    costs = [5 if truth[t] == "yes" else 1 for t in truth if truth[t] != decided[t]]
    assert end["cost"] == pytest.approx(sum(costs) / SIZE)
    assert end["remaining_cost"] == 0
    assert found["cost"] > end["cost"] >= found["cost_low"]


def test_a_table_says_what_is_sure(here: Path, cli: Run, truth: dict[str, str]) -> None:
    cli("audit", "labels.csv", "--sample", "40", "-o", "check.csv")
    fill(here / "check.csv", truth)
    shown = cli("audit", "labels.csv", "--checked", "check.csv", "--target-loss", "0.001")
    rows = {row["measure"]: row for row in csv.DictReader(shown.stdout.splitlines())}
    assert 0 < float(rows["cost per item"]["at least"]) < float(rows["cost per item"]["at most"]) < 1
    assert "is not yet surely at most 0.001" in shown.stderr


def test_answers_may_come_in_parts_and_be_repeated(here: Path, cli: Run, truth: dict[str, str]) -> None:
    cli("audit", "labels.csv", "--sample", "30", "-o", "check.csv")
    fill(here / "check.csv", truth, slice(10))
    part = json.loads(cli("audit", "labels.csv", "--checked", "check.csv", "--json").stdout)
    assert (part["checked"], part["waiting"]) == (10, 20)
    fill(here / "check.csv", truth)
    every = json.loads(cli("audit", "labels.csv", "--checked", "check.csv", "--json").stdout)
    assert (every["checked"], every["waiting"]) == (30, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--checked", "check.csv"], "no audit has started"),
        (["--sample", "40"], "--sample and --output belong together"),
        (["--sample", "4", "--again", "4", "-o", "x.csv"], "one of them at a time"),
        (["--again", "4", "-o", "x.csv"], "no audit has started"),
        (["--sample", "0", "-o", "x.csv"], "--sample is 0"),
        (["--sample", "4", "-o", "x.csv", "--costs", "fp"], "--costs has 'fp'"),
        (["--sample", "4", "-o", "x.csv", "--level", "2"], "--level is 2"),
        (["--sample", "4", "-o", "x.csv", "--classes", "a,b"], "none of the classes a, b"),
        (["--sample", "4", "-o", "labels.csv/x.csv"], "labels.csv is a file"),
    ],
)
def test_wrong_input_is_one_sentence_and_writes_nothing(
    here: Path, cli: Run, truth: dict[str, str], arguments: list[str], message: str
) -> None:
    before = sorted(here.iterdir())
    result = cli("audit", "labels.csv", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(here.iterdir()) == before


def test_what_would_make_the_bound_invalid_is_refused(here: Path, cli: Run, truth: dict[str, str]) -> None:
    cli("audit", "labels.csv", "--sample", "20", "-o", "check.csv")
    drawn = fill(here / "check.csv", truth)
    kept = (here / "labels.audit.json").read_bytes()
    other = next(task for task in truth if task not in drawn)
    for text, message in [
        (f"{other},yes", "was not drawn by this audit"),
        ("nobody,yes", "'nobody'"),
        (f"{drawn[0]},maybe", "'maybe', which is none of no, yes"),
    ]:
        (here / "wrong.csv").write_text(f"task,label\n{text}\n")
        result = cli("audit", "labels.csv", "--checked", "wrong.csv")
        assert (result.exit_code, message in result.stderr) == (2, True)
    assert (here / "labels.audit.json").read_bytes() == kept
    assert "--costs is not that of the audit" in cli("audit", "labels.csv", "--costs", "error=2").stderr
    cli("audit", "labels.csv", "--checked", "check.csv")
    changed = {"yes": "no", "no": "yes"}[truth[drawn[0]]]
    (here / "wrong.csv").write_text(f"task,label\n{drawn[0]},{changed}\n")
    assert "than before" in cli("audit", "labels.csv", "--checked", "wrong.csv").stderr
    text = (here / "labels.csv").read_text()
    (here / "labels.csv").write_text(
        text.replace("t0,no", "t0,yes") if "t0,no" in text else text.replace("t0,yes", "t0,no")
    )
    assert "are not those of the audit" in cli("audit", "labels.csv", "--json").stderr
    (here / "labels.audit.json").write_text("{}")
    assert "holds no audit" in cli("audit", "labels.csv", "--json").stderr


def test_labels_without_probabilities_are_audited_too(here: Path, cli: Run) -> None:
    (here / "plain.csv").write_text("task,label\n" + "".join(f"t{n},{'ab'[n % 2]}\n" for n in range(50)))
    result = cli("audit", "plain.csv", "--sample", "10", "-o", "check.csv", "--json")
    assert json.loads(result.stdout)["checked"] == 0
    assert (here / "check.csv").read_text().startswith("task,label\n")


def test_second_opinions_say_how_often_experts_err(here: Path, cli: Run, truth: dict[str, str]) -> None:
    cli("audit", "labels.csv", "--sample", "60", "-o", "check.csv", "--experts-err")
    first = fill(here / "check.csv", truth)
    alone = json.loads(cli("audit", "labels.csv", "--checked", "check.csv", "--json").stdout)
    assert alone["expert_error"] == 0.5
    assert cli("audit", "labels.csv", "--again", "50", "-o", "second.csv").exit_code == 0
    assert fill(here / "second.csv", truth) == first[:50]
    both = json.loads(cli("audit", "labels.csv", "--second", "second.csv", "--json").stdout)
    assert both["expert_error"] < 0.1
    assert both["cost"] < alone["cost"]
    (here / "wrong.csv").write_text(f"task,label\n{first[55]},yes\n")
    assert "was not drawn" in cli("audit", "labels.csv", "--second", "wrong.csv").stderr


def test_second_opinions_need_experts_who_err(here: Path, cli: Run, truth: dict[str, str]) -> None:
    cli("audit", "labels.csv", "--sample", "20", "-o", "check.csv")
    result = cli("audit", "labels.csv", "--again", "5", "-o", "second.csv")
    assert (result.exit_code, "started with --experts-err" in result.stderr) == (2, True)


def test_a_saved_audit_of_version_1_continues_and_another_version_is_refused(here: Path, cli: Run) -> None:
    for name in ("audit_v1.csv", "audit_v1.audit.json"):
        shutil.copy(SAVED / name, here / name)
    result = json.loads(cli("audit", "audit_v1.csv", "--json").stdout)
    assert (result["items"], result["checked"], result["waiting"]) == (30, 10, 0)
    assert result["cost"] == pytest.approx(1.5830296405098556, rel=1e-9)
    assert cli("audit", "audit_v1.csv", "--sample", "5", "-o", "more.csv", "--level", "0.9").exit_code == 0
    state = json.loads((here / "audit_v1.audit.json").read_text())
    (here / "audit_v1.audit.json").write_text(json.dumps({**state, "version": 2}))
    assert "holds an audit of version 2, expected 1" in cli("audit", "audit_v1.csv").stderr


DRAW = ("audit", "labels.csv", "--sample", "30", "-o", "check.csv")


def refused(result: Result, file: Path, before: str) -> bool:
    assert "answers that were not read" in result.stderr
    assert "give it by --checked" in result.stderr
    return result.exit_code == 2 and file.read_text() == before


@pytest.mark.parametrize("part", [slice(1), slice(None)])
def test_answers_that_were_not_read_are_never_overwritten(
    part: slice, here: Path, cli: Run, truth: dict[str, str]
) -> None:
    cli(*DRAW)
    fill(here / "check.csv", truth, part)
    assert refused(cli(*DRAW), here / "check.csv", (here / "check.csv").read_text())


def test_nor_in_another_audit_after_the_state_was_removed(
    here: Path, cli: Run, truth: dict[str, str]
) -> None:
    cli(*DRAW)
    fill(here / "check.csv", truth)
    cli("audit", "labels.csv", "--checked", "check.csv")
    (here / "labels.audit.json").unlink()
    before = (here / "check.csv").read_text()
    assert refused(cli(*DRAW, "--seed", "3", "--costs", "error=2"), here / "check.csv", before)
    assert not (here / "labels.audit.json").exists()


@pytest.mark.parametrize("header", ["task,truth", "item,my answer", "task,note"])
def test_nor_in_a_column_of_another_name(header: str, here: Path, cli: Run, truth: dict[str, str]) -> None:
    cli(*DRAW)
    fill(here / "check.csv", truth, slice(2))
    renamed = (here / "check.csv").read_text().replace("task,label", header)
    (here / "check.csv").write_text(renamed)
    assert refused(cli(*DRAW), here / "check.csv", renamed)


def test_nor_what_was_added_after_the_file_was_read(here: Path, cli: Run, truth: dict[str, str]) -> None:
    cli(*DRAW)
    fill(here / "check.csv", truth, slice(10))
    cli("audit", "labels.csv", "--checked", "check.csv")
    fill(here / "check.csv", truth, slice(11))
    result = cli(*DRAW)
    assert "check.csv has 1 answers that were not read" in result.stderr
    assert refused(result, here / "check.csv", (here / "check.csv").read_text())


def test_answers_that_were_read_make_room_for_tasks_that_wait(
    here: Path, cli: Run, truth: dict[str, str]
) -> None:
    cli(*DRAW)
    tasks = fill(here / "check.csv", truth, slice(10))
    assert cli(*DRAW, "--checked", "check.csv").exit_code == 0
    waiting = fill(here / "check.csv", truth)
    assert waiting[:20] == tasks[10:]
    assert len(waiting) == 50
    found = json.loads(cli("audit", "labels.csv", "--checked", "check.csv", "--json").stdout)
    assert (found["checked"], found["waiting"]) == (60, 0)


def test_labels_may_come_from_standard_input(here: Path, cli: Run, truth: dict[str, str]) -> None:
    labels = (here / "labels.csv").read_bytes()
    asked = cli("audit", "-", "--sample", "5", "-o", "check.csv", input=labels)
    assert "give --state FILE" in asked.stderr
    found = cli("audit", "-", "--sample", "5", "-o", "check.csv", "--state", "a.json", input=labels)
    assert found.exit_code == 0
    assert (here / "a.json").exists()
