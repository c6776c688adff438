from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot import io
from crowdpilot.votes import Votes

Run = Callable[..., Result]


def triples(votes: Votes) -> set[tuple[str, str, str]]:
    named = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return {(str(t), str(w), str(c)) for t, w, c in zip(*named, strict=True)}


@pytest.mark.parametrize("target", ["out.csv", "out.tsv", "out.parquet", "out.jsonl"])
def test_votes_survive_the_way_there_and_back(target: str, here: Path, cli: Run) -> None:
    assert cli("convert", "votes.csv", target).exit_code == 0
    assert triples(io.read(target)) == triples(io.read("votes.csv"))


@pytest.mark.parametrize("format", [name for name, format in io.FORMATS.items() if format.write])
def test_every_writable_format_can_be_asked_for(format: str, here: Path, cli: Run) -> None:
    (here / "votes.csv").write_text(
        "task,worker,label\n0,0,1\n0,1,0\n1,0,1\n1,1,1\n"
    )  # some know only numbers
    assert cli("convert", "votes.csv", "out", "--to", format).exit_code == 0
    assert cli("convert", "out", "back.csv", "--from", format).exit_code == 0
    assert triples(io.read("back.csv")) == triples(io.read("votes.csv"))


def test_it_says_what_it_wrote_and_what_it_left_out(here: Path, cli: Run) -> None:
    result = cli("convert", "votes.csv", "out.csv", "--abstain", "fish")
    assert result.stdout == ""
    assert result.reading.endswith("1 class (bird); 3 rows without a vote\n")
    assert result.stderr == "crowdpilot: 6 votes written to out.csv\n"


def test_no_vote_is_lost_unless_it_is_asked_for(here: Path, cli: Run) -> None:
    (here / "again.csv").write_text("task,worker,label\nowl,ann,bird\nowl,ann,fish\n")
    cli("convert", "again.csv", "out.csv")
    assert len(io.read("out.csv", repeats="all")) == 2
    cli("convert", "again.csv", "out.csv", "--repeats", "last")
    assert len(io.read("out.csv", repeats="all")) == 1
