"""`crowdpilot strategies`: the aggregation models and the learning methods."""

from __future__ import annotations

import inspect
import json
import re
from typing import Annotated, Any

import typer
from rich.text import Text

from crowdpilot.aggregation import MODELS
from crowdpilot.cli.shared.help_examples import examples
from crowdpilot.cli.shared.missing_packages import load_learning
from crowdpilot.cli.shared.output import on_terminal, show

EXAMPLES = examples(
    "strategies",
    "strategies --deep --json",
)


def strategies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with aliases and options.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Those of `aggregate-deep`, which train.")] = False,
) -> None:
    """List what `aggregate` can do, with one line and the paper of each strategy."""
    rows = [describe(model) for model in (load_learning().METHODS if deep else MODELS).values()]
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


def describe(model: Any) -> dict[str, Any]:
    """Names, options, summary and paper of a model or method, from its class and docstring."""
    text = inspect.getdoc(model) or ""
    parameters = inspect.signature(model).parameters.values()
    paper = re.search(r"\nReferences\n-+\n(.+?)(?:\n\n\S+\n-+\n|\Z)", text, re.DOTALL)
    return {
        "strategy": model.name,
        "aliases": list(model.aliases),
        "options": {p.name: repr(p.default) for p in parameters if p.default is not p.empty},
        "summary": " ".join(text.split("\n\n")[0].split()),
        "paper": " ".join(paper[1].split()) if paper else "",
    }
