"""`crowdpilot compare`: all strategies on votes whose truth is known, beside majority voting."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.completion import complete_strategy
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import (
    check_json,
    on_terminal,
    print_message,
    print_table,
    show_status,
    write_all,
)
from crowdpilot.cli.shared.reading_options import ReadingOptions, check_tasks, read_true_labels
from crowdpilot.optional_packages import load

if TYPE_CHECKING:
    from crowdpilot.aggregation.accuracy.comparison import StrategyScore

SHOWN = ("strategy", "accuracy (%)", "above majority", "verdict")  # at a terminal
EXAMPLES = examples(
    "compare votes.csv --truth truth.csv",
    "compare votes.csv --truth truth.csv -s dawid_skene -s glad -o table.csv --plot compare.svg",
)


@expand_options
def compare(
    votes: options.Source,
    labels: Annotated[
        Path | None,
        typer.Argument(metavar="[TRUTH]", help="The same as --truth.", show_default=False),
    ] = None,
    truth: options.Truth = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            help="A strategy to compare; may be repeated, or several with commas between them. All of "
            "`crowdpilot strategies` if not given.",
            autocompletion=complete_strategy,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the table: .csv, .tsv, .parquet or .jsonl."),
    ] = None,
    plot: options.Plot = None,
    as_json: options.Json = False,
    level: options.Level = 0.95,
    samples: Annotated[int, typer.Option(help="Number of bootstrap samples.")] = 1000,
    seed: options.Seed = 0,
    exclude: options.Exclude = None,
    *,
    reading: ReadingOptions,
) -> None:
    """Fit all strategies to VOTES and measure their labels by the truth, which none of them sees.

    The truth is that of --truth, or the true labels in VOTES. Majority voting is the baseline: of each
    strategy there is its accuracy and the difference to that of majority voting, both with bootstrap
    intervals; than_majority says whether the difference is more than chance, for all strategies
    together. A strategy that cannot be fitted to these votes is named with the reason.
    """
    from crowdpilot import io
    from crowdpilot.aggregation import compare as compare_strategies
    from crowdpilot.aggregation import parse_strategy

    if labels is not None and truth is not None:
        raise ValueError("the truth is given twice: name it once, after VOTES or by --truth")
    truth = truth or labels
    models = [parse_strategy(name) for name in _split(strategy or [])] or None
    check_json(as_json, output)
    if output is not None and output.suffix in options.PICTURE_SUFFIXES:
        raise ValueError(f"{output} is a picture, and -o is the table: give --plot {output}")
    options.check_writable(output, io.TABLES)
    options.check_writable(plot, options.PICTURE_SUFFIXES)
    draw = None if plot is None else load("crowdpilot.reporting.plots.comparison", "the plot").save_comparison
    data = reading.read(votes, exclude=exclude)
    known = read_true_labels(truth)
    if truth is not None:
        check_tasks(truth, known or {}, data.tasks)
    with show_status("comparing strategies") as show_progress:
        found = compare_strategies(
            data, known, models, level=level, samples=samples, seed=seed,
            progress=lambda name, done, total: show_progress(f"fitting {name}, {done + 1} of {total}"),
        )  # fmt: skip
    columns = found.columns()
    write_all({output: lambda draft: io.write_table(columns, draft)})
    if draw is not None:
        write_all({plot: lambda draft: draw(draft, found)})
    if output is None:
        if on_terminal() and not as_json:
            print_table(SHOWN, [_shown(row) for row in found.rows])
        else:
            print_table(list(columns), zip(*columns.values(), strict=True), as_json=as_json)
    for name, reason in found.skipped.items():
        print_message(f"{name} is left out: {reason}")
    print_message(found.summary)


def _split(strategies: list[str]) -> list[str]:
    """The names in each text; commas in brackets are between options."""
    return [name.strip() for text in strategies for name in re.split(r",(?![^\[]*\])", text) if name.strip()]


def _shown(row: StrategyScore) -> tuple[str, ...]:
    """A row for a person, with the bounds of intervals beside their values."""
    accuracy = f"{100 * row.accuracy:.1f} ({100 * row.accuracy_low:.1f} to {100 * row.accuracy_high:.1f})"
    bounds = f"{100 * row.difference_low:.1f} to {100 * row.difference_high:.1f}"
    difference = "" if row.than_majority == "baseline" else f"{100 * row.difference:+.1f} ({bounds})"
    return row.strategy, accuracy, difference, row.than_majority
