"""All commands with their parameters, as the command line itself knows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from crowdpilot.cli import app


def commands() -> dict[str, Any]:
    """Every command by what is typed to call it, such as `keys list`, groups that do something too."""
    group: Any = typer.main.get_command(app)
    return dict(_walk("", group, typer.Context(group, info_name="crowdpilot")))


def _walk(name: str, command: Any, context: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield name.strip(), command
        return
    if name and command.invoke_without_command:
        yield name.strip(), command
    for part in command.list_commands(context):
        yield from _walk(f"{name} {part}", command.get_command(context, part), context)
