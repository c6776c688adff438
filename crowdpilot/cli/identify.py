"""`crowdpilot identify`: which workers and which tasks to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from crowdpilot.cli import options
from crowdpilot.cli.output import note, on_terminal, show, working
from crowdpilot.cli.reading import read_known, read_votes

SCREEN = 40  # rows that a person is shown


def complete_identification(incomplete: str) -> list[tuple[str, str]]:
    """Identifications that begin like this, each with its one line."""
    from crowdpilot.diagnose import IDENTIFICATIONS

    return [(name, kind.summary) for name, kind in IDENTIFICATIONS.items() if name.startswith(incomplete)]


def identify(
    votes: options.Source,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            help="What to look for: workers, tasks, skill, trace_confusion, spam_score, glad, gold, seconds, "
            "labels, drift, collusion, entropy, difficulty or krippendorff_alpha.",
            autocompletion=complete_identification,
        ),
    ] = "workers",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the table: .csv, .tsv, .parquet, .jsonl, or .npy."),
    ] = None,
    labels: Annotated[
        str,
        typer.Option("--labels", "-l", metavar="STRATEGY", help="The aggregator that gives the labels."),
    ] = "auto",
    gold: options.Gold = None,
    exclude: options.Exclude = None,
    classes: options.Classes = None,
    abstain: options.Abstain = None,
    repeats: options.Again = "last",
    format: options.Format = None,
    columns: options.Columns = None,
    question: options.Question = None,
) -> None:
    """Score the workers or the tasks of VOTES, those to look at first.

    Without -o the table goes to standard output, as CSV unless a person is watching. A .npy file
    holds the score alone, in the order in which workers or tasks first occur.
    """
    from crowdpilot import io
    from crowdpilot.aggregate import parse_strategy
    from crowdpilot.diagnose import find_identification
    from crowdpilot.io.saving import whole

    kind, model = find_identification(strategy), parse_strategy(labels)
    asked = options.reading(format, columns, question, classes, abstain)
    options.ready(output, (*io.TABLES, ".npy"))
    data = read_votes(votes, asked, repeats, gold=read_known(gold), exclude=exclude)
    with working(f"looking at {strategy}"):
        found = kind.run(data, model)
    if output is not None and output.suffix == ".npy":
        with whole(output) as draft:
            np.save(draft, found[kind.score])
        return
    ordered = kind.worst_first(found)
    if output is not None:
        io.write_table(ordered, output)
    else:
        _show(ordered, kind.brief)


def _show(table: dict[str, Any], brief: tuple[str, ...]) -> None:
    """Everything for a program; for a person what fits a screen."""
    watched = on_terminal()
    names = list(brief) if watched and brief else list(table)
    rows = list(zip(*(table[name].tolist() for name in names), strict=True))
    show(names, rows[:SCREEN] if watched else rows)
    left = [f"{len(rows) - SCREEN} more rows"] * (len(rows) > SCREEN)
    left += [f"{len(table) - len(names)} more columns"] * (len(table) > len(names))
    if watched and left:
        note(f"{' and '.join(left)} with -o FILE")
