"""How every command ends when something goes wrong."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from crowdpilot.cli.output import note


class Commands(TyperGroup):
    """Wrong input ends in one line on standard error and exit code 2, whatever the command."""

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_warning
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()  # a broken pipe is noticed here, not when Python ends
                return result
            except BrokenPipeError:
                raise  # typer leaves without a word
            except (ValueError, OSError) as error:
                note(_sentence(error))
                raise typer.Exit(2) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"warning: {message}")
