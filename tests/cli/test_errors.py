"""Whatever goes wrong: one line on standard error, exit code 2, and no file touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]

WRONG = {
    "no such file": ("aggregate", "none.csv", "-o", "out.csv"),
    "a broken line": ("aggregate", "bad.csv", "-o", "out.csv"),
    "an unknown measure": ("agreement", "votes.csv", "--measure", "kappa", "-o", "out.csv"),
    "an unknown identification": ("identify", "votes.csv", "-s", "nothing", "-o", "out.csv"),
    "an unknown strategy": ("aggregate", "votes.csv", "-s", "nothing", "-o", "out.csv"),
    "broken options of a strategy": ("aggregate", "votes.csv", "-s", "ds[smoothing", "-o", "out.csv"),
    "a setting the model does not have": (
        "aggregate",
        "votes.csv",
        "-s",
        "mv",
        "--tol",
        "1",
        "-o",
        "out.csv",
    ),
    "a class that is not listed": ("aggregate", "votes.csv", "--classes", "bird,cat", "-o", "out.csv"),
    "an unknown format": ("aggregate", "votes.csv", "--format", "excel", "-o", "out.csv"),
    "a column that is not there": ("aggregate", "votes.csv", "--columns", "task=url", "-o", "out.csv"),
    "no column at all": ("aggregate", "votes.csv", "--columns", "task", "-o", "out.csv"),
    "no such gold": ("aggregate", "votes.csv", "--gold", "none.csv", "-o", "out.csv"),
    "repeats that are errors": ("aggregate", "twice.csv", "--repeats", "error", "-o", "out.csv"),
    "an unknown suffix": ("aggregate", "votes.csv", "-s", "mv", "-o", "out.csv", "--workers", "w.xlsx"),
    "a file in the place of a folder": (
        "aggregate",
        "votes.csv",
        "-s",
        "mv",
        "-o",
        "out.csv",
        "--workers",
        "votes.csv/w.csv",
    ),
    "a folder in the place of a file": (
        "aggregate",
        "votes.csv",
        "-s",
        "mv",
        "--workers",
        "dir",
        "-o",
        "out.csv",
    ),
    "nothing to convert": ("convert", "none.csv", "out.csv"),
    "a format that cannot be written": ("convert", "votes.csv", "out.csv", "--to", "zooniverse"),
    "an unknown crowd": ("simulate", "-s", "nobody", "-o", "out.csv"),
    "an option the crowd does not have": ("simulate", "--ratio-diff", "2", "-o", "out.csv"),
    "a prior that is no list of numbers": ("simulate", "--prior", "much,little", "-o", "out.csv"),
    "nowhere to write a crowd": ("simulate",),
    "a folder that is taken": ("simulate", "--folder", "dir", "--truth", "out.csv"),
    "no labels to score": ("score", "none.csv", "votes.csv"),
    "labels of other tasks": ("score", "labels.csv", "others.csv"),
    "a confidence that is no number": ("score", "unsure.csv", "labels.csv"),
}


@pytest.mark.parametrize("args", WRONG.values(), ids=WRONG)
def test_a_mistake_ends_in_one_sentence_and_changes_no_file(
    args: tuple[str, ...], here: Path, cli: Run
) -> None:
    (here / "dir").mkdir()
    (here / "dir" / "mine").touch()
    (here / "out.csv").write_text("precious")
    (here / "twice.csv").write_text("task,worker,label\na,x,1\na,x,2\n")
    (here / "labels.csv").write_text("task,label\nowl,bird\n")
    (here / "others.csv").write_text("task,label\ncat,bird\n")
    (here / "unsure.csv").write_text("task,label,confidence\nowl,bird,rather\n")
    before = snapshot(here)
    result = cli(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("crowdpilot: ")
    assert result.stderr.count("\n") == 1
    assert snapshot(here) == before


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(p): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def test_a_broken_file_is_named_with_its_line(here: Path, cli: Run) -> None:
    assert "bad.csv, line 11: found 2 fields, expected 3" in cli("aggregate", "bad.csv").stderr


@pytest.mark.parametrize(
    "args", [["aggregate"], ["agregate", "votes.csv"], ["aggregate", "votes.csv", "--sed", "1"]]
)
def test_a_command_that_cannot_be_understood_has_the_same_exit_code(
    args: list[str], here: Path, cli: Run
) -> None:
    assert cli(*args).exit_code == 2


def test_a_warning_is_one_line_and_no_failure(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-s", "ds", "--max-iter", "1")
    assert result.exit_code == 0
    warned, *_ = result.stderr.splitlines()
    assert warned == "crowdpilot: warning: dawid_skene[max_iter=1] did not converge in 1 iterations"
    assert result.stdout.startswith("task,label,confidence\n")
