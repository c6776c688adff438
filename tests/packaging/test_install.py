"""The package as others get it: in an environment of its own, from an index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import crowdpilot
from tests.packaging.building import HOME, Built

pytestmark = pytest.mark.slow
EXTRAS = sorted(tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["optional-dependencies"])
USERS = [name for name in EXTRAS if name not in ("dev", "docs")]
PINNED = ("-c", str(HOME / "constraints.txt"))
CORE = 250e6  # bytes that an installation without extras may take, with its bytecode


@pytest.fixture(scope="module", autouse=True)
def index() -> None:
    """Some index of packages answers."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--no-deps"]
    if subprocess.run([*pip, *PINNED, "typer"], capture_output=True).returncode:
        pytest.skip("no index of packages can be reached from this machine")


@pytest.fixture(scope="module")
def bare(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the package and what it cannot do without."""
    folder = tmp_path_factory.mktemp("bare")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    run(sys.executable, "-m", "pip", "--python", folder, "install", "-q", *PINNED, built.wheel)
    return folder


def run(*words: str | Path, **environ: str) -> str:
    done = subprocess.run(
        words, env={**os.environ, **environ}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def program(name: str) -> str:
    """Where a program is, beside this Python or on the path; else the test is skipped."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    return found or pytest.skip(f"{name} is not on this machine; pip install {name}")


def test_the_light_part_is_small(bare: Path) -> None:
    packages = next(bare.glob("lib/*/site-packages"))
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) < CORE


def test_the_light_part_turns_votes_into_labels(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("task,worker,label\nowl,ann,bird\nowl,bob,bird\neel,ann,fish\n")
    said = run(bare / "bin" / "crowdpilot", "aggregate", tmp_path / "votes.csv", "-s", "mv")
    assert [line.split(",")[:2] for line in said.splitlines()[1:3]] == [["owl", "bird"], ["eel", "fish"]]


def test_the_light_part_shows_its_types(bare: Path, tmp_path: Path) -> None:
    """Whoever checks code that uses the package sees what it promises."""
    code = tmp_path / "use.py"
    code.write_text("import crowdpilot as cp\n\nreveal_type(cp.__version__)\ncp.Votes.of(1, 2)\n")
    mypy = [
        program("mypy"),
        "--python-executable",
        str(bare / "bin" / "python"),
        "--cache-dir",
        str(tmp_path),
    ]
    said = subprocess.run([*mypy, code], cwd=tmp_path, capture_output=True, text=True).stdout
    assert 'Revealed type is "str"' in said.replace("builtins.", "")
    assert 'Missing positional argument "label' in said


def test_pipx_runs_the_command(built: Built, tmp_path: Path) -> None:
    home = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    said = run(program("pipx"), "run", "--spec", built.wheel, "crowdpilot", "--version", **home)
    assert said.splitlines()[-1] == f"crowdpilot {crowdpilot.__version__}"


def test_uv_runs_the_command(built: Built) -> None:
    said = run(program("uv"), "tool", "run", "--from", built.wheel, "crowdpilot", "--version")
    assert said.splitlines()[-1] == f"crowdpilot {crowdpilot.__version__}"


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("extras", [[], *([name] for name in EXTRAS), USERS], ids=",".join)
def test_extras_can_be_had_as_wheels_with_the_versions_of_the_constraints(
    built: Built, extras: list[str], python: str
) -> None:
    wanted = [word for name in extras for word in ("--extra", name)]
    where = ["--python-version", python, "--only-binary", ":all:", "--quiet", "--no-header"]
    run(program("uv"), "pip", "compile", *where, *PINNED, *wanted, built.source / "pyproject.toml")


def test_classes_of_python_that_are_named_are_those_that_were_tried(built: Built) -> None:
    project = tomllib.loads((built.source / "pyproject.toml").read_text())["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python :: 3." in line]
    assert named == ["3.11", "3.12", "3.13"]
