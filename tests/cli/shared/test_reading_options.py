"""How a file is read is said in one line, shown on demand, and settled by options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_one_line_says_how_the_votes_were_read(here: Path, cli: Run) -> None:
    (here / "more.csv").write_text("item,rater,answer,text\n1,x,yes,a\n1,y,,a\n2,x,no,b\n2,x,yes,b\n")
    result = cli("convert", "more.csv", "out.csv", "--repeats", "last")
    assert result.reading == (
        "crowdpilot: more.csv: csv, task from 'item', worker from 'rater', label from 'answer'; 2 votes on "
        "2 tasks by 2 workers, 2 classes (no, yes); 1 repeat, of which the last in the file counts; 1 row "
        "without a vote; ignored 'text'\n"
    )


def test_what_may_be_wrong_is_a_warning(here: Path, cli: Run) -> None:
    (here / "spelt.csv").write_text("task,worker,label\n1,x,yes\n1,y,Yes\n2,x,no\n")
    result = cli("aggregate", "spelt.csv", "-s", "mv")
    assert (
        "crowdpilot: warning: labels that differ only in spelling are one class: 'Yes' as 'yes'"
        in result.stderr
    )
    kept = cli("aggregate", "spelt.csv", "-s", "mv", "--classes", "yes,Yes,no")
    assert "warning: labels" not in kept.stderr


def test_the_first_rows_are_shown_and_nothing_else_is_done(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-o", "labels.csv", "--explain")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == ["task,worker,label", "owl,ann,bird"]
    assert not (here / "labels.csv").exists()


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"owl,ann,bird\nowl,bob,fish\n", ["--header", "task,worker,label"]),
        ("task,worker,label\nowl,ann,v\xf6gel\nowl,bob,fish\n".encode("cp1250"), ["--encoding", "cp1250"]),
    ],
)
def test_options_settle_how_a_file_is_read(here: Path, cli: Run, content: bytes, options: list[str]) -> None:
    (here / "odd.csv").write_bytes(content)
    result = cli("convert", "odd.csv", "out.csv", *options)
    assert result.stderr == "crowdpilot: 2 votes written to out.csv\n"


def test_votes_come_from_standard_input(here: Path, cli: Run) -> None:
    result = cli("aggregate", "-", "-s", "mv", input=(here / "votes.csv").read_text())
    assert result.reading.startswith("crowdpilot: standard input: csv, ")
    assert result.stdout.startswith("task,label,confidence\nowl,bird,")


def test_two_plausible_readings_are_refused(here: Path, cli: Run) -> None:
    rows = "".join(f"{n % 4},w{n // 4},{n % 3},{n // 4 % 2}\n" for n in range(16))
    (here / "two.csv").write_text("item,rater,rating,vote\n" + rows)
    result = cli("aggregate", "two.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the label could be any of 'rating', 'vote'; name the right one" in result.stderr
    assert cli("aggregate", "two.csv", "--columns", "label=vote").exit_code == 0


def test_labels_that_share_no_class_with_the_truth_are_not_scored(here: Path, cli: Run) -> None:
    (here / "labels.csv").write_text("task,label\nowl,1\neel,0\n")
    (here / "truth.csv").write_text("task,label\nowl,bird\neel,fish\n")
    result = cli("score", "labels.csv", "truth.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        "share no class, so that no label could be right; they are called '1', '0' in one and"
        in result.stderr
    )
