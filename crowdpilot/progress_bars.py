"""Progress bars of long calls, one for each stage: on standard error or, in a notebook, below its cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any, NamedTuple, Protocol, Self

StageProgress = Callable[[str, int, int], None]  # of the stage, how much of it is done, and of how much
SECONDS_BETWEEN_UPDATES = 0.1
BAR_STYLE = "width:200px;vertical-align:middle"
CELL_STYLE = "border:none;background:none;padding:1px 14px 1px 0;text-align:left"


class Stage(NamedTuple):
    """How far a stage is."""

    done: int
    total: int
    note: str  # such as the scores so far
    started: float  # seconds of a clock


class Screen(Protocol):
    """Where bars are shown."""

    def show(self, stages: dict[str, Stage]) -> None:
        """Show all stages as they are now, in place of what was shown before."""

    def close(self) -> None:
        """Leave the last state as it is."""


class ProgressBars:
    """Bars that are updated in place.

    Parameters
    ----------
    shown
        Whether they are shown at all.
    transient
        Whether a terminal forgets them at the end.

    Examples
    --------
    >>> with ProgressBars(shown=False) as bars:
    ...     for n in range(10):
    ...         bars.update("reading", n + 1, 10)
    """

    def __init__(self, *, shown: bool = True, transient: bool = False) -> None:
        self._shown, self._transient = shown, transient
        self._stages: dict[str, Stage] = {}
        self._screen: Screen | None = None
        self._last_update = 0.0

    def __enter__(self) -> Self:
        if self._shown:
            self._screen = NotebookScreen() if in_notebook() else TerminalScreen(self._transient)
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.show(self._stages)
            self._screen.close()

    def update(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Set how much of a stage is done, and of how much; a new stage has a new bar."""
        now = time.monotonic()
        started = self._stages[stage].started if stage in self._stages else now
        self._stages[stage] = Stage(done, total, note, started)
        if self._screen is not None and (done >= total or now > self._last_update + SECONDS_BETWEEN_UPDATES):
            self._screen.show(self._stages)
            self._last_update = now


@contextmanager
def stage_progress(progress: StageProgress | bool) -> Iterator[StageProgress]:
    """The callback of a long call: the one that was given, or bars if `progress` is true."""
    if callable(progress):
        yield progress
    else:
        with ProgressBars(shown=progress) as bars:
            yield bars.update


def in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, as in JupyterLab, VS Code and Colab, which shows HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class NotebookScreen:
    """One output of a cell, which is replaced at each update."""

    def __init__(self) -> None:
        self._output: Any = None

    def show(self, stages: dict[str, Stage]) -> None:
        """Show all stages as they are now."""
        ipython = import_module("IPython.display")  # which is there in a notebook
        bars = ipython.HTML(stages_html(stages))
        if self._output is None:
            self._output = ipython.display(bars, display_id=True)
        else:
            self._output.update(bars)

    def close(self) -> None:
        """Leave the last state as it is."""


def stages_html(stages: dict[str, Stage]) -> str:
    """A table with a bar for each stage."""
    rows = []
    for name, (done, total, note, started) in stages.items():
        bar = f'<progress value="{done}" max="{max(total, 1)}" style="{BAR_STYLE}"></progress>'
        seconds = f"{time.monotonic() - started:.0f} s"
        cells = (escape(name), bar, f"{done:,} of {total:,}", seconds, escape(note))
        row = "".join(f'<td style="{CELL_STYLE}">{cell}</td>' for cell in cells)
        rows.append(f'<tr style="background:none">{row}</tr>')
    return f'<table class="crowdpilot" style="font-size:12px">{"".join(rows)}</table>'


class TerminalScreen:
    """Bars of rich on standard error."""

    def __init__(self, transient: bool) -> None:
        from rich.console import Console  # slow to import, and not needed without bars
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        stage, note = TextColumn("{task.description}"), TextColumn("{task.fields[note]}")
        columns = stage, BarColumn(), MofNCompleteColumn(), note, TimeRemainingColumn()
        self._bars = Progress(*columns, console=Console(stderr=True), transient=transient)
        self._ids: dict[str, Any] = {}
        self._bars.start()

    def show(self, stages: dict[str, Stage]) -> None:
        """Show all stages as they are now."""
        for name, stage in stages.items():
            if name not in self._ids:
                self._ids[name] = self._bars.add_task(name, total=stage.total, note="")
            self._bars.update(self._ids[name], completed=stage.done, total=stage.total, note=stage.note)

    def close(self) -> None:
        """Leave the last state as it is."""
        self._bars.stop()
