"""`crowdpilot strategies`: what votes can be aggregated by."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from typing import Annotated, Any

import typer
from rich.text import Text

from crowdpilot.aggregate import MODELS, Aggregator
from crowdpilot.cli.output import on_terminal, show


def strategies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with aliases and options.")] = False,
) -> None:
    """List what `aggregate` can do, with one line and the paper of each strategy."""
    rows = [describe(model) for model in MODELS.values()]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif on_terminal():
        show(
            ("strategy", "what it does, and the paper"), [(row["strategy"], _two_lines(row)) for row in rows]
        )
    else:
        shown = "strategy", "summary", "paper"
        show(shown, [tuple(row[column] for column in shown) for row in rows])


def _two_lines(row: dict[str, Any]) -> Text:
    return Text(row["summary"]).append(f"\n{row['paper']}", style="dim")


def describe(model: type[Aggregator]) -> dict[str, Any]:
    """What a model says of itself: its names, its options, and two parts of its docstring."""
    text = inspect.getdoc(model) or ""
    paper = re.search(r"\nReferences\n-+\n(.+?)(?:\n\n\S+\n-+\n|\Z)", text, re.DOTALL)
    return {
        "strategy": model.name,
        "aliases": list(model.aliases),
        "options": {field.name: repr(field.default) for field in fields(model)},
        "summary": " ".join(text.split("\n\n")[0].split()),
        "paper": " ".join(paper[1].split()) if paper else "",
    }
