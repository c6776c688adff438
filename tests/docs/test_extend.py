"""The pages "how to add ...", each followed in a copy of the project: the new thing is found everywhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from docs.hooks.blocks import blocks
from docs.hooks.glossary import terms
from docs.hooks.notebook import run as run_blocks
from docs.hooks.project_copy import ROOT, copy_project

pytestmark = pytest.mark.thorough  # copies the project

CSV = (
    "task,worker,label\nowl,ann,bird\nowl,bob,bird\nowl,cem,fish\neel,ann,fish\neel,bob,fish\neel,cem,bird\n"
)


@dataclass(frozen=True)
class Page:
    """The files that a page adds, and the tests that cover them."""

    file: str  # of the package
    family: str  # the tests of all things of its kind
    own: str  # its own tests

    @property
    def name(self) -> str:
        return Path(self.file).stem


PAGES = {
    "aggregator": Page(
        "crowdpilot/aggregation/models/log_odds.py",
        "tests/aggregation/test_models.py",
        "tests/aggregation/models/test_log_odds.py",
    ),
    "format": Page(
        "crowdpilot/io/formats/labelbox.py",
        "tests/io/test_formats.py",
        "tests/io/formats/test_labelbox.py",
    ),
    "method": Page(
        "crowdpilot/learning/methods/geo_crowd_net.py",
        "tests/learning/methods/test_methods.py",
        "tests/learning/methods/test_geo_crowd_net.py",
    ),
    "policy": Page(
        "crowdpilot/hybrid/policies/label_uncertainty.py",
        "tests/hybrid/policies/test_policies.py",
        "tests/hybrid/policies/test_label_uncertainty.py",
    ),
}
Followed = Callable[[str], Path]
every = pytest.mark.parametrize("page", PAGES)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    """The folder with a copy of the project in which a page was followed."""
    done: dict[str, Path] = {}

    def folder(page: str) -> Path:
        if page not in done:
            done[page] = tmp_path_factory.mktemp(page)
            copy_project(done[page])
            found = blocks((ROOT / "docs" / "extend" / f"{page}.md").read_text())
            run_blocks([block for block in found if "/" in block.options.get("title", "")], done[page])
            (done[page] / "votes.csv").write_text(CSV)
        return done[page]

    return folder


def run(folder: Path, *words: str) -> str:
    """The output of a Python module that runs in the copy, with the package of the copy."""
    variables = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200", "NO_COLOR": "1"}
    process = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, f"{' '.join(words)}:\n{process.stdout}{process.stderr}"
    return process.stdout


def passed(folder: Path, *words: str) -> Counter[str]:
    """Number of passed tests of each file; none may fail."""
    printed = run(folder, "pytest", "-q", "-rA", "-p", "no:cacheprovider", *words)
    return Counter(re.findall(r"^PASSED ([^:\s]+)", printed, re.MULTILINE))


@every
def test_the_page_adds_one_file_to_the_package_and_a_test(page: str, followed: Followed) -> None:
    files = {p.relative_to(followed(page)) for p in followed(page).rglob("*.py")}
    new = sorted(str(path) for path in files if not (ROOT / path).exists())
    assert new == [PAGES[page].file, PAGES[page].own]


@every
def test_the_tests_of_its_kind_its_own_and_those_of_the_architecture_cover_it(
    page: str, followed: Followed
) -> None:
    new = PAGES[page]
    files = (new.family, new.own, new.file, "tests/test_architecture.py")
    ran = passed(followed(page), *files, "-k", new.name)
    assert ran[new.family] >= 4
    assert ran[new.own] >= 3
    assert ran["tests/test_architecture.py"] == 2  # it is short, and private names stay in it


@every
def test_linter_and_formatter_accept_it(page: str, followed: Followed) -> None:
    files = PAGES[page].file, PAGES[page].own
    assert run(followed(page), "ruff", "check", "--no-cache", *files).startswith("All checks passed")
    run(followed(page), "ruff", "format", "--no-cache", "--check", *files)


@pytest.mark.parametrize("page", ["aggregator", "method", "policy"])
def test_the_glossary_explains_its_name(page: str, followed: Followed) -> None:
    """As `tests/docs/test_glossary.py` requires of all names."""
    assert PAGES[page].name in terms((followed(page) / "docs" / "glossary.md").read_text())


@pytest.mark.parametrize(
    ("page", "test", "chosen"),
    [
        ("format", "tests/io/test_formats.py", "explained"),
        ("method", "tests/learning/test_docs.py", "geo_crowd_net"),
        ("policy", "tests/hybrid/test_docs.py", "listed"),
    ],
)
def test_the_page_of_its_room_explains_it(page: str, test: str, chosen: str, followed: Followed) -> None:
    assert passed(followed(page), test, "-k", chosen)[test]


def test_the_command_line_offers_the_aggregator(followed: Followed) -> None:
    folder = followed("aggregator")
    (row,) = [
        r
        for r in json.loads(run(folder, "crowdpilot", "strategies", "--json"))
        if r["strategy"] == "log_odds"
    ]
    assert row["aliases"] == ["nitzan_paroush"]
    assert row["summary"].endswith("then vote again.")
    assert "Nitzan and Paroush" in row["paper"]
    labels = run(folder, "crowdpilot", "aggregate", "votes.csv", "-s", "log_odds[smoothing=2]")
    assert labels.splitlines()[:2] == ["task,label,confidence", "owl,bird,0.8888888888888888"]


def test_the_command_line_completes_the_aggregator(followed: Followed) -> None:
    code = "from crowdpilot.cli.shared.completion import complete_strategy as c; print(*c('log'))"
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=followed("aggregator"), check=True, capture_output=True, text=True
    )
    assert "'log_odds'" in process.stdout


def test_the_command_line_reads_the_format(followed: Followed) -> None:
    folder = followed("format")
    label = {"label_details": {"created_by": "ann"}, "annotations": {"classifications": [
        {"name": "q", "radio_answer": {"value": "cat"}}
    ]}}  # fmt: skip
    record = {"data_row": {"id": 7}, "attachments": [], "projects": {"p": {"labels": [label]}}}
    (folder / "file").write_text(json.dumps(record))
    run(folder, "crowdpilot", "convert", "file", "out.csv")
    assert (folder / "out.csv").read_text() == "task,worker,label,seconds,time\n7,ann,cat,,\n"


def test_the_command_line_offers_the_method(followed: Followed) -> None:
    folder = followed("method")
    assert "\ngeo_crowd_net," in run(folder, "crowdpilot", "strategies", "--deep")
    (folder / "x.csv").write_text("task,a,b\nowl,1,0\neel,0,1\n")
    command = ("aggregate-deep", "votes.csv", "--x", "x.csv", "-s", "geo_crowd_net", "--epochs", "1")
    assert run(folder, "crowdpilot", *command).startswith("task,label,confidence\nowl,")


def test_the_command_line_offers_the_policy(followed: Followed) -> None:
    folder = followed("policy")
    assert "label_uncertainty" in run(folder, "crowdpilot", "replay", "--help")
    command = ("--simulate", "items=30,workers=10", "--seeds", "1", "-p", "label_uncertainty", "--json")
    assert '"label_uncertainty"' in run(folder, "crowdpilot", "replay", *command)
