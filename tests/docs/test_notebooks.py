"""The notebooks in examples: small, without outputs, listed in the docs; a thorough test runs them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from docs.hooks.notebook_pages import NOTEBOOKS, executed, on_site, pages, title, to_markdown

ROOT = Path(__file__).parents[2]
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
MAX_COLUMNS = 84  # of code, which the pages of the site show without scrolling
each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def menu(entry: Any) -> list[str]:
    """The addresses below an entry of the menu."""
    if isinstance(entry, str):
        return [entry]
    entries = entry.values() if isinstance(entry, dict) else entry
    return [address for inner in entries for address in menu(inner)]


def test_there_are_ten_and_the_menu_and_the_page_about_them_have_all() -> None:
    assert len(PATHS) == 10
    addresses = menu(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    assert [address for address in addresses if address.startswith("notebooks/")] == list(pages())
    page = on_site((ROOT / "docs" / "notebooks.md").read_text())
    listed = re.findall(r"\[([^]]+)\]\((notebooks/[^)]+)\)", page)
    assert listed == [(title(path).removeprefix("# "), address) for address, path in pages().items()]


@each
def test_a_notebook_is_valid_short_and_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert path.read_text() == nbformat.writes(notebook) + "\n"
    assert 8 <= len(notebook.cells) <= 20
    assert notebook.metadata.kernelspec.name == "python3"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert max(len(line) for cell in code for line in cell.source.splitlines()) <= MAX_COLUMNS


@each
def test_a_notebook_begins_with_its_question_and_what_it_needs(path: Path) -> None:
    first, *rest = nbformat.read(path, as_version=4).cells
    assert first.cell_type == "markdown"
    assert re.search(r"\A# [^\n]+\n\n[^\n]+\n\nIt needs `pip install \"crowdpilot\[", first.source)
    assert all(cell.source.strip() for cell in rest)


@each
def test_a_notebook_imports_what_its_readers_have(path: Path) -> None:
    """The package with its extras, and nothing of the project's folder."""
    code = "\n".join(
        cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
    )
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [n.module if isinstance(n, ast.ImportFrom) else a.name for n in nodes for a in n.names]
    allowed = {"crowdpilot", "numpy", "matplotlib", "sklearn", "json"}
    assert {str(name).partition(".")[0] for name in names} <= allowed


def test_a_page_has_the_outputs_of_its_cells_and_a_download() -> None:
    cells = [
        new_markdown_cell("# Title\n\nText."),
        new_code_cell("import matplotlib.pyplot as plt\nplt.subplots()[1]"),
        new_code_cell("print(1)\nprint(2)"),
        new_code_cell("import crowdpilot as cp\ncp.load('anesthesia')"),
    ]
    page = executed(nbformat.writes(new_notebook(cells=cells)), "name")
    assert page.startswith("# Title\n\n[Download this notebook](name.ipynb)")
    assert page.count("data:image/png") == 1
    assert "<Axes" not in page
    assert "``` {.text .output}\n1\n2\n```" in page
    assert page.count('<div class="notebook-output">') == 1


def test_a_page_has_text_where_nothing_was_run() -> None:
    cells = [new_markdown_cell("# Title\n\nText."), new_code_cell("1 + 1")]
    assert to_markdown(new_notebook(cells=cells), "name").endswith("Text.\n\n``` {.python}\n1 + 1\n```\n")


@pytest.mark.thorough
@each
def test_a_notebook_runs(path: Path) -> None:
    assert executed(path.read_text(), path.stem).count("notebook-output") > 0
