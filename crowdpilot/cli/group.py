"""How a command is found, and how every command ends when something goes wrong."""

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

from crowdpilot.cli.shared.missing_packages import missing_package_error
from crowdpilot.cli.shared.output import print_message

WHAT_NEXT = {
    errno.ENOENT: "check the name",
    errno.EACCES: "choose another place, or ask its owner",
    errno.EISDIR: "name a file in it",
    errno.ENOSPC: "make room, or choose another place",
}


class Commands(TyperGroup):
    """Commands whose module is loaded when one of them is called, and what all of them promise.

    Wrong input ends in one line on standard error and exit code 2, an interrupt in one line and 130.
    """

    listing = False  # whether what a command is about is all that is asked for

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
        with warnings.catch_warnings(), _orderly_end():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()  # a broken pipe is noticed here, not when Python ends
                return result
            except BrokenPipeError:
                raise  # typer leaves without a word
            except KeyboardInterrupt as error:
                print_message(f"interrupted; {str(error) or 'nothing was written'}")
                raise typer.Exit(143 if isinstance(error, Ended) else 130) from None
            except (ValueError, OSError, ModuleNotFoundError) as error:
                print_message(_sentence(error))
                raise typer.Exit(2) from None


class Ended(KeyboardInterrupt):
    """The process was asked to end by SIGTERM, which is to leave no more behind than Ctrl-C."""


def _load(listed: Any) -> Any:
    """The command itself, in the place of the line that lists it."""
    module = import_module(f"crowdpilot.cli.commands.{listed.name.replace('-', '_')}")
    found = getattr(module, listed.name.replace("-", "_"))
    about = {"short_help": listed.help, "rich_help_panel": listed.rich_help_panel}
    app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=listed.name, **about)
    else:
        app.command(listed.name, epilog=module.EXAMPLES, **about)(found)
    return typer.main.get_group(app).commands[listed.name]


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Drafts are removed also when the process is asked to end."""

    def end(*_: Any) -> None:
        raise Ended

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _sentence(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return str(missing_package_error("this", error))
    if isinstance(error, OSError) and error.strerror:
        where = "the results" if error.filename is None else error.filename
        return f"{where}: {error.strerror.lower()}; {WHAT_NEXT.get(error.errno or 0, 'choose another place')}"
    return str(error)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print_message(f"warning: {message}")
