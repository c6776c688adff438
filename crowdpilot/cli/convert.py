"""`crowdpilot convert`: votes from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdpilot.cli import options
from crowdpilot.cli.output import note, working


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File or folder of votes.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File or folder to write.")],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Format of IN; if not given, it is found by looking inside.",
            autocompletion=options.complete_format,
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of OUT; if not given, its suffix decides.",
            autocompletion=options.complete_format,
        ),
    ] = None,
    classes: options.Classes = None,
    abstain: options.Abstain = None,
    repeats: options.Again = "all",
    columns: options.Columns = None,
    question: options.Question = None,
) -> None:
    """Read the votes of IN and write them to OUT in another format."""
    from crowdpilot import io

    asked = options.reading(from_, columns, question, classes, abstain)
    with working(f"reading {source}"):
        votes = io.read(source, repeats=repeats, **asked)
    with working(f"writing {target}"):
        io.write(votes, target, format=to)
    left_out = f", {votes.dropped} rows without a vote left out" if votes.dropped else ""
    note(f"{len(votes)} votes written to {target}{left_out}")
