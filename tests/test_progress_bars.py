"""Progress bars: one output that is updated, in a notebook as on a terminal, and none unless asked for."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from crowdpilot.progress_bars import ProgressBars, Stage, in_notebook, stage_progress, stages_html

LOOP = """
from crowdpilot.progress_bars import ProgressBars
with ProgressBars() as bars:
    for stage in ("reading", "<writing>"):
        for n in range(200):
            bars.update(stage, n + 1, 200, f"loss {n}")
"""


def test_in_a_notebook_there_is_one_output_that_shows_the_end() -> None:
    notebook = new_notebook(cells=[new_code_cell(LOOP)])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output.data["text/html"].count("200 of 200") == 2
    assert "&lt;writing&gt;" in output.data["text/html"]


def test_bars_go_to_standard_error_and_a_file_has_them_once() -> None:
    done = subprocess.run([sys.executable, "-c", LOOP], check=True, capture_output=True, text=True)
    assert done.stdout == ""
    assert done.stderr.count("200/200") == 2


def test_bars_that_are_not_shown_load_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with ProgressBars(shown=False) as bars:
        bars.update("reading", 1, 2)
    assert capfd.readouterr() == ("", "")
    assert not in_notebook()


def test_a_function_is_called_instead_of_bars() -> None:
    calls: list[Any] = []
    with stage_progress(lambda *call: calls.append(call)) as report:
        report("reading", 1, 2)
    assert calls == [("reading", 1, 2)]


def test_a_stage_of_nothing_is_no_error() -> None:
    assert "0 of 0" in stages_html({"reading": Stage(0, 0, "", 0.0)})
