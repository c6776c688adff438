"""The group of all commands: loading a command when it is called, errors, warnings and interrupts."""

from __future__ import annotations

import errno
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from crowdpilot.cli.common_options import add_common_options
from crowdpilot.cli.peerannot_arguments import OTHER_WAYS, SAME_COMMANDS, as_typed_here
from crowdpilot.cli.shared.output import NORMAL, print_error, print_message, set_verbosity
from crowdpilot.optional_packages import needed_for

ADVICE = {
    errno.ENOENT: "check the name",
    errno.EACCES: "choose another folder, or ask its owner",
    errno.EISDIR: "name a file in it",
    errno.ENOSPC: "make room, or choose another folder",
}
STANDARD_INPUT = Path("-")
OUTPUTS = {  # parameters that name a file to write
    "output", "workers", "to_check", "plot", "folder", "too_hard", "save", "results", "target", "curves",
}  # fmt: skip
READ_AND_WRITTEN = {"checked", "second"}  # whose content `audit` keeps


class Commands(TyperGroup):
    """Commands whose modules are loaded when they are called.

    Wrong input ends with one line on standard error and exit code 2, an interrupt with one line and 130.
    """

    listing = False  # whether only names and short helps are needed, so that no module is loaded

    def get_command(self, ctx: Any, name: str) -> Any:
        listed = super().get_command(ctx, name)
        return listed if listed is None or self.listing else _load(listed)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.listing = True
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        self.listing = True
        return super().shell_complete(ctx, incomplete)

    def main(self, *args: Any, **options: Any) -> Any:
        set_verbosity(NORMAL)
        return super().main(*args, **options)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        first, *rest = args
        if first == "help":
            if not rest:
                typer.echo(ctx.get_help())
                raise typer.Exit
            return super().resolve_command(ctx, [*rest, "--help"])
        if first in OTHER_WAYS:
            print_error(OTHER_WAYS[first])
            raise typer.Exit(2)
        if first in SAME_COMMANDS:
            return super().resolve_command(ctx, [SAME_COMMANDS[first], *rest])
        if first not in self.commands and Path(first).exists():
            print_error(f"{first} is a file, not a command; its labels: crowdpilot aggregate {quote(first)}")
            raise typer.Exit(2)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings(), _interrupt_on_sigterm():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            try:
                with needed_for("this"):
                    result = super().invoke(ctx)
                sys.stdout.flush()  # a broken pipe is noticed here, not when Python ends
                return result
            except BrokenPipeError:
                raise  # typer exits without a message
            except KeyboardInterrupt as error:
                print_error(f"interrupted; {str(error) or 'nothing was written'}")
                raise typer.Exit(143 if isinstance(error, Terminated) else 130) from None
            except (ValueError, OSError) as error:
                print_error(_message(error))
                raise typer.Exit(2) from None


class Command(TyperCommand):
    """A command, one input of which may be standard input, and which does not write what it reads."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        return super().parse_args(ctx, as_typed_here(args))

    def invoke(self, ctx: Any) -> Any:
        names = {one.name: one.opts[0] if one.opts[0].startswith("-") else one.metavar for one in self.params}
        values = {name: value for name, value in ctx.params.items() if name not in OUTPUTS}
        inputs = [str(names[name]) for name, value in values.items() if value == STANDARD_INPUT]
        if len(inputs) > 1:
            raise ValueError(f"{' and '.join(inputs)} cannot both be standard input (-); name a file for one")
        _check_overwritten(ctx.params)
        return super().invoke(ctx)


def _check_overwritten(values: dict[str, Any]) -> None:
    """Raise if a file would be written that is read, or written twice."""
    files = {name: value for name, value in values.items() if isinstance(value, Path) and value.is_file()}
    outputs = [
        value.absolute() for name, value in values.items() if name in OUTPUTS and isinstance(value, Path)
    ]
    if twice := [output for output in outputs if outputs.count(output) > 1]:
        raise ValueError(f"{twice[0].name} would be written twice: choose two names")
    for output in files.keys() & OUTPUTS:
        for name in files.keys() - OUTPUTS - READ_AND_WRITTEN:
            if files[name].samefile(files[output]):
                raise ValueError(f"{files[output]} is read, so it is not written over: choose another name")


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM, which is handled like Ctrl-C."""


def _load(listed: Any) -> Any:
    """The command that a line of the list stands for."""
    module = import_module(f"crowdpilot.cli.commands.{listed.name.replace('-', '_')}")
    command = getattr(module, listed.name.replace("-", "_"))
    about = {"short_help": listed.help, "rich_help_panel": listed.rich_help_panel}
    app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=listed.name, **about)
    else:
        app.command(listed.name, cls=Command, epilog=module.EXAMPLES, **about)(command)
    loaded = typer.main.get_group(app).commands[listed.name]
    add_common_options(loaded)
    return loaded


@contextmanager
def _interrupt_on_sigterm() -> Iterator[None]:
    """SIGTERM raises `Terminated`, so that unfinished files are removed."""

    def terminate(*_: Any) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = "the results" if error.filename is None else error.filename
        return f"{where}: {error.strerror.lower()}; {ADVICE.get(error.errno or 0, 'choose another folder')}"
    return str(error)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_message(f"warning: {message}")
