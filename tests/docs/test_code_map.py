"""The map of the code: every module is in it, and the files of the walks exist."""

from __future__ import annotations

import re

import pytest

from docs.hooks.code_map import PACKAGE, ROOT, code_map, first_line

PAGE = (ROOT / "docs" / "architecture.md").read_text()
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts)


def test_every_module_is_on_the_map() -> None:
    lines = code_map().splitlines()
    names = [path.name for path in MODULES if path.name not in {"__init__.py", "__main__.py"}]
    assert sorted(line.split()[0] for line in lines if ".py " in line) == sorted(names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_has_one_line_on_the_map(path) -> None:
    line = first_line(path)
    assert 20 <= len(line) <= 120
    assert line.endswith(".")


def test_the_files_of_the_walks_exist() -> None:
    files = re.findall(r"`(crowdpilot/[\w/]+\.py)`", PAGE)
    assert len(files) > 40
    assert [file for file in files if not (ROOT / file).exists()] == []
    assert len(re.findall(r"^### ", PAGE, re.MULTILINE)) == 5
