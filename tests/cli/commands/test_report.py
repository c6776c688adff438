from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

Run = Callable[..., Result]


def rows(page: Path, table: str) -> dict[str, list[Any]]:
    """The columns of a table of the page."""
    found = re.search(rf'id="data-{table}">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    return dict(zip([column["name"] for column in data["columns"]], data["values"], strict=True))


def test_the_page_has_all_tasks_and_workers(here: Path, cli: Run) -> None:
    result = cli(
        "report", "votes.csv", "-o", "report.html", "-s", "majority_voting", "--title", "Fish & fowl"
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert result.stderr == "crowdpilot: report.html is written\n"
    assert rows(here / "report.html", "tasks")["task"] == ["owl", "eel", "emu"]
    assert rows(here / "report.html", "tasks")["label"] == ["bird", "fish", "bird"]
    assert rows(here / "report.html", "workers")["worker"] == ["ann", "bob", "cem"]
    text = (here / "report.html").read_text()
    assert "<title>Fish &amp; fowl</title>" in text
    assert "majority_voting" in text


def test_truth_gold_texts_and_pictures_are_read(here: Path, cli: Run) -> None:
    (here / "truth.csv").write_text("task,label\nowl,bird\neel,bird\n")
    (here / "gold.csv").write_text("task,label\nemu,bird\n")
    (here / "texts.csv").write_text('task,text\nowl,It hoots.\neel,"It <swims>, far."\n')
    (here / "pictures").mkdir()
    (here / "pictures" / "eel.png").write_bytes(b"picture")
    asked = "--truth truth.csv --gold gold.csv --texts texts.csv --images pictures --level 0.8 --target 0.999"
    result = cli("report", "votes.csv", "-o", "report.html", *asked.split())
    assert result.exit_code == 0, result.stderr
    text = (here / "report.html").read_text()
    assert rows(here / "report.html", "tasks")["truth"] == ["bird", "bird", None]
    assert "It &lt;swims&gt;, far." in text
    assert "data:image/png;base64,cGljdHVyZQ==" in text
    assert "80 % interval" in text
    assert "gold_accuracy" in rows(here / "report.html", "workers")


def test_pictures_of_a_folder_of_peerannot_are_shown(here: Path, cli: Run) -> None:
    (here / "set" / "train" / "dog").mkdir(parents=True)
    (here / "set" / "train" / "dog" / "rex-0.png").write_bytes(b"picture")
    (here / "set" / "metadata.json").write_text('{"name": "x", "n_classes": 2, "n_workers": 2}')
    (here / "set" / "answers.json").write_text('{"0": {"0": 1, "1": 0}, "1": {"0": 1, "1": 1}}')
    result = cli("report", "set", "-o", "report.html")
    assert result.exit_code == 0, result.stderr
    assert "data:image/png;base64,cGljdHVyZQ==" in (here / "report.html").read_text()


@pytest.mark.parametrize("asked", ["waum.csv", "waum=deep/scores.csv", "WAUM=deep/scores.csv", "waum.npy"])
def test_scores_of_tasks_are_read(asked: str, here: Path, cli: Run) -> None:
    (here / "waum.csv").write_text("task,votes,waum\nemu,3,-0.5\nowl,3,0.25\n")
    (here / "deep").mkdir()
    column = asked.partition("=")[0]
    (here / "deep" / "scores.csv").write_text(f"task,x,{column}\nemu,a,-0.5\nowl,b,0.25\n")
    np.save(here / "waum.npy", np.array([0.25, np.nan, -0.5]))
    result = cli("report", "votes.csv", "-o", "report.html", "--scores", asked)
    assert result.exit_code == 0, result.stderr
    assert rows(here / "report.html", "tasks")["waum"] == [0.25, None, -0.5]
    text = (here / "report.html").read_text()
    assert text.index("−0.500") < text.index("0.250", text.index("Ambiguous tasks"))


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("none.csv", "there is no such file"),
        ("waum=votes.csv", "there is no column 'waum'"),
        ("label=votes.csv", "owl"),
        ("waum.csv", "has no score of any of the 3 tasks"),
        ("words=words.csv", "words.csv has something else than numbers in column words"),
    ],
)
def test_scores_that_are_none_are_an_error(asked: str, problem: str, here: Path, cli: Run) -> None:
    (here / "waum.csv").write_text("task,waum\nyak,-0.5\n")
    (here / "words.csv").write_text("task,words\nowl,hoots\n")
    result = cli("report", "votes.csv", "-o", "report.html", "--scores", asked)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert problem in result.stderr


def test_workers_can_be_left_out(here: Path, cli: Run) -> None:
    (here / "exclude.csv").write_text("worker\ncem\n")
    result = cli("report", "votes.csv", "-o", "report.html", "--exclude", "exclude.csv")
    assert result.stderr.startswith("crowdpilot: 1 of 3 workers and 3 votes are left out\n")
    assert rows(here / "report.html", "workers")["worker"] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ("zoe", "names none of the 3 workers; they are called 'ann' and so on"),
        ("ann\nbob\ncem", "names all workers, so that no vote is left"),
    ],
)
def test_leaving_out_nobody_or_everybody_is_an_error(names: str, problem: str, here: Path, cli: Run) -> None:
    (here / "exclude.csv").write_text(f"worker\n{names}\n")
    result = cli("report", "votes.csv", "-o", "report.html", "--exclude", "exclude.csv")
    assert result.exit_code == 2
    assert result.stderr == f"crowdpilot: exclude.csv {problem}\n"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["-o", "report.pdf"], "the suffix .pdf is not known"),
        (["-o", "votes.csv/report.html"], "votes.csv is a file; choose another folder"),
        (["-o", "report.html", "-s", "charm"], "charm"),
        (["-o", "report.html", "--level", "2"], "level is 2.0, expected a number between 0 and 1"),
        (["-o", "report.html", "--images", "nowhere"], "nowhere is no folder"),
        (["-o", "report.html", "--truth", "nowhere.csv"], "there is no such file"),
    ],
)
def test_wrong_input_ends_in_one_line_and_no_file(
    options: list[str], problem: str, here: Path, cli: Run
) -> None:
    result = cli("report", "votes.csv", *options)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (here / "report.html").exists()


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_missing_package_is_named(
    package: str, here: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("crowdpilot.reporting", package))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    result = cli("report", "votes.csv", "-o", "report.html")
    assert result.exit_code == 2
    assert result.stderr == f'crowdpilot: reporting needs {package}: pip install "crowdpilot[report]"\n'


def test_workers_must_pass_the_traps(here: Path, cli: Run) -> None:
    (here / "traps.csv").write_text("task,label\nowl,bird\n")
    assert cli("report", "votes.csv", "-o", "report.html", "--traps", "traps.csv").exit_code == 0
    assert "trap_accuracy" in (here / "report.html").read_text()
