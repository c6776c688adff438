"""`crowdpilot identify`: scores of workers or tasks, those to review first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared import many_files, options
from crowdpilot.cli.shared.completion import complete_strategy, with_summaries
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import check_json, on_terminal, print_message, print_table, show_status
from crowdpilot.cli.shared.reading_options import NumberedClasses, ReadingOptions, read_true_labels
from crowdpilot.cli.shared.training import content_scores
from crowdpilot.cli.shared.training.options import TrainingOptions

MAX_ROWS_ON_TERMINAL = 40
EXAMPLES = examples(
    "identify votes.csv",
    "identify votes.csv -s tasks -o tasks.csv",
    "identify votes.csv -s WAUM --x features.npz -o waum.csv",
)


def complete_identification(incomplete: str) -> list[tuple[str, str]]:
    """Identifications, each with its summary."""
    from crowdpilot.diagnosis import IDENTIFICATIONS

    known = {name: kind.summary for name, kind in IDENTIFICATIONS.items()} | content_scores.CONTENT_SCORES
    return with_summaries(known, incomplete)


@expand_options
def identify(
    votes: many_files.Source,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            "--method",
            help="Score to compute: workers, tasks, skill, trace_confusion, spam_score, glad, gold, seconds, "
            "labels, drift, collusion, entropy, difficulty or krippendorff_alpha; and, with the "
            "content of tasks in --x, AUM, WAUM or WAUM_perworker.",
            autocompletion=complete_identification,
        ),
    ] = "workers",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the table: .csv, .tsv, .parquet, .jsonl, or .npy."),
    ] = None,
    as_json: options.Json = False,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            "-l",
            metavar="STRATEGY",
            help="The aggregator that gives the labels, or the confusion matrices of WAUM; if not given, "
            "auto, for AUM majority_voting and for WAUM dawid_skene. Or a file of votes, if VOTES has none.",
            autocompletion=complete_strategy,
        ),
    ] = None,
    n_classes: NumberedClasses = None,
    *,
    score_options: content_scores.ContentScoreOptions,
    gold: options.Gold = None,
    exclude: options.Exclude = None,
    reading: ReadingOptions,
    cluster: many_files.Cluster = None,
    local_cluster: many_files.LocalCluster = None,
) -> None:
    """Score the workers or the tasks of VOTES, those to review first.

    Without -o the table goes to standard output, as CSV unless it is a terminal. A .npy file
    holds the score alone, in the order in which workers or tasks first occur.

    AUM and WAUM train a network on the content of the tasks. They are low where it disagrees
    with the votes: there the task is ambiguous or its votes are wrong.

    For votes in many Parquet files there are entropy, trace_confusion, spam_score, gold and glad.
    The entropies of all tasks are then written into the folder -o, or _entropy beside the votes,
    and the highest are shown; --labels is dawid_skene if not given.
    """
    from crowdpilot import io
    from crowdpilot.aggregation import parse_strategy
    from crowdpilot.cli.shared.identify_files import check_files
    from crowdpilot.cli.shared.training.data import read_data
    from crowdpilot.diagnosis import find_identification
    from crowdpilot.scale.files.shards import is_pattern

    check_json(as_json, output)
    reading = reading.with_numbered_classes(n_classes)
    answers = Path(labels) if labels is not None and Path(labels).is_file() else None
    labels = labels if answers is None else None
    if cluster is not None or local_cluster is not None or is_pattern(votes):
        kind = find_identification(check_files(strategy))
        score_options.refuse(strategy)
        files = reading.shards(votes, gold=gold, exclude=exclude)
        with many_files.open_engine(cluster, local_cluster) as engine:
            _identify_in_files(kind, check_files(strategy), files, labels, output, engine, as_json)
        return
    options.check_writable(output, (*io.TABLES, ".npy"))
    model = parse_strategy(labels or "auto")
    if content_scores.is_content_score(strategy):
        score = score_options.find(strategy, labels)
        content = read_data(
            votes, TrainingOptions(x=score_options.x, answers=answers, gold=gold, exclude=exclude), reading
        )
        kind, data = score_options.identification(score, content), content.votes
    else:
        kind = find_identification(strategy)
        score_options.refuse(strategy)
        data = reading.read(answers or votes, gold=read_true_labels(gold), exclude=exclude)
    with show_status(f"computing {strategy}"):
        table = kind.run(data, model)
    _save(kind, table, output, as_json)


def _identify_in_files(
    kind: Any, name: str, files: Any, labels: str | None, output: Path | None, engine: Any, as_json: bool
) -> None:
    from crowdpilot import io
    from crowdpilot.cli.shared.identify_files import task_score_columns, worker_score_columns

    if kind.score == "entropy":
        first = kind.worst_first(task_score_columns(files, output, engine, MAX_ROWS_ON_TERMINAL))
        _show({name: column[:MAX_ROWS_ON_TERMINAL] for name, column in first.items()}, kind.brief, as_json)
    else:
        options.check_writable(output, (*io.TABLES, ".npy"))
        _save(kind, worker_score_columns(name, files, labels, engine), output, as_json)


def _save(kind: Any, table: dict[str, Any], output: Path | None, as_json: bool) -> None:
    """Write a table to a file, or print it."""
    import numpy as np

    from crowdpilot import io
    from crowdpilot.io.atomic_write import atomic_path

    if output is not None and output.suffix == ".npy":
        with atomic_path(output) as draft:
            np.save(draft, table[kind.score])
    elif output is not None:
        io.write_table(kind.worst_first(table), output)
    else:
        _show(kind.worst_first(table), kind.brief, as_json)


def _show(table: dict[str, Any], brief: tuple[str, ...], as_json: bool) -> None:
    """Print a table: all of it, or what fits a terminal."""
    is_terminal = on_terminal() and not as_json
    names = list(brief) if is_terminal and brief else list(table)
    rows = list(zip(*(table[name].tolist() for name in names), strict=True))
    print_table(names, rows[:MAX_ROWS_ON_TERMINAL] if is_terminal else rows, as_json=as_json)
    left = [f"{len(rows) - MAX_ROWS_ON_TERMINAL} more rows"] * (len(rows) > MAX_ROWS_ON_TERMINAL)
    left += [f"{len(table) - len(names)} more columns"] * (len(table) > len(names))
    if is_terminal and left:
        print_message(f"{' and '.join(left)} with -o FILE")
