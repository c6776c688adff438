"""The version stands in one place, and its notes in another."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import crowdpilot
from crowdpilot.service.app import create_app
from crowdpilot.service.settings import Settings
from tests.packaging.building import HOME, Built

PATTERNS = (
    "pyproject.toml", "Makefile", "Dockerfile", "compose.yaml", "deploy/*", "CITATION.cff", "mkdocs.yml",
    "README.md", "CONTRIBUTING.md", "docs/**/*.md", "crowdpilot/**/*.py", "scripts/*.py", "examples/**/*.py",
)  # fmt: skip
STEPS = re.findall(
    r"^## To release\n.*?^```console\n(.*?)^```", (HOME / "CONTRIBUTING.md").read_text(), re.M | re.S
)
notes = runpy.run_path(str(HOME / "scripts/notes.py"))["notes"]


def test_the_version_stands_in_one_place() -> None:
    version = re.compile(rf"(?<![\w.]){re.escape(crowdpilot.__version__)}(?![\w.]*\d)")
    texts = {path: path.read_text() for pattern in PATTERNS for path in HOME.glob(pattern) if path.is_file()}
    found = [str(path.relative_to(HOME)) for path, text in texts.items() for _ in version.findall(text)]
    assert found == ["crowdpilot/__init__.py"]


def test_the_description_of_the_api_has_the_version(tmp_path: Path) -> None:
    app = create_app(Settings(database=f"sqlite:///{tmp_path / 'x.db'}", secret="s" * 32))
    assert app.openapi()["info"]["version"] == crowdpilot.__version__
    app.state.labelling.close()
    app.state.store.close()


def test_the_citation_says_what_the_project_says(built: Built) -> None:
    cited = yaml.safe_load((built.source / "CITATION.cff").read_text())
    assert cited.keys() >= {"cff-version", "message", "title", "authors"}
    assert f'license = "{cited["license"]}"' in (built.source / "pyproject.toml").read_text()


def test_this_version_has_notes() -> None:
    said = subprocess.run([sys.executable, "scripts/notes.py"], cwd=HOME, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert (
        f"\n{said.stdout}" in (HOME / "CHANGELOG.md").read_text().partition(f"## {crowdpilot.__version__}")[2]
    )


@pytest.mark.parametrize("heading", ["## 0.2.0", "## [0.2.0] - 2030-01-31"])
def test_notes_are_one_section_of_the_changelog(heading: str) -> None:
    text = f"# Changelog\n\n## [Unreleased]\n\n{heading}\n\n### Added\n\n- One.\n\n## 0.1.0\n\n- Another.\n"
    assert notes(text, "0.2.0") == "### Added\n\n- One."
    assert notes(text, "0.1.0") == "- Another."


def test_a_version_without_notes_is_one_sentence() -> None:
    said = subprocess.run([sys.executable, "scripts/notes.py", "0"], cwd=HOME, capture_output=True, text=True)
    assert (said.returncode, said.stdout, said.stderr.count("\n")) == (2, "", 1)
    assert "'0'" in said.stderr


def test_the_steps_of_a_release_can_be_followed(built: Built, tmp_path: Path) -> None:
    """Those that change files, in a copy: the version and its notes are then where they should be."""
    source = shutil.copytree(built.source, tmp_path / "source")
    lines = [line[2:] for line in STEPS[0].splitlines() if re.match(r"\$ (export|\S*python|sed) ", line)]
    code = "\n".join(lines).replace("X.Y.Z", "9.8.7").replace(".venv/bin/python", sys.executable)
    subprocess.run(["bash", "-euc", code], cwd=source, check=True, capture_output=True)
    assert '__version__ = "9.8.7"' in (source / "crowdpilot/__init__.py").read_text()
    changelog = (source / "CHANGELOG.md").read_text()
    assert notes(changelog, "9.8.7") == notes((built.source / "CHANGELOG.md").read_text(), "Unreleased")
    assert "## [Unreleased]\n\n## 9.8.7 - " in changelog
