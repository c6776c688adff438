"""What no linter knows: the light part stays light, files stay short, modules import each other one way."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import MODULES, PACKAGE, import_circles, import_graph, imported_names

HEAVY = {"torch", "pandas", "polars", "pyarrow", "sklearn", "matplotlib", "typer", "rich"}


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE.parent))


def loaded_by(code: str) -> set[str]:
    """Top-level packages in memory after running `code` in a new interpreter."""
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); {code}; print(*sys.modules)"
    names = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    return {name.partition(".")[0] for name in names.split()}


@pytest.mark.parametrize(
    "module", ["", ".votes", ".aggregation", ".simulation", ".metrics", ".calibration", ".hybrid"]
)
def test_the_light_part_stays_light(module: str) -> None:
    assert loaded_by(f"import crowdpilot{module}") & HEAVY == set()


def test_help_does_not_wait_for_the_readers() -> None:
    assert loaded_by("import crowdpilot.cli") & {*HEAVY, "numpy", "scipy"} == {"typer"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_short_and_says_what_it_is_about(path: Path) -> None:
    text = path.read_text()
    about = ast.get_docstring(ast.parse(text)) or ""
    assert len(text.splitlines()) <= 300
    assert len(about) > 10, "a module begins with one sentence about it"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_private_names_stay_in_their_file(path: Path) -> None:
    names = [f"{module}.{name}" for module, name in imported_names(path)]
    assert [n for n in names if any(is_private(part) for part in n.split("."))] == []


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def test_no_modules_import_each_other() -> None:
    assert import_circles(import_graph()) == []


FAMILIES = {
    "aggregation/models", "calibration/maps", "cli/commands", "datasets/sets", "hybrid/policies",
    "io/formats", "learning/methods", "service/http/routes", "simulation/crowds",
}  # fmt: skip
MAX_MODULES_PER_FOLDER = 16  # besides `__init__`


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=name_of)
def test_a_folder_can_be_taken_in_at_a_glance(folder: Path) -> None:
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    if folder.relative_to(PACKAGE).as_posix() not in FAMILIES:
        assert len(modules) <= MAX_MODULES_PER_FOLDER


def test_nothing_below_the_command_line_prints() -> None:
    below = [p for p in MODULES if p.relative_to(PACKAGE).parts[0] not in ("cli", "__main__.py")]
    calls = [(name_of(p), node) for p in below for node in ast.walk(ast.parse(p.read_text()))]
    assert [
        f"{path}:{n.lineno}"
        for path, n in calls
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print"
    ] == []


def test_every_module_is_tested_where_one_looks_for_it() -> None:
    """Each room has a folder of tests of the same name."""
    tests = PACKAGE.parent / "tests"
    rooms = {path.parent.relative_to(PACKAGE) for path in PACKAGE.glob("*/__init__.py")}
    assert [str(room) for room in sorted(rooms) if not (tests / room).is_dir()] == []
