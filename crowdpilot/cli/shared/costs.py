"""The option `--costs`: costs of errors and votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from crowdpilot.hybrid.costs import Costs

Prices = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="NAME=NUMBER,...",
        help="Costs of errors and votes: fp=1,fn=5 for two classes (the second is the positive one), "
        "error=1 or matrix=FILE for any, and crowd=, expert=, classifier=, budget=.",
    ),
]


def parse_costs(text: str, classes: int) -> Costs:
    """Costs from the text of the option; errors name the option."""
    from crowdpilot.hybrid import costs_text

    return costs_text.parse_costs(text, classes, option="--costs")
