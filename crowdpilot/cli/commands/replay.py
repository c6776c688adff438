"""`crowdpilot replay`: measures what policies would have cost on recorded or simulated votes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.choices import DEFAULT_FUSION, FUSIONS, POLICIES
from crowdpilot.cli.shared.completion import complete_dataset, complete_fusion, complete_policy
from crowdpilot.cli.shared.costs import Prices, parse_costs
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import show_status, write_all
from crowdpilot.cli.shared.reading_options import ReadingOptions
from crowdpilot.optional_packages import load

if TYPE_CHECKING:
    from crowdpilot.hybrid.costs import Costs
    from crowdpilot.hybrid.replay.run import ReplayResult
    from crowdpilot.hybrid.replay.vote_source import Scenario

DEFAULT_POLICIES = ("value", "fixed", "posterior_threshold")
EXAMPLES = examples(
    "replay votes.csv --truth truth.csv --costs fp=1,fn=5,crowd=.02",
    'replay --simulate items=1000,skill=.75 -p value -p "fixed[votes=3]"',
)


@expand_options
def replay(
    dataset: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATASET",
            help="File or folder of votes, or a data set of `crowdpilot datasets`.",
            autocompletion=complete_dataset,
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="NAME",
            help=f"Policy to run, as in fixed[votes=3]; may be repeated. One of {', '.join(POLICIES)}; "
            f"if not given, {', '.join(DEFAULT_POLICIES)}.",
            autocompletion=complete_policy,
        ),
    ] = None,
    costs: Prices = None,
    seeds: Annotated[
        int, typer.Option(help="Number of runs of each policy, each with another random order of votes.")
    ] = 5,
    truth: options.Truth = None,
    machine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Classifier probabilities of the tasks: columns task and p_CLASS for each class. With "
            "--criteria, NAME=FILE for each.",
        ),
    ] = None,
    x: Annotated[
        Path | None,
        typer.Option(
            "--x",
            "--texts",
            "--features",
            metavar="FILE",
            help="The content of the tasks, on which a classifier is trained during a run: a table of texts "
            "or of numbers, .npz or .npy.",
        ),
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the criterion of a vote, where there are several: an item is included if "
            "the second class holds for all.",
        ),
    ] = None,
    simulate: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=N,...",
            help="Instead of DATASET, a simulated crowd: items=500, workers=50, skill=.8, spread=.1, "
            "classes=2, share=.5 (of the last class).",
        ),
    ] = None,
    fusion: Annotated[
        str,
        typer.Option(
            help=f"How crowd and classifier are combined: {', '.join(FUSIONS)}.",
            autocompletion=complete_fusion,
        ),
    ] = DEFAULT_FUSION,
    batch: Annotated[int | None, typer.Option(help="Number of votes that are requested together.")] = None,
    max_mean_votes: Annotated[
        float, typer.Option(help="Mean number of votes per item at which every run ends.")
    ] = math.inf,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the curves of all runs: .csv, .parquet.")
    ] = None,
    plot: options.Plot = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the curves of all runs.")] = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Run policies on the votes of DATASET, drawn without replacement, and compare their costs.

    Votes, cost and loss are for each item, in the end and on average over the seeds, ± one standard
    deviation. The expected loss is that of the campaign itself, by its posterior and without the truth.
    Without true labels there are only votes, cost and expected loss.
    """
    from crowdpilot import io
    from crowdpilot.cli.shared.replay_tables import curves, print_summaries, summarize, to_json
    from crowdpilot.cli.shared.scenarios import parse_simulation, read_scenario
    from crowdpilot.hybrid.policies import find_policy
    from crowdpilot.hybrid.replay.simulated_scenario import simulate_scenario
    from crowdpilot.hybrid.value.posterior import find_fusion

    names = [str(find_policy(text)) for text in policy or DEFAULT_POLICIES]
    find_fusion(fusion)
    _check(seeds, batch, max_mean_votes)
    options.check_writable(output, io.TABLES)
    options.check_writable(plot, options.PICTURE_SUFFIXES)
    draw = None if plot is None else load("crowdpilot.reporting.plots.replay", "the plot").save_replay
    if (dataset is None) == (simulate is None):
        raise ValueError("give either DATASET, a file or folder of votes, or --simulate, not both")
    if dataset is None:
        chosen = options.without_none(truth=truth, machine=machine, x=x, criteria=criteria)
        if chosen:
            raise ValueError(f"--{next(iter(chosen))} needs DATASET, so it cannot be given with --simulate")
        crowd = parse_simulation(simulate or "")
        scenario, _ = simulate_scenario(0, **crowd)
    else:
        crowd = None
        scenario = read_scenario(dataset, reading, truth=truth, machine=machine or (), x=x, criteria=criteria)
    prices = _prices(costs, scenario)
    policies = list(dict.fromkeys(names))
    runs = _run(scenario, prices, policies, seeds, fusion, batch, max_mean_votes, crowd)
    summaries = [summarize(name, [run for run in runs if run.policy == name]) for name in policies]
    write_all({
        output: lambda draft: io.write_table(curves(runs), draft),
        plot: lambda draft: draw is not None and draw(draft, runs),
    })  # fmt: skip
    if as_json:
        typer.echo(to_json(scenario, prices, summaries))
    else:
        print_summaries(scenario, prices, summaries)


def _check(seeds: int, batch: int | None, max_mean_votes: float) -> None:
    for name, value in (("seeds", seeds), ("batch", 1 if batch is None else batch)):
        if value < 1:
            raise ValueError(f"--{name} is {value}, expected one or more")
    if not max_mean_votes > 0:
        raise ValueError(f"--max-mean-votes is {max_mean_votes}, expected a number above 0")


def _prices(text: str | None, scenario: Scenario) -> Costs:
    costs = parse_costs(text or "error=1", len(scenario.classes))
    if len(costs.prices) > 1:
        kinds = " and ".join(costs.prices)
        raise ValueError(f"--costs has prices for {kinds}, but the workers here are of one kind")
    return costs


def _run(
    scenario: Scenario, costs: Costs, policies: Sequence[str], seeds: int, fusion: str, batch: int | None,
    max_mean_votes: float, crowd: dict[str, Any] | None,
) -> list[ReplayResult]:  # fmt: skip
    """Every policy with every seed; policies with the same seed get the votes in the same order."""
    from crowdpilot.hybrid.plan import Plan
    from crowdpilot.hybrid.replay.run import replay_scenario
    from crowdpilot.hybrid.replay.simulated_scenario import simulate_scenario

    runs = []
    with warnings.catch_warnings(), show_status("replaying") as show_progress:
        warnings.simplefilter("once", UserWarning)  # fits that do not converge warn at every step
        for policy, seed in product(policies, range(seeds)):
            show_progress(f"replaying {policy}, {seed + 1} of {seeds}")
            source = None
            if crowd is not None:
                scenario, source = simulate_scenario(seed, **crowd)
            plan = Plan(policy=policy, fusion=fusion, seed=seed)
            runs.append(
                replay_scenario(
                    scenario, costs, plan, source=source, batch_size=batch, max_votes_per_item=max_mean_votes
                )
            )
    return runs
