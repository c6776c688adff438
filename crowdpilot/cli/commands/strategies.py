"""`crowdpilot strategies`: the aggregation models and the learning methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared.completion import describe
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import on_terminal, print_table

if TYPE_CHECKING:
    from rich.text import Text

EXAMPLES = examples(
    "strategies",
    "strategies --deep --json",
)


def strategies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with aliases and options.")] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="List the learning methods of `aggregate-deep`.")
    ] = False,
) -> None:
    """List the strategies of `aggregate`, each with its summary and paper."""
    rows = [describe(model) for model in _known(deep).values()]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif on_terminal():
        print_table(
            ("strategy", "what it does, and the paper"), [(row["strategy"], _two_lines(row)) for row in rows]
        )
    else:
        shown = "strategy", "summary", "paper"
        print_table(shown, [tuple(row[column] for column in shown) for row in rows])


def _known(deep: bool) -> Mapping[str, Any]:
    if deep:
        from crowdpilot.learning import METHODS

        return METHODS
    from crowdpilot.aggregation import MODELS

    return MODELS


def _two_lines(row: dict[str, Any]) -> Text:
    from rich.text import Text

    return Text(row["summary"]).append(f"\n{row['paper']}", style="dim")
