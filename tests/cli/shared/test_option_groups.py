from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.testing import CliRunner

from crowdpilot.cli.shared.option_groups import expand_options


@dataclass(frozen=True)
class Size:
    """A group of two options."""

    width: Annotated[int, typer.Option(help="Pixels.")] = 3
    name: Annotated[str | None, typer.Option("--title", help="Title.")] = None


@dataclass(frozen=True)
class WideSize(Size):
    """The same group with another default."""

    width: Annotated[int, typer.Option(help="Many pixels.")] = 90


CALLS: list[tuple[Any, ...]] = []


@expand_options
def draw(file: str, *, size: Size, fast: bool = False) -> None:
    """Draw."""
    CALLS.append((file, size, fast))


@expand_options
def draw_wide(*, size: WideSize) -> None:
    """Draw much."""
    CALLS.append((size,))


def run(command: Any, *args: str) -> tuple[Any, ...]:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.output
    return CALLS.pop()


def test_a_group_is_replaced_by_its_options() -> None:
    assert list(inspect.signature(draw).parameters) == ["file", "width", "name", "fast"]


def test_the_command_gets_one_object_of_the_group() -> None:
    assert run(draw, "a.svg") == ("a.svg", Size(), False)
    assert run(draw, "a.svg", "--width", "5", "--title", "x", "--fast") == ("a.svg", Size(5, "x"), True)


def test_a_subclass_can_change_an_option_in_its_position() -> None:
    assert list(inspect.signature(draw_wide).parameters) == ["width", "name"]
    assert run(draw_wide, "--title", "x") == (WideSize(90, "x"),)
