"""`crowdpilot replay`: what policies would have cost on votes that are known already."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.completion import complete_dataset, complete_fusion, complete_policy
from crowdpilot.cli.shared.costs import Prices, parse_costs
from crowdpilot.cli.shared.help_examples import examples
from crowdpilot.cli.shared.output import working
from crowdpilot.cli.shared.plotting import load_drawing
from crowdpilot.cli.shared.replay_tables import curves, measure, show_runs, to_json
from crowdpilot.cli.shared.scenarios import read_case, read_crowd, simulated
from crowdpilot.cli.shared.training_results import write_all
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import POLICIES, find_policy
from crowdpilot.hybrid.replay.run import ReplayResult
from crowdpilot.hybrid.replay.run import replay as run_replay
from crowdpilot.hybrid.replay.vote_source import Scenario
from crowdpilot.hybrid.value.posterior import FUSIONS, find_fusion

DEFAULT = ("value", "fixed", "posterior_threshold")
PICTURES = (".svg", ".png", ".pdf")
EXAMPLES = examples(
    "replay votes.csv --truth truth.csv --costs fp=1,fn=5,crowd=.02",
    'replay --simulate items=1000,skill=.75 -p value -p "fixed[votes=3]"',
)


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
            help=f"What to try, as in fixed[votes=3]; may be repeated. One of {', '.join(POLICIES)}; "
            f"if not given, {', '.join(DEFAULT)}.",
            autocompletion=complete_policy,
        ),
    ] = None,
    costs: Prices = None,
    seeds: Annotated[int, typer.Option(help="How often each policy is run, with other luck.")] = 5,
    truth: options.Truth = None,
    machine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="What a machine says of the tasks: columns task and p_CLASS for each class. With "
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
            help="The content of the tasks, from which a classifier learns on the way: a table of texts or "
            "of numbers, .npz or .npy.",
        ),
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that names the criterion of a vote, where there are several: an item is in if "
            "the second class holds for all.",
        ),
    ] = None,
    simulate: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=N,...",
            help="Instead of DATASET, a made-up crowd: items=500, workers=50, skill=.8, spread=.1, "
            "classes=2, share=.5 (of the last class).",
        ),
    ] = None,
    fusion: Annotated[
        str,
        typer.Option(
            help=f"How crowd and machine are joined: {', '.join(FUSIONS)}.", autocompletion=complete_fusion
        ),
    ] = Plan().fusion,
    batch: Annotated[int | None, typer.Option(help="Votes that are asked for together.")] = None,
    until: Annotated[float, typer.Option(help="Votes for each item at which every run ends.")] = math.inf,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the curves of all runs: .csv, .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a picture: .svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the curves of all runs.")] = False,
    classes: options.Classes = None,
    abstain: options.Abstain = None,
    format: options.Format = None,
    columns: options.Columns = None,
    question: options.Question = None,
) -> None:
    """Run policies on the votes of DATASET, drawn without replacement, and compare what they cost.

    Votes, cost and loss are for each item, in the end and on average over the seeds, ± one standard
    deviation. The expected loss is what the campaign itself believed, without looking at the truth.
    Without true labels there are only votes, cost and expected loss.
    """
    from crowdpilot import io

    names = [str(find_policy(text)) for text in policy or DEFAULT]
    find_fusion(fusion)
    _check(seeds, batch, until)
    options.ready(output, io.TABLES)
    options.ready(plot, PICTURES)
    draw = None if plot is None else load_drawing("reporting.plots.replay", "save_replay", "the picture")
    if (dataset is None) == (simulate is None):
        raise ValueError("give either DATASET, a file or folder of votes, or --simulate, not both")
    if dataset is None:
        given = options.given(truth=truth, machine=machine, x=x, criteria=criteria)
        if given:
            raise ValueError(f"--simulate makes up a crowd and has no use for --{next(iter(given))}")
        crowd = read_crowd(simulate or "")
        case, _ = simulated(0, **crowd)
    else:
        crowd = None
        asked = options.reading(format, columns, question, classes, abstain)
        case = read_case(dataset, asked, truth=truth, machine=machine or (), x=x, criteria=criteria)
    prices = _prices(costs, case)
    runs = _run(case, prices, list(dict.fromkeys(names)), seeds, fusion, batch, until, crowd)
    found = [measure(name, [run for run in runs if run.policy == name]) for name in dict.fromkeys(names)]
    write_all({
        output: lambda draft: io.write_table(curves(runs), draft),
        plot: lambda draft: draw is not None and draw(draft, runs),
    })  # fmt: skip
    if as_json:
        typer.echo(to_json(case, prices, found))
    else:
        show_runs(case, prices, found)


def _check(seeds: int, batch: int | None, until: float) -> None:
    for name, value in (("seeds", seeds), ("batch", 1 if batch is None else batch)):
        if value < 1:
            raise ValueError(f"--{name} is {value}, expected one or more")
    if not until > 0:
        raise ValueError(f"--until is {until}, expected a number above 0")


def _prices(text: str | None, case: Scenario) -> Costs:
    costs = parse_costs(text or "error=1", len(case.classes))
    if len(costs.prices) > 1:
        kinds = " and ".join(costs.prices)
        raise ValueError(f"--costs has prices for {kinds}, but those who answer here are of one kind")
    return costs


def _run(
    case: Scenario, costs: Costs, policies: Sequence[str], seeds: int, fusion: str, batch: int | None,
    until: float, crowd: dict[str, Any] | None,
) -> list[ReplayResult]:  # fmt: skip
    """Every policy with every seed; policies with the same seed have the same luck."""
    runs = []
    with warnings.catch_warnings(), working("replaying") as say:
        warnings.simplefilter("once", UserWarning)  # what does not settle says so at every step
        for policy, seed in product(policies, range(seeds)):
            say(f"replaying {policy}, {seed + 1} of {seeds}")
            world = None
            if crowd is not None:
                case, world = simulated(seed, **crowd)
            plan = Plan(policy=policy, fusion=fusion, seed=seed)
            runs.append(run_replay(case, costs, plan, batch=batch, most=until, world=world))
    return runs
