"""Decisions and votes go out as CSV, NDJSON and Parquet, which the command line reads."""

from __future__ import annotations

import csv
import io as streams
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from crowdpilot import io
from crowdpilot.cli import app
from tests.service.harness.service import CRITERIA, Project, Service

FORMATS = {"csv": "text/csv", "ndjson": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}


@pytest.fixture
def voted(project: Project) -> Project:
    """A project with votes of three workers on ten items, one of them called like a formula."""
    project.add_texts(9)
    project.add({"name": "=1+1", "text": "x", "gold": "good"})
    names = [*(f"i{n}" for n in range(9)), "=1+1"]
    for worker in ("ann", "bob", "eve"):
        project.add_votes(*((name, worker, ["bad", "good"][n % 2]) for n, name in enumerate(names)))
    return project


def rows(answer: Any, format: str) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(FORMATS[format])
    if format == "parquet":
        found: list[dict[str, Any]] = pq.read_table(streams.BytesIO(answer.content)).to_pylist()
        return found
    if format == "ndjson":
        return [json.loads(line) for line in answer.text.splitlines()]
    return list(csv.DictReader(streams.StringIO(answer.text)))


@pytest.mark.parametrize("format", FORMATS)
def test_decisions_go_out_in_every_format(voted: Project, format: str) -> None:
    found = rows(voted.get(f"/decisions?format={format}"), format)
    columns = [
        "item", "label", "p_bad", "p_good", "expected", "votes", "done", "gold", "decided_by", "majority",
        "probability", "overridden",
    ]  # fmt: skip
    assert [list(row) for row in found] == [columns] * 10
    assert [row["label"] for row in found[:2]] == ["bad", "good"]
    by_header = voted.get("/decisions", headers={"accept": FORMATS[format]})
    assert by_header.headers["content-type"].startswith(FORMATS[format])


@pytest.mark.parametrize("format", FORMATS)
def test_votes_go_out_in_every_format(voted: Project, format: str) -> None:
    found = rows(voted.get(f"/votes?format={format}"), format)
    assert len(found) == 30
    assert list(found[0]) == ["item", "worker", "kind", "label", "seconds", "time", "counted"]
    assert (found[1]["item"], found[1]["label"], found[1]["kind"]) == ("i1", "good", "crowd")
    assert str(found[0]["time"]).endswith("Z")
    assert "ann" not in str(found)


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_goes_out_where_there_is_nothing(project: Project, format: str) -> None:
    for path in ("decisions", "votes"):
        assert rows(project.get(f"/{path}?format={format}"), format) == []


def test_a_spreadsheet_runs_nothing(voted: Project) -> None:
    for path in ("decisions", "votes"):
        assert "'=1+1" in voted.get(f"/{path}").text
        assert '"=1+1"' in voted.get(f"/{path}?format=ndjson").text


def test_classes_that_are_numbers_stay_as_they_are(service: Service) -> None:
    project = service.project(classes=["-1", "1"])
    project.add_texts(1)
    project.add_votes(("i0", "ann", "-1"))
    assert ",-1," in project.get("/votes").text


@pytest.mark.parametrize("format", FORMATS)
def test_the_command_line_reads_what_goes_out(voted: Project, tmp_path: Path, format: str) -> None:
    files = {
        name: tmp_path / f"{name}.{format.replace('ndjson', 'jsonl')}" for name in ("votes", "decisions")
    }
    for name, file in files.items():
        file.write_bytes(voted.get(f"/{name}?format={format}").content)
    assert len(io.read(files["votes"])) == 30
    run = CliRunner().invoke(app, ["aggregate", str(files["votes"])])
    assert run.exit_code == 0, run.output
    truth = tmp_path / "truth.csv"
    truth.write_text("task,label\n" + "".join(f"i{n},{['bad', 'good'][n % 2]}\n" for n in range(9)))
    run = CliRunner().invoke(app, ["score", str(files["decisions"]), str(truth), "--samples", "20"])
    assert run.exit_code == 0, run.output
    assert "accuracy" in run.output


def test_votes_on_criteria_say_which(service: Service) -> None:
    project = service.project(**{**CRITERIA, "costs": {}})
    project.add_texts(1)
    project.add_votes(("i0", "ann", "yes"), criterion="trial")
    found = rows(project.get("/votes?format=ndjson"), "ndjson")
    assert (found[0]["criterion"], found[0]["label"]) == ("trial", "yes")


def test_an_unknown_format_or_project_is_refused(project: Project) -> None:
    assert project.get("/votes?format=xml").status_code == 422
    assert Project(project.service, "0" * 12, "").get("/votes").status_code == 404
    assert Project(project.service, "0" * 12, "").get("/decisions").status_code == 404
