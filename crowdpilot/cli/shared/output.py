"""Output of commands: tables, CSV, JSON; messages and progress on standard error; several files at once."""

from __future__ import annotations

import csv
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

STATUS_DELAY_SECONDS = 1.0  # before the status of a computation is shown
QUIET, NORMAL, VERBOSE = -1, 0, 1
_verbosity = ContextVar("verbosity", default=NORMAL)


def verbosity() -> int:
    """How much the user wants to be told: `QUIET`, `NORMAL` or `VERBOSE`."""
    return _verbosity.get()


def set_verbosity(level: int) -> None:
    """Set how much is told from now on."""
    _verbosity.set(level)


def print_error(message: str) -> None:
    """Print one line on standard error, also if the user wants nothing but errors."""
    typer.echo(f"crowdpilot: {' '.join(message.splitlines())}", err=True)


def print_message(message: str) -> None:
    """Print one line on standard error, unless the user wants nothing but errors."""
    if verbosity() > QUIET:
        print_error(message)


def shows_progress() -> bool:
    """Whether progress is shown: at a terminal, unless the user wants nothing but errors."""
    return on_terminal(err=True) and verbosity() > QUIET


@contextmanager
def show_status(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being computed and for how long, once it has taken a second.

    The context is a function that replaces the text. With `-v`, a line says in the end how long it took.
    """
    text = what
    start = time.monotonic()

    def update(new_text: str) -> None:
        nonlocal text
        text = new_text

    if not shows_progress():
        yield update
        _print_duration(what, start)
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    spinner = Spinner("dots")

    def render() -> RenderableType:
        elapsed = time.monotonic() - start
        spinner.update(text=Text(f"{text} ({elapsed:.0f} s)"))
        return spinner if elapsed >= STATUS_DELAY_SECONDS else Group()

    with Live(get_renderable=render, console=Console(stderr=True), transient=True, refresh_per_second=8):
        yield update
    _print_duration(what, start)


def _print_duration(what: str, start: float) -> None:
    if verbosity() == VERBOSE:
        print_message(f"{what} took {time.monotonic() - start:.2f} s")


def on_terminal(*, err: bool = False) -> bool:
    """Whether standard output (or standard error) is a terminal.

    If TTY_COMPATIBLE is 0 or 1 it decides, as it does for rich. FORCE_COLOR does not: a file
    has the same rows and columns whether they are coloured or not.
    """
    compatible = os.environ.get("TTY_COMPATIBLE")
    return compatible == "1" if compatible in ("0", "1") else (sys.stderr if err else sys.stdout).isatty()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, as_json: bool = False) -> None:
    """Print rows: a table at a terminal, else CSV; or JSON."""
    if as_json:
        _write_json(columns, rows)
    elif on_terminal():
        from rich.console import Console

        Console().print(to_rich_table(columns, list(rows)))
    else:
        from crowdpilot.json_values import to_json_value

        table = csv.writer(sys.stdout, lineterminator="\n")
        table.writerow(columns)
        table.writerows(map(to_json_value, row) for row in rows)


def print_columns(columns: Mapping[str, Any], *, as_json: bool) -> None:
    """Print columns of arrays as CSV or JSON, however many rows there are."""
    from crowdpilot import io

    if as_json:
        _write_json(list(columns), zip(*(column.tolist() for column in columns.values()), strict=True))
    else:
        io.write_table(columns, sys.stdout)


def check_json(as_json: bool, output: Path | None) -> None:
    """Raise if a table is to be printed as JSON and written to a file at the same time."""
    if as_json and output is not None:
        raise ValueError("--json prints the table that -o writes to a file: leave out one of them")


def to_rich_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table for the terminal: numbers are right-aligned, with four decimals."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from crowdpilot.json_values import to_json_value

    cells = [[value if isinstance(value, Text) else to_json_value(value) for value in row] for row in rows]
    table = Table(box=SIMPLE_HEAD)
    for n, column in enumerate(columns):
        numeric = all(isinstance(row[n], (int, float, NoneType)) for row in cells)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(_cell, row))
    return table


def _cell(value: Any) -> Text:
    from rich.text import Text

    if isinstance(value, Text):
        return value
    return Text("" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value))


def _write_json(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a JSON list with an object for each row, one in a line."""
    from crowdpilot.json_values import to_json_value

    separator = "[\n"
    for row in rows:
        record = dict(zip(columns, map(to_json_value, row), strict=True))
        sys.stdout.write(f"{separator}{json.dumps(record, ensure_ascii=False)}")
        separator = ",\n"
    sys.stdout.write("[]\n" if separator == "[\n" else "\n]\n")


def write_all(files: Mapping[Path | None, Callable[[Path], Any]]) -> None:
    """Write every file that has a name, or none of them."""
    from crowdpilot.io.atomic_write import atomic_path

    with ExitStack() as drafts:
        for path, write in files.items():
            if path is not None:
                write(drafts.enter_context(atomic_path(path)))
