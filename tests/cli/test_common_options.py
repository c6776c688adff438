"""What every command understands: -q, -v, -V, - for standard input; new folders; nothing read is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import crowdpilot

Run = Callable[..., Result]
LABELS = "task,label,confidence\nowl,bird,0.9\neel,fish,0.8\nemu,bird,0.7\n"


@pytest.fixture
def files(here: Path) -> Path:
    (here / "labels.csv").write_text(LABELS)
    return here


@pytest.mark.parametrize(
    "typed", ["-q aggregate votes.csv", "aggregate votes.csv -q", "aggregate --quiet votes.csv"]
)
def test_quiet_prints_results_only(typed: str, here: Path, cli: Run) -> None:
    result = cli(*typed.split())
    assert (result.exit_code, result.stderr, result.reading) == (0, "", "")
    assert result.stdout.startswith("task,label,confidence\n")


def test_quiet_still_prints_errors(here: Path, cli: Run) -> None:
    result = cli("aggregate", "none.csv", "-q")
    assert result.exit_code == 2
    assert "there is no such file" in result.stderr


@pytest.mark.parametrize("typed", ["-v aggregate votes.csv -s ds", "aggregate votes.csv -s ds -v"])
def test_verbose_says_what_was_fitted_and_how_long_it_took(typed: str, here: Path, cli: Run) -> None:
    said = cli(*typed.split()).stderr
    assert "by dawid_skene, " in said
    assert "fitting dawid_skene took 0." in said


def test_verbose_is_over_with_the_command(here: Path, cli: Run) -> None:
    cli("aggregate", "votes.csv", "-v")
    assert " took " not in cli("aggregate", "votes.csv").stderr


def test_quiet_and_verbose_exclude_each_other(here: Path, cli: Run) -> None:
    result = cli("-q", "aggregate", "votes.csv", "-v")
    assert result.exit_code == 2
    assert "give one of them" in result.stderr


@pytest.mark.parametrize("typed", ["-V", "--version", "aggregate -V", "keys list -V", "keys -V"])
def test_the_version_is_printed_anywhere(typed: str, here: Path, cli: Run) -> None:
    result = cli(*typed.split())
    assert (result.exit_code, result.stdout) == (0, f"crowdpilot {crowdpilot.__version__}\n")


FROM_STANDARD_INPUT = {  # which file comes from there
    "aggregate - -s mv": "votes.csv",
    "aggregate votes.csv -s mv --gold -": "labels.csv",
    "aggregate votes.csv -s mv --exclude -": "one.csv",
    "agreement - --samples 10": "votes.csv",
    "identify -": "votes.csv",
    "report - -o report.html": "votes.csv",
    "report votes.csv -o report.html --truth -": "labels.csv",
    "compare - --truth labels.csv -s wawa": "votes.csv",
    "compare votes.csv --truth - -s wawa": "labels.csv",
    "score - labels.csv": "labels.csv",
    "score labels.csv -": "labels.csv",
    "convert - out.parquet": "votes.csv",
    "replay - --truth labels.csv -p fixed": "votes.csv",
    "replay votes.csv --truth - -p fixed": "labels.csv",
    "forecast - --runs 2": "votes.csv",
    "audit - --sample 2 -o check.csv --state state.json": "labels.csv",
}


@pytest.mark.parametrize("typed", FROM_STANDARD_INPUT)
def test_a_file_may_be_standard_input(typed: str, files: Path, cli: Run) -> None:
    (files / "one.csv").write_text("worker\nann\n")
    content = (files / FROM_STANDARD_INPUT[typed]).read_bytes()
    assert cli(*typed.split(), input=content).exit_code == 0
    (files / "given.csv").write_bytes(content)
    assert cli(*["given.csv" if part == "-" else part for part in typed.split()]).exit_code == 0


@pytest.mark.parametrize("typed", ["score - -", "aggregate - --gold -", "report - --truth - -o r.html"])
def test_but_only_one_of_them(typed: str, files: Path, cli: Run) -> None:
    result = cli(*typed.split(), input=LABELS)
    assert result.exit_code == 2
    assert "cannot both be standard input (-); name a file for one" in result.stderr


INTO_NEW_FOLDERS = [
    "aggregate votes.csv -s mv -o new/folder/a.csv --workers other/new/w.csv",
    "agreement votes.csv --samples 10 -o new/folder/a.csv",
    "identify votes.csv -o new/folder/a.npy",
    "report votes.csv -o new/folder/a.html",
    "compare votes.csv --truth labels.csv -s wawa -o new/folder/a.csv",
    "convert votes.csv new/folder/a.parquet",
    "convert votes.csv -o new/folder/a.csv",
    "simulate -o new/folder/a.csv --truth other/t.csv",
    "simulate --folder new/folder/a",
    "audit labels.csv --sample 2 -o new/folder/a.csv",
    "replay votes.csv -p fixed --truth labels.csv -o new/folder/a.csv",
]


@pytest.mark.parametrize("typed", INTO_NEW_FOLDERS)
def test_new_folders_are_made(typed: str, files: Path, cli: Run) -> None:
    assert cli(*typed.split()).exit_code == 0
    assert [path.name.partition(".")[0] for path in (files / "new" / "folder").iterdir()] == ["a"]


OVER_WHAT_IS_READ = [
    "aggregate votes.csv -o votes.csv",
    "aggregate votes.csv --workers ./votes.csv",
    "aggregate votes.csv --gold labels.csv -o labels.csv",
    "aggregate votes.csv --to-check votes.csv",
    "identify votes.csv -o votes.csv",
    "compare votes.csv --truth labels.csv -o labels.csv",
    "convert votes.csv votes.csv",
    "audit labels.csv --sample 1 -o labels.csv",
    "replay votes.csv -o votes.csv",
]


@pytest.mark.parametrize("typed", OVER_WHAT_IS_READ)
def test_what_is_read_is_not_written_over(typed: str, files: Path, cli: Run) -> None:
    before = {path: path.read_text() for path in files.iterdir()}
    result = cli(*typed.split())
    assert result.exit_code == 2
    assert "is read, so it is not written over: choose another name" in result.stderr
    assert {path: path.read_text() for path in files.iterdir()} == before


def test_another_file_that_is_there_is_replaced(files: Path, cli: Run) -> None:
    assert cli("aggregate", "votes.csv", "-s", "mv", "-o", "labels.csv").exit_code == 0
    assert (files / "labels.csv").read_text() != LABELS


def test_two_results_need_two_names(files: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-s", "mv", "-o", "a.csv", "--workers", "a.csv")
    assert result.exit_code == 2
    assert "a.csv would be written twice" in result.stderr


@pytest.mark.parametrize("typed", ["help", "help aggregate", "help keys list"])
def test_help_is_a_command_too(typed: str, cli: Run) -> None:
    result = cli(*typed.split())
    assert result.exit_code == 0
    assert " ".join(["Usage: crowdpilot", *typed.split()[1:]]) in result.stdout


def test_a_file_in_the_place_of_a_command_is_explained(here: Path, cli: Run) -> None:
    result = cli("votes.csv")
    assert result.exit_code == 2
    assert result.stderr == (
        "crowdpilot: votes.csv is a file, not a command; its labels: crowdpilot aggregate votes.csv\n"
    )


def test_an_address_is_not_read(here: Path, cli: Run) -> None:
    result = cli("aggregate", "https://example.org/votes.csv")
    assert result.exit_code == 2
    assert "addresses are not read; download the file and name it" in result.stderr
