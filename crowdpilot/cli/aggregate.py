"""`crowdpilot aggregate`: from votes to labels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from crowdpilot.aggregate import Aggregate, Aggregator, parse_strategy
from crowdpilot.aggregate.shares import check_shares
from crowdpilot.cli import options
from crowdpilot.cli.output import note, on_terminal, to_rich, working
from crowdpilot.cli.reading import read_known, read_votes


def aggregate(
    votes: options.Source,
    strategy: options.Strategy = "auto",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the tasks: .csv, .tsv, .parquet, .jsonl, or .npy."),
    ] = None,
    workers: Annotated[Path | None, typer.Option(help="File for the workers: the same suffixes.")] = None,
    probs: Annotated[bool, typer.Option("--probs", help="Add a column for each class.")] = False,
    gold: options.Gold = None,
    exclude: options.Exclude = None,
    classes: options.Classes = None,
    abstain: options.Abstain = None,
    repeats: options.Again = "last",
    format: options.Format = None,
    columns: options.Columns = None,
    question: options.Question = None,
    max_iter: Annotated[int | None, typer.Option(help="Rounds at most.")] = None,
    tol: Annotated[float | None, typer.Option(help="Stop when a round gains less than this.")] = None,
    seed: Annotated[int | None, typer.Option(help="Where random numbers and lots begin.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more on standard error.")] = False,
) -> None:
    """Write one label and its confidence for every task of VOTES.

    Without -o, CSV with task, label and confidence goes to standard output. A file also has the
    number of votes and whatever else the strategy knows of a task; .npy is the array of
    probabilities, (tasks, classes), alone.
    """
    from crowdpilot import io

    model = _set(parse_strategy(strategy), options.given(max_iter=max_iter, tol=tol, seed=seed))
    asked = options.reading(format, columns, question, classes, abstain)
    options.ready(output, (*io.TABLES, ".npy"))
    options.ready(workers, io.TABLES)
    data = read_votes(votes, asked, repeats, gold=read_known(gold), exclude=exclude)
    check_shares(model, data)
    with working(f"fitting {model}"):
        result = model.fit(data)
    _explain(result, verbose)
    with working("writing"):
        _save(result, probs, output, workers)
    if output is None:
        table = result.to_table(probs=probs)
        shown = [c for c in table.column_names if c in ("task", "label", "confidence") or c.startswith("p_")]
        io.write_table(table.select(shown), sys.stdout)


def _set(model: Aggregator, settings: dict[str, Any]) -> Aggregator:
    """The same model with these settings, all of which it must have."""
    known = {field.name for field in fields(model)}
    if lost := [name for name in settings if name not in known]:
        option = f"--{lost[0].replace('_', '-')}"
        raise ValueError(f"{model.name} has no setting {lost[0]}, so {option} cannot be given")
    return replace(model, **settings)


def _save(result: Aggregate, probs: bool, output: Path | None, workers: Path | None) -> None:
    """Both files, or none."""
    from crowdpilot.io import write_table
    from crowdpilot.io.saving import whole

    with nullcontext() if workers is None else whole(workers) as draft:
        if draft is not None:
            write_table(result.to_workers_table(), draft)
        if output is not None and output.suffix == ".npy":
            with whole(output) as array:
                np.save(array, result.probs)
        elif output is not None:
            write_table(result.to_table(probs=probs), output)


def _explain(result: Aggregate, verbose: bool) -> None:
    if verbose:
        rounds = f", {len(result.trace)} rounds" if result.trace else ""
        note(f"{result.votes} by {result.model}{rounds}")
    if scores := result.params.get("scores"):
        _show_scores(scores, verbose)


def _show_scores(scores: Sequence[Any], verbose: bool) -> None:
    """How `auto` weighed its candidates: a table for a person, one line for a log."""
    if verbose or on_terminal(err=True):
        Console(stderr=True).print(to_rich(scores[0]._fields, scores))
    else:
        counted = [f"{row.model} ({row.weight:.2f})" for row in scores if row.weight > 0]
        note(f"auto averages {', '.join(counted)} of {len(scores)} candidates")
