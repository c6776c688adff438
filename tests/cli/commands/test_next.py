"""`crowdpilot next`: files in, the votes to ask for out, nothing half-written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import Result

Cli = Callable[..., Result]
ITEMS = "id,text\nowl,an owl\neel,an eel\nemu,an emu\ncod,a cod\n"
PROBS = "task,p_bird,p_fish\nowl,.9,.1\neel,.2,.8\nemu,.6,.4\ncod,.5,.5\n"


@pytest.fixture(autouse=True)
def files(here: Path) -> Path:
    """Items and probabilities beside votes.csv."""
    (here / "items.csv").write_text(ITEMS)
    (here / "probs.csv").write_text(PROBS)
    return here


def test_the_line_of_an_engineer(cli: Cli) -> None:
    given = ["items.csv", "--votes", "votes.csv", "--machine", "probs.csv", "--budget", "200"]
    done = cli("next", *given, "--costs", "fp=1,fn=5,crowd=.05", "-o", "ask.csv", "--labels", "labels.csv")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert (
        "4 items, 2 classes (bird, fish), a classifier; a vote costs 0.05, a wrong label 1 to 5"
        in done.stderr
    )
    assert "spent 0.45 of 200.00 (9 votes), 199.55 left" in done.stderr
    assert "add the rows to votes.csv (id, worker, label) and run the same command again" in done.stderr
    ask = pd.read_csv("ask.csv")
    assert list(ask) == ["id", "text", "worker", "label"]
    assert ask["id"][0] == "cod"
    assert ask[["worker", "label"]].isna().all(axis=None)
    labels = pd.read_csv("labels.csv")
    assert labels["id"].tolist() == ["owl", "eel", "emu", "cod"]
    assert list(labels)[:5] == ["id", "label", "confidence", "votes", "decided_by"]


def test_it_goes_on_where_the_files_are(cli: Cli) -> None:
    line = [
        "next",
        "items.csv",
        "--votes",
        "new.csv",
        "--classes",
        "bird,fish",
        "--budget",
        "3",
        "--batch",
        "2",
    ]
    first = cli(*line)
    assert "new.csv is not there yet" in first.stderr
    assert first.stdout == cli(*line).stdout
    tasks = [row.split(",")[0] for row in first.stdout.splitlines()[1:]]
    assert len(tasks) == 2
    Path("new.csv").write_text("task,worker,label\n" + "".join(f"{task},ann,bird\n" for task in tasks))
    second = cli(*line)
    assert "spent 2 of 3 (2 votes), 1 left" in second.stderr
    assert len(second.stdout.splitlines()) == 2
    with Path("new.csv").open("a") as votes:
        votes.write("cod,bob,fish\n")
    last = cli(*line, "--labels", "labels.csv")
    assert last.exit_code == 0
    assert last.stdout == "id,text,worker,label\n"
    assert "23 pays for 20 more; the labels are in labels.csv" in last.stderr
    assert len(pd.read_csv("labels.csv")) == 4


def test_a_filled_in_sheet_is_a_file_of_votes(cli: Cli) -> None:
    cli("next", "items.csv", "--classes", "bird,fish", "--worker", "ann", "-o", "ask.csv")
    sheet = pd.read_csv("ask.csv", dtype={"label": object})
    sheet["label"] = "bird"
    sheet.to_csv("filled.csv", index=False)
    done = cli("next", "items.csv", "--votes", "filled.csv", "--classes", "bird,fish")
    assert "(4 votes)" in done.stderr


def test_answers_that_were_not_read_are_not_overwritten(cli: Cli) -> None:
    Path("ask.csv").write_text("task,worker,label\ncod,ann,fish\nowl,,\n")
    done = cli("next", "items.csv", "--votes", "votes.csv", "-o", "ask.csv")
    assert done.exit_code == 2
    assert "ask.csv has answers on 1 items without votes, such as 'cod'" in done.stderr
    assert Path("ask.csv").read_text().startswith("task,worker,label\ncod,ann,fish\n")
    with Path("votes.csv").open("a") as votes:
        votes.write("cod,ann,fish\n")
    assert cli("next", "items.csv", "--votes", "votes.csv", "-o", "ask.csv").exit_code == 0


def test_json_has_the_value_of_each_vote(cli: Cli) -> None:
    done = cli("next", "items.csv", "--votes", "votes.csv", "--budget", "20", "--worker", "ann,eve", "--json")
    found = json.loads(done.stdout)
    assert (found["spent"], found["left"], found["done"], found["reason"]) == (9, 11, False, "")
    assert {"id", "worker", "text", "value", "why", "votes", "label", "confidence"} == set(found["ask"][0])
    assert {row["worker"] for row in found["ask"]} <= {"ann", "eve"}


def test_votes_may_come_from_standard_input(cli: Cli) -> None:
    done = cli("next", "items.csv", "--votes", "-", "--budget", "20", input=Path("votes.csv").read_text())
    assert "spent 9 of 20 (9 votes)" in done.stderr


def test_votes_alone_are_enough(cli: Cli) -> None:
    done = cli("next", "--votes", "votes.csv", "--budget", "20")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "task,worker,label"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["items.csv"], "nothing says what the classes are; name all with classes= (--classes no,yes)"),
        (["items.csv", "--votes", "votes.csv", "-o", "votes.csv"], "votes.csv is read, so it is not written"),
        (["items.csv", "--votes", "votes.csv", "-l", "votes.csv"], "votes.csv is named twice"),
        (["items.csv", "--votes", "votes.csv", "-l", "a.csv", "-o", "a.csv"], "a.csv is named twice"),
        (["-", "--votes", "-"], "cannot both be standard input"),
        (["items.csv", "--votes", "votes.csv", "-o", "a.csv", "--json"], "leave out one of them"),
        (["items.csv", "--votes", "bad.csv"], "bad.csv, line 11: found 2 fields, expected 3"),
        (["item.csv", "--votes", "votes.csv"], "there is no such file or folder; did you mean items.csv?"),
        (["items.csv", "--votes", "votes.csv", "--costs", "fp"], "costs has 'fp'"),
        (
            ["items.csv", "--votes", "votes.csv", "--budget", "-1"],
            "the budget is -1, expected a number above 0",
        ),
        (["items.csv", "--loop"], "give --votes votes.csv, which may be new"),
        (["items.csv", "--votes", "-", "--loop"], "must be files"),
        (["items.csv", "--votes", "votes.parquet", "--loop"], "use CSV with a row for each vote"),
        (["items.csv", "--votes", "votes.csv", "--loop", "--worker", "a,b"], "names 2 people"),
        (["items.csv", "--votes", "votes.csv", "--loop", "-o", "x.csv"], "leave out -o and --json"),
    ],
)
def test_anything_else_is_one_clear_sentence(cli: Cli, args: list[str], message: str) -> None:
    before = sorted(os.listdir())
    done = cli("next", *args)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(os.listdir()) == before


def test_in_a_pipe_the_loop_reads_lines(cli: Cli) -> None:
    typed = "bird\n2\nu\n1\nnonsense\ns\nq\n"
    args = ["--votes", "new.csv", "--classes", "bird,fish", "--worker", "eve", "--labels", "l.csv"]
    done = cli("next", "items.csv", *args, "--loop", input=typed)
    assert done.exit_code == 0
    assert "stopped; 2 new answers in new.csv" in done.stderr
    rows = [row.split(",") for row in Path("new.csv").read_text().splitlines()]
    assert rows[0] == ["task", "worker", "label"]
    assert [row[1:] for row in rows[1:]] == [["eve", "bird"], ["eve", "bird"]]
    assert len(pd.read_csv("l.csv")) == 4


def test_the_loop_ends_by_itself(cli: Cli) -> None:
    args = ["--votes", "new.csv", "--classes", "bird,fish", "--budget", "3", "--worker", "eve", "--loop"]
    done = cli("next", "items.csv", *args, input="1\n" * 9)
    assert "is spent; 23 pays for 20 more; 3 new answers in new.csv" in done.stderr
    again = cli("next", "items.csv", *args, input="1\n" * 9)
    assert "is spent; 23 pays for 20 more; no new answer in new.csv" in again.stderr


def test_the_loop_never_asks_a_person_twice(cli: Cli) -> None:
    args = ["--votes", "new.csv", "--classes", "bird,fish", "--worker", "eve", "--loop"]
    done = cli("next", "items.csv", *args, input="1\n" * 9)
    assert "add a vote that is worth its price" in done.stderr or "worth its price" in done.stderr
    votes = pd.read_csv("new.csv")
    assert not votes.duplicated(["task", "worker"]).any()


def test_commands_of_a_terminal_in_a_text_are_not_obeyed(cli: Cli) -> None:
    Path("items.csv").write_text("id,text\na,\x1b[2J\x1b[31mred [bold]text[/bold]\x07\nb,日本語 ünï\n")
    done = cli("next", "items.csv", "--votes", "n.csv", "--classes", "no,yes", "--loop", input="s\nq\n")
    assert "\x1b" not in done.stdout
    assert "[bold]text[/bold]" in done.stdout
