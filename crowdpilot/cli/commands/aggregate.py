"""`crowdpilot aggregate`: labels and their confidence from votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared import many_files, options
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import (
    VERBOSE,
    check_json,
    print_columns,
    print_message,
    show_status,
    shows_progress,
    to_rich_table,
    verbosity,
    write_all,
)
from crowdpilot.cli.shared.reading_options import ReadingOptions, read_true_labels

if TYPE_CHECKING:
    from crowdpilot.aggregation import Aggregate, Aggregator
    from crowdpilot.aggregation.accuracy.gold_suggestion import GoldSuggestion
    from crowdpilot.scale import Shards
    from crowdpilot.scale.engine import Engine
    from crowdpilot.votes import Votes

EXAMPLES = examples(
    "aggregate votes.csv",
    "aggregate votes.csv -o labels.csv --workers workers.csv --probs",
    'aggregate votes.csv -s "glad[max_iter=50]" --json',
    "aggregate votes.csv --to-check check.csv",
    "aggregate votes.csv --machine probs.csv",
)


@expand_options
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
    probs: options.Probs = False,
    gold: options.Gold = None,
    to_check: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the tasks to check next, by which the accuracy of all labels is known more "
            "exactly: fill in the column truth and give the file by --gold.",
        ),
    ] = None,
    checks: Annotated[
        int | None,
        typer.Option(min=1, help="Number of tasks to check; if not given, enough to halve the range."),
    ] = None,
    calibrated: Annotated[
        bool | None,
        typer.Option(
            "--calibrated/--model-probs",
            help="Honest probabilities, as many crowds have taught, or those of the model, which are often "
            "too sure.",
            show_default="--calibrated for auto alone",
        ),
    ] = None,
    exclude: options.Exclude = None,
    machine: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Classifier probabilities of the tasks: columns task and p_CLASS (or CLASS) for each class, "
            "or task, class and probability; .npy or .npz in the order of the tasks. Labels are those of "
            "votes and classifier together, by fusion or by -s crowdlab; tasks without votes get the "
            "classifier's.",
        ),
    ] = None,
    *,
    reading: ReadingOptions,
    max_iter: Annotated[int | None, typer.Option(help="Maximum number of iterations.")] = None,
    tol: Annotated[float | None, typer.Option(help="Tolerance: stop when an iteration gains less.")] = None,
    seed: Annotated[int | None, typer.Option(help=options.SEED_HELP, show_default="0")] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run the iterations with PyTorch on cuda or cpu.")
    ] = None,
    cluster: many_files.Cluster = None,
    local_cluster: many_files.LocalCluster = None,
    as_json: options.Json = False,
) -> None:
    """Write one label and its confidence for every task of VOTES, and say how many labels are right.

    Without -o, CSV (or JSON) with task, label and confidence goes to standard output. A file also has the
    number of votes and all other results of the strategy for each task; .npy is the array of
    probabilities, (tasks, classes), alone.

    Many Parquet files of votes are read one after the other, whatever their size, or on a cluster,
    and each gets a file of labels. All votes of a task must be in one file; `convert --shards`
    writes such files. The labels are those of one file with all votes.
    """
    from crowdpilot import io
    from crowdpilot.aggregation import Auto, Honest, parse_strategy
    from crowdpilot.aggregation.accuracy.gold_suggestion import suggest_gold
    from crowdpilot.aggregation.honest import without_honesty
    from crowdpilot.aggregation.registry import check_shares, with_classifier
    from crowdpilot.cli.shared.accuracy_lines import print_accuracy

    model = _set(parse_strategy(strategy), options.without_none(max_iter=max_iter, tol=tol, seed=seed))
    check_json(as_json, output)
    for file in (workers, to_check):
        options.check_writable(file, io.TABLES)
    if checks is not None and to_check is None:
        raise ValueError("--checks is the number of tasks that --to-check writes, so give that too")
    spread = cluster is not None or local_cluster is not None
    if spread or (many_files.is_many(votes) and _is_spread(votes, model, output)):
        one_file = {
            "device": device, "machine": machine, "to-check": to_check, "calibrated": calibrated or None,
        }  # fmt: skip
        if chosen := options.without_none(**one_file):
            raise ValueError(f"--{next(iter(chosen))} is for votes in one file, so leave it out")
        if as_json:
            raise ValueError("labels of votes in many files are written to files, so leave out --json")
        files = reading.shards(votes, gold=gold, exclude=exclude)
        with many_files.open_engine(cluster, local_cluster) as engine:
            _aggregate_files(model, files, engine, output, workers, probs)
        return
    options.check_writable(output, (*io.TABLES, ".npy"))
    data = reading.read(votes, gold=read_true_labels(gold), exclude=exclude)
    if machine is not None:
        model, data = with_classifier(model, data, machine)
    check_shares(model, data)
    if calibrated and not isinstance(model, Auto | Honest):
        model = Honest(model)
    with show_status(f"fitting {model}"):
        result = _fit(model, data, device)
        result = without_honesty(result) if calibrated is False else result
        suggestion = None if to_check is None else suggest_gold(result, checks)
    print_accuracy(result, suggestion, may_be_too_sure=calibrated is None)
    _explain(result)
    with show_status("writing"):
        _save(result, probs, {"tasks": output, "workers": workers, "checks": to_check}, suggestion)
    if suggestion is not None:
        n = len(suggestion)
        print_message(f"{to_check} has {n} tasks to check: fill in the truth, then add --gold {to_check}")
    if output is None:
        print_columns(_columns(result, probs), as_json=as_json)


def _columns(result: Aggregate, probs: bool) -> dict[str, Any]:
    """The columns of tasks on standard output."""
    votes = result.votes
    columns = {"task": votes.tasks, "label": result.labels, "confidence": result.confidence}
    each = zip(votes.classes, result.probs.T, strict=True) if probs else ()
    return columns | {f"p_{name}": p for name, p in each}


def _is_spread(votes: Path, model: Aggregator, output: Path | None) -> bool:
    """Whether files are worked on one by one; a folder that cannot be is read as one, if it fits."""
    from crowdpilot.scale.files.aggregation import supported_models

    return not votes.is_dir() or (model.name in supported_models() and (output is None or not output.suffix))


def _aggregate_files(
    model: Aggregator,
    files: Shards,
    engine: Engine | None,
    output: Path | None,
    workers: Path | None,
    probs: bool,
) -> None:
    from crowdpilot import io
    from crowdpilot.scale import aggregate_files
    from crowdpilot.scale.files.shards import LABELS_FOLDER

    folder = files.folder / LABELS_FOLDER if output is None else output
    if folder.suffix or folder.is_file():
        raise ValueError(f"{folder}: each file of votes gets a file of labels, expected a folder for them")
    with many_files.progress_bars() as progress:
        result = aggregate_files(model, files, engine=engine, output=folder, probs=probs, progress=progress)
    many_files.report_result(result)
    if workers is not None:
        io.write_table(result.to_workers_table(), workers)
    print_message(f"{result.n_tasks} tasks in {len(result.label_files)} files are labelled in {folder}")


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
    from crowdpilot.aggregation import Honest

    if isinstance(model, Honest):
        return replace(model, model=_set(model.model, settings))
    known = {field.name for field in fields(model)}
    if unknown := [name for name in settings if name not in known]:
        option = f"--{unknown[0].replace('_', '-')}"
        raise ValueError(f"{model.name} has no setting {unknown[0]}, so {option} cannot be given")
    return replace(model, **settings)


def _save(
    result: Aggregate, probs: bool, files: dict[str, Path | None], suggestion: GoldSuggestion | None
) -> None:
    """Write all files, or none."""
    import numpy as np

    from crowdpilot.io import write_table

    def write_tasks(path: Path) -> None:
        if path.suffix == ".npy":
            np.save(path, result.probs)
        else:
            write_table(result.columns(probs=probs), path)

    def write_checks(path: Path) -> None:
        write_table({} if suggestion is None else suggestion.columns(), path)

    write_all(
        {
            files["workers"]: lambda path: write_table(result.worker_columns(), path),
            files["checks"]: write_checks,
            files["tasks"]: write_tasks,
        }
    )


def _explain(result: Aggregate) -> None:
    if verbosity() == VERBOSE:
        iterations = f", {len(result.trace)} iterations" if result.trace else ""
        print_message(f"{result.votes} by {result.model}{iterations}")
    if scores := result.params.get("scores"):
        _show_scores(scores)


def _show_scores(scores: Sequence[Any]) -> None:
    """Print the weights of the candidates of `auto`: a table at a terminal, else one line."""
    if verbosity() == VERBOSE or shows_progress():
        from rich.console import Console

        Console(stderr=True).print(to_rich_table(scores[0]._fields, scores))
    else:
        counted = [f"{row.model} ({row.weight:.2f})" for row in scores if row.weight > 0]
        print_message(f"auto averages {', '.join(counted)} of {len(scores)} candidates")
