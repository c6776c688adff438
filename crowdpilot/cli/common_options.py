"""Options of every command: `-q`, `-v` and `-V`, before the name of the command or after it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from crowdpilot import __version__
from crowdpilot.cli.shared.output import NORMAL, QUIET, VERBOSE, set_verbosity, verbosity


def _be_quiet(wanted: bool) -> None:
    _choose(QUIET if wanted else NORMAL)


def _be_verbose(wanted: bool) -> None:
    _choose(VERBOSE if wanted else NORMAL)


def _choose(chosen: int) -> None:
    if chosen == NORMAL:
        return
    if verbosity() not in (NORMAL, chosen):
        raise typer.BadParameter("-q prints less and -v prints more: give one of them.")
    set_verbosity(chosen)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"crowdpilot {__version__}")
        raise typer.Exit


Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=_be_quiet, is_eager=True, help="Print errors and results only."),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", callback=_be_verbose, is_eager=True,
        help="Print more on standard error, such as how long each step took.",
    ),
]  # fmt: skip
Version = Annotated[
    bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
]


def add_common_options(command: Any) -> None:
    """Give a command these options, and each command of a group, *in place*."""
    for inner in getattr(command, "commands", {}).values():
        add_common_options(inner)
    app = typer.Typer(add_completion=False)
    app.command()(_with_common_options)
    options: list[Any] = typer.main.get_command(app).params
    for option in options:
        option.expose_value = False  # its callback does all of it
        option.hidden = "-V" in option.opts  # `crowdpilot --help` has it
        command.params.append(option)


def _with_common_options(quiet: Quiet = False, verbose: Verbose = False, version: Version = False) -> None:
    """A command that has nothing but these options."""
