"""`crowdpilot agreement`: measures of agreement, or Cohen's kappa of pairs of workers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.completion import complete_measure
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import check_json, print_message, print_table, show_status
from crowdpilot.cli.shared.reading_options import ReadingOptions

if TYPE_CHECKING:
    from crowdpilot.votes import Votes

PAIRS = "For --pairs only"
EXAMPLES = examples(
    "agreement votes.csv",
    "agreement votes.csv --pairs -o kappas.csv",
)


@expand_options
def agreement(
    votes: options.Source,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Any of percent_agreement, fleiss_kappa, gwet_ac1, krippendorff_alpha and the same with "
            "_ordinal, _interval or _ratio; if not given, all that fit the classes.",
            autocompletion=complete_measure,
        ),
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Cohen's kappa of every two workers.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write: .csv, .tsv, .parquet or .jsonl.")
    ] = None,
    as_json: options.Json = False,
    level: options.Level = 0.95,
    samples: Annotated[int, typer.Option(help="Number of bootstrap samples.")] = 1000,
    seed: options.Seed = 0,
    min_shared: Annotated[
        int | None,
        typer.Option(help="Minimum number of tasks that two workers share; 10.", rich_help_panel=PAIRS),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of pairs, those that share most tasks first; 1000.", rich_help_panel=PAIRS
        ),
    ] = None,
    exclude: options.Exclude = None,
    *,
    reading: ReadingOptions,
) -> None:
    """Measure how much the workers of VOTES agree, with bootstrap intervals.

    Measures for other scales than the nominal one (ordinal, interval, ratio) are included if the
    classes are numbers. A measure that is undefined, as kappa if there is only one class, is
    left empty.
    """
    from crowdpilot import io

    names = options.split_commas(measure)
    bounds = options.without_none(min_shared=min_shared, limit=limit)
    _check(names, pairs, bounds)
    check_json(as_json, output)
    options.check_writable(output, io.TABLES)
    data = reading.read(votes, exclude=exclude)
    bootstrap: dict[str, Any] = {"level": level, "samples": samples, "seed": seed}
    with show_status("computing intervals"):
        table = _kappas(data, bounds | bootstrap) if pairs else _measures(data, names, bootstrap)
    if output is None:
        print_table(list(table), list(zip(*table.values(), strict=True)), as_json=as_json)
    else:
        io.write_table(table, output)


def _check(names: list[str], pairs: bool, bounds: dict[str, int]) -> None:
    if pairs and names:
        raise ValueError("--measure cannot be given with --pairs, which is about Cohen's kappa")
    if bounds and not pairs:
        raise ValueError(f"--{next(iter(bounds)).replace('_', '-')} can be given with --pairs only")


def _measures(votes: Votes, names: list[str], bootstrap: dict[str, Any]) -> dict[str, list[Any]]:
    from crowdpilot.diagnosis.agreement import Agreement, measure_agreement

    rows = measure_agreement(votes, measures=names or None, **bootstrap)
    if not rows[0].tasks:
        print_message("no task has two votes, so there is nothing to agree on")
    return dict(zip(Agreement._fields, map(list, zip(*rows, strict=True)), strict=True))


def _kappas(votes: Votes, settings: dict[str, Any]) -> dict[str, list[Any]]:
    from crowdpilot.diagnosis.pairwise_agreement import cohen_kappa

    kappas = cohen_kappa(votes, **settings)
    if not len(kappas.shared):
        print_message("no two workers share enough tasks; --min-shared says how many they need")
    return {name: column.tolist() for name, column in kappas._asdict().items()}
