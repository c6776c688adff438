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
from typing import Any

import typer
from typer.core import TyperGroup

from crowdpilot.cli.shared.output import print_message
from crowdpilot.optional_packages import needed_for

ADVICE = {
    errno.ENOENT: "check the name",
    errno.EACCES: "choose another folder, or ask its owner",
    errno.EISDIR: "name a file in it",
    errno.ENOSPC: "make room, or choose another folder",
}


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
                print_message(f"interrupted; {str(error) or 'nothing was written'}")
                raise typer.Exit(143 if isinstance(error, Terminated) else 130) from None
            except (ValueError, OSError) as error:
                print_message(_message(error))
                raise typer.Exit(2) from None


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
        app.command(listed.name, epilog=module.EXAMPLES, **about)(command)
    return typer.main.get_group(app).commands[listed.name]


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
