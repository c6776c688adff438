"""`crowdpilot aggregate`: from votes to labels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from crowdpilot.aggregation import Aggregate, Aggregator, parse_strategy
from crowdpilot.aggregation.registry import check_shares
from crowdpilot.cli.shared import many_files, options
from crowdpilot.cli.shared.help_examples import examples
from crowdpilot.cli.shared.output import check_json, note, on_terminal, show_columns, to_rich, working
from crowdpilot.cli.shared.vote_files import read_known, read_votes
from crowdpilot.votes import Votes

if TYPE_CHECKING:
    from crowdpilot.scale import Shards
    from crowdpilot.scale.engines import Engine

EXAMPLES = examples(
    "aggregate votes.csv",
    "aggregate votes.csv -o labels.csv --workers workers.csv --probs",
    'aggregate votes.csv -s "glad[max_iter=50]" --json',
)


def aggregate(
    votes: many_files.Source,
    strategy: options.Strategy = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the tasks: .csv, .tsv, .parquet, .jsonl, or .npy. For votes in many files, the "
            "folder for as many files of labels; _labels beside the votes if not given.",
        ),
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
    seed: Annotated[int | None, typer.Option(help="Where random numbers begin.")] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run the rounds there: cuda, or cpu for PyTorch.")
    ] = None,
    cluster: many_files.Cluster = None,
    local_cluster: many_files.LocalCluster = None,
    as_json: options.Json = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more on standard error.")] = False,
) -> None:
    """Write one label and its confidence for every task of VOTES.

    Without -o, CSV (or JSON) with task, label and confidence goes to standard output. A file also has the
    number of votes and whatever else the strategy knows of a task; .npy is the array of
    probabilities, (tasks, classes), alone.

    Many Parquet files of votes are read one after the other, whatever their size, or on a cluster,
    and each gets a file of labels. All votes of a task must be in one file; `convert --shards`
    writes such files. The labels are those of one file with all votes.
    """
    from crowdpilot import io

    model = _set(parse_strategy(strategy), options.without_none(max_iter=max_iter, tol=tol, seed=seed))
    asked = options.reading(format, columns, question, classes, abstain)
    check_json(as_json, output)
    options.ready(workers, io.TABLES)
    spread = cluster is not None or local_cluster is not None
    if spread or (many_files.is_many(votes) and _is_spread(votes, model, output)):
        if device is not None:
            raise ValueError("--device is for votes in one file, so leave it out")
        if as_json:
            raise ValueError("labels of votes in many files are written to files, so leave out --json")
        files = many_files.shards(votes, asked, repeats, gold, exclude)
        with many_files.engine(cluster, local_cluster) as engine:
            _aggregate_files(model, files, engine, output, workers, probs, verbose)
        return
    options.ready(output, (*io.TABLES, ".npy"))
    data = read_votes(votes, asked, repeats, gold=read_known(gold), exclude=exclude)
    check_shares(model, data)
    with working(f"fitting {model}"):
        result = _fit(model, data, device)
    _explain(result, verbose)
    with working("writing"):
        _save(result, probs, output, workers)
    if output is None:
        show_columns(_columns(result, probs), as_json=as_json)


def _columns(result: Aggregate, probs: bool) -> dict[str, Any]:
    """What standard output has of the tasks."""
    votes = result.votes
    columns = {"task": votes.tasks, "label": result.labels, "confidence": result.confidence}
    each = zip(votes.classes, result.probs.T, strict=True) if probs else ()
    return columns | {f"p_{name}": p for name, p in each}


def _is_spread(votes: Path, model: Aggregator, output: Path | None) -> bool:
    """Whether files are worked on one by one; a folder that cannot be is read as one, if it fits."""
    from crowdpilot.scale.files.aggregate import possible

    return not votes.is_dir() or (model.name in possible() and (output is None or not output.suffix))


def _aggregate_files(
    model: Aggregator,
    files: Shards,
    engine: Engine | None,
    output: Path | None,
    workers: Path | None,
    probs: bool,
    verbose: bool,
) -> None:
    from crowdpilot import io, scale
    from crowdpilot.scale.files.shards import LABELS

    folder = files.folder / LABELS if output is None else output
    if folder.suffix or folder.is_file():
        raise ValueError(f"{folder}: each file of votes gets a file of labels, expected a folder for them")
    with many_files.bars() as tell:
        summary = scale.aggregate(model, files, on=engine, output=folder, probs=probs, tell=tell)
    many_files.report(summary, verbose)
    if workers is not None:
        io.write_table(summary.to_workers_table(), workers)
    note(f"{summary.tasks} tasks in {len(summary.files)} files are labelled in {folder}")


def _fit(model: Aggregator, votes: Votes, device: str | None) -> Aggregate:
    if device is None:
        return model.fit(votes)
    from crowdpilot.scale import Torch

    try:
        return model.fit(votes, backend=Torch(device))
    except ValueError as error:
        raise ValueError(str(error).replace("`backend`", "--device")) from error


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
    from crowdpilot.io.atomic_write import atomic_path

    with nullcontext() if workers is None else atomic_path(workers) as draft:
        if draft is not None:
            write_table(result.worker_columns(), draft)
        if output is not None and output.suffix == ".npy":
            with atomic_path(output) as array:
                np.save(array, result.probs)
        elif output is not None:
            write_table(result.columns(probs=probs), output)


def _explain(result: Aggregate, verbose: bool) -> None:
    if verbose:
        rounds = f", {len(result.trace)} rounds" if result.trace else ""
        note(f"{result.votes} by {result.model}{rounds}")
    if scores := result.params.get("scores"):
        _show_scores(scores, verbose)


def _show_scores(scores: Sequence[Any], verbose: bool) -> None:
    """How `auto` weighed its candidates: a table for a person, one line for a log."""
    if verbose or on_terminal(err=True):
        from rich.console import Console

        Console(stderr=True).print(to_rich(scores[0]._fields, scores))
    else:
        counted = [f"{row.model} ({row.weight:.2f})" for row in scores if row.weight > 0]
        note(f"auto averages {', '.join(counted)} of {len(scores)} candidates")
