"""`crowdpilot forecast`: predicts cost, loss and error rate of a campaign by simulation."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.choices import DEFAULT_POLICY, POLICIES
from crowdpilot.cli.shared.completion import complete_policy
from crowdpilot.cli.shared.costs import Prices, parse_costs
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, print_table, show_status, write_all
from crowdpilot.cli.shared.reading_options import ReadingOptions, check_tasks, read_true_labels
from crowdpilot.optional_packages import load

if TYPE_CHECKING:
    from crowdpilot.hybrid.costs import Costs
    from crowdpilot.hybrid.forecast.curves import Forecast, PredictionInterval, TargetCost

SHOWN_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the money left to spend, at which the curves are shown
Measure = Literal["loss", "error"]

EXAMPLES = examples(
    "forecast --skill .8 --items 1000 --costs fp=1,fn=5,crowd=.02",
    "forecast pilot.csv --items 1000 --target-error .02 --plot curve.svg",
)


@dataclass(frozen=True)
class ForecastReadingOptions(ReadingOptions):
    """The options of reading votes; without votes, the classes can be given by their number."""

    classes: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="All classes in their order; without VOTES, how many; 2."),
    ] = None


@expand_options
def forecast(
    votes: Annotated[
        Path | None, typer.Argument(metavar="[VOTES]", help="File or folder of votes: those of a pilot.")
    ] = None,
    costs: Prices = None,
    items: Annotated[
        int | None, typer.Option(help="Items in all; those that are not in VOTES are assumed to be similar.")
    ] = None,
    target_error: Annotated[
        float | None, typer.Option(help="Share of wrong decisions that would be low enough.")
    ] = None,
    target_loss: Annotated[
        float | None, typer.Option(help="Cost of wrong decisions per item that would be low enough.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="File with the true label of tasks in VOTES: narrower intervals.")
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Classifier probabilities of the tasks in VOTES: columns task and p_CLASS. Without VOTES, "
            "the accuracy of a classifier.",
        ),
    ] = None,
    skill: Annotated[float | None, typer.Option(help="Without VOTES: expected accuracy of a worker.")] = None,
    spread: Annotated[
        float | None, typer.Option(help="Without VOTES: standard deviation of that accuracy; 0.05.")
    ] = None,
    prevalence: Annotated[
        str | None,
        typer.Option(
            metavar="P,...", help="Without VOTES: share of each class, or of the second of two; equal shares."
        ),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            "-p",
            help=f"Which votes are asked for: {', '.join(POLICIES)}.",
            autocompletion=complete_policy,
        ),
    ] = DEFAULT_POLICY,
    max_votes: Annotated[int | None, typer.Option(help="Maximum number of votes on an item.")] = None,
    runs: Annotated[int, typer.Option(help="Number of simulated campaigns.")] = 20,
    level: options.Level = 0.9,
    seed: options.Seed = 0,
    plot: options.Plot = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the curves.")] = False,
    *,
    reading: ForecastReadingOptions,
) -> None:
    """Predict the cost and loss of a campaign, from a pilot (VOTES) or from what its designer expects.

    The policy is simulated with crowds that are probable after the pilot or by design. Numbers are for each
    item: the median and a prediction interval of the level. The crowd as a whole may err, which votes do not
    show; true labels of the pilot (`--gold`) narrow the intervals.
    """
    from crowdpilot.hybrid.policies import find_policy

    find_policy(policy)
    options.check_writable(plot, options.PICTURE_SUFFIXES)
    draw = None if plot is None else load("crowdpilot.reporting.plots.forecast", "the plot").save_forecast
    target = _target(target_loss, target_error)
    rest = {"max_votes_per_item": max_votes, "runs": runs, "level": level, "seed": seed}
    with show_status("simulating campaigns"), warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)  # fits that do not converge warn at every step
        if votes is None:
            _refuse("needs VOTES", gold=gold, **replace(reading, classes=None).changed())
            result = _by_design(
                costs, items, reading.class_names, prevalence, machine, skill, spread, policy, rest
            )
        else:
            _refuse("is for forecasts without VOTES", skill=skill, spread=spread, prevalence=prevalence)
            result = _after_pilot(votes, reading, costs, items, gold, machine, policy, rest)
    target_cost = None if target is None else result.cost_of(**target)
    shown: Measure = "error" if target_error is not None else "loss"
    if plot is not None and draw is not None:
        value = None if target is None else next(iter(target.values()))
        write_all({plot: lambda draft: draw(draft, result, shown, value)})
    _print(result, target_cost, as_json)


def _target(loss: float | None, error: float | None) -> dict[str, float] | None:
    chosen = options.without_none(loss=loss, error=error)
    if len(chosen) > 1:
        raise ValueError("--target-loss and --target-error are two questions: give one of them")
    for name, value in chosen.items():
        if not value >= 0:
            raise ValueError(f"--target-{name} is {value}, expected a number of 0 or more")
    return chosen or None


def _refuse(why: str, **values: Any) -> None:
    if chosen := options.without_none(**values):
        raise ValueError(f"--{next(iter(chosen))} {why}")


def _after_pilot(
    file: Path, reading: ReadingOptions, costs: str | None, items: int | None, gold: Path | None,
    machine: str | None, policy: str, rest: dict[str, Any],
) -> Forecast:  # fmt: skip
    """Forecast after a pilot whose votes are in a file."""
    import numpy as np

    from crowdpilot.cli.shared.scenarios import read_scenario
    from crowdpilot.hybrid.campaign.campaign import Campaign
    from crowdpilot.hybrid.forecast import forecast as simulate_rest
    from crowdpilot.hybrid.plan import Plan

    scenario = read_scenario(file, reading, machine=() if machine is None else (machine,))
    names = [str(name) for name in scenario.items.tolist()]
    more = 0 if items is None else items - len(names)
    if more < 0:
        raise ValueError(f"--items is {items}, but {file} has votes on {len(names)} already")
    prices = parse_costs(costs or "error=1", len(scenario.classes))
    votes = scenario.votes[""]
    probs = scenario.classifier_probs
    plan = Plan(policy=policy, seed=rest["seed"])
    campaign = Campaign(scenario.items, scenario.classes, prices, plan=plan, classifier_probs=probs)
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    campaign.tell(list(zip(*(column.tolist() for column in columns), strict=True)), refit=True)
    like = np.random.default_rng(rest["seed"]).integers(0, len(names), more)
    new_probs = None if probs is None else np.asarray(probs)[like]
    campaign.add([f"like {names[row]} ({n})" for n, row in enumerate(like)], classifier_probs=new_probs)
    known = {str(task): str(label) for task, label in (read_true_labels(gold) or {}).items()}
    code = {str(name): name for name in scenario.classes.tolist()}
    if unknown := [label for label in known.values() if label not in code]:
        raise ValueError(f"{gold} has the label {unknown[0]!r}, which is none of {', '.join(code)}")
    truth = {
        item: code[known[name]]
        for item, name in zip(scenario.items.tolist(), names, strict=True)
        if name in known
    }
    if gold is not None:
        check_tasks(gold, known, scenario.items)
    return simulate_rest(campaign, gold=truth, **rest)


def _by_design(
    costs: str | None, items: int | None, classes: list[str] | None, prevalence: str | None,
    machine: str | None, skill: float | None, spread: float | None, policy: str, rest: dict[str, Any],
) -> Forecast:  # fmt: skip
    """Forecast before any vote, from what a designer expects."""
    from crowdpilot.hybrid.forecast import forecast_design
    from crowdpilot.hybrid.plan import Plan

    if skill is None or items is None:
        raise ValueError("give VOTES, or --skill and --items for a forecast before any vote")
    named = classes or ["2"]
    K = int(named[0]) if len(named) == 1 and named[0].isdigit() else len(named)
    if K < 2:
        raise ValueError(f"--classes is {','.join(named)}, expected 2 or more")
    prices: Costs = parse_costs(costs or "error=1", K)
    shares = None if prevalence is None else options.parse_numbers("--prevalence", prevalence)
    if K == 2 and shares is not None and len(shares) == 1:
        shares = [1 - shares[0], shares[0]]
    accuracy = None if machine is None else options.parse_numbers("--machine", machine)[0]
    more = options.without_none(spread=spread, classifier_accuracy=accuracy)
    return forecast_design(
        items,
        prices,
        skill=skill,
        prevalence=shares,
        plan=Plan(policy=policy, seed=rest["seed"]),
        **more,
        **rest,
    )


def _print(result: Forecast, target_cost: TargetCost | None, as_json: bool) -> None:
    if as_json:
        target = {}
        if target_cost is not None:
            target = {"target_cost": target_cost.to_dict(), "in_words": str(target_cost)}
        typer.echo(json.dumps({**result.to_dict(), **target}, indent=2))
        return
    rows: list[tuple[Any, ...]] = []
    first, last = float(result.cost[0]), result.end("spent").high
    for cost in dict.fromkeys(first + share * (last - first) for share in SHOWN_SHARES):
        rows.append((f"loss if {cost:.4g} is spent", *_cells(result.at(cost))))
        rows.append((f"error rate if {cost:.4g} is spent", *_cells(result.at(cost, "error"))))
    for name in ("spent", "votes", "loss", "error"):
        rows.append((f"{name} in the end", *_cells(result.end(name))))
    print_table(("for each item", "median", "at least", "at most"), rows)
    if target_cost is not None:
        print_message(str(target_cost))


def _cells(interval: PredictionInterval) -> tuple[float, float, float]:
    return interval.median, interval.low, interval.high
