"""Results to standard output; what is going on to standard error."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import NoneType
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

PATIENCE = 1.0  # seconds that may pass in silence


def note(message: str) -> None:
    """Tell the user something, in one line on standard error."""
    typer.echo(f"crowdpilot: {' '.join(message.splitlines())}", err=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on the terminal what is being done and for how long, once it has taken a second."""
    if not on_terminal(err=True):
        yield
        return
    start = time.monotonic()
    spinner = Spinner("dots")

    def shown() -> RenderableType:
        elapsed = time.monotonic() - start
        spinner.update(text=Text(f"{what} ({elapsed:.0f} s)"))
        return spinner if elapsed >= PATIENCE else Group()

    with Live(get_renderable=shown, console=Console(stderr=True), transient=True, refresh_per_second=8):
        yield


def on_terminal(*, err: bool = False) -> bool:
    """Whether a person reads standard output (or standard error) as it comes."""
    return Console(stderr=err).is_terminal


def show(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Results on standard output: a table for a person at a terminal, CSV for a program."""
    if on_terminal():
        Console().print(to_rich(columns, rows))
    else:
        csv.writer(sys.stdout, lineterminator="\n").writerows([columns, *rows])


def to_rich(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table for the terminal: numbers stand to the right, with four decimals."""
    table = Table(box=SIMPLE_HEAD)
    for column, values in zip(columns, zip(*rows, strict=True), strict=True):
        numeric = all(isinstance(value, (int, float, NoneType)) for value in values)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(value: Any) -> Text:
    if isinstance(value, Text):
        return value
    return Text("" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value))
