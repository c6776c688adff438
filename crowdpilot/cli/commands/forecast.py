"""`crowdpilot forecast`: what a campaign will cost, and how wrong it will be then."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.completion import complete_policy
from crowdpilot.cli.shared.costs import Prices, parse_costs
from crowdpilot.cli.shared.help_examples import examples
from crowdpilot.cli.shared.output import note, show, working
from crowdpilot.cli.shared.plotting import load_drawing
from crowdpilot.cli.shared.training_results import write_all
from crowdpilot.cli.shared.vote_files import check_tasks, read_known
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.forecast.curves import Answer, Forecast
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policies import POLICIES, find_policy

PICTURES = (".svg", ".png", ".pdf")
MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the way to the end that are shown
Measure = Literal["loss", "error"]

EXAMPLES = examples(
    "forecast --skill .8 --items 1000 --costs fp=1,fn=5,crowd=.02",
    "forecast pilot.csv --items 1000 --target-error .02 --plot curve.svg",
)


def forecast(
    votes: Annotated[
        Path | None, typer.Argument(metavar="[VOTES]", help="File or folder of votes: those of a pilot.")
    ] = None,
    costs: Prices = None,
    items: Annotated[
        int | None, typer.Option(help="Items in all; those that are not in VOTES are taken to be alike.")
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
            help="What a machine says of the tasks in VOTES: columns task and p_CLASS. Without VOTES, how "
            "often it is right.",
        ),
    ] = None,
    skill: Annotated[float | None, typer.Option(help="Without VOTES: how often a worker is right.")] = None,
    spread: Annotated[
        float | None, typer.Option(help="Without VOTES: how unsure that is, one standard deviation; 0.05.")
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="All classes in their order; without VOTES, how many; 2."),
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
            "--policy", "-p", help=f"How to ask: {', '.join(POLICIES)}.", autocompletion=complete_policy
        ),
    ] = Plan().policy,
    most: Annotated[int | None, typer.Option(help="Votes that can be had on an item at most.")] = None,
    ways: Annotated[int, typer.Option(help="Ways in which it may go that are simulated.")] = 20,
    level: options.Level = 0.9,
    seed: options.Seed = 0,
    plot: Annotated[Path | None, typer.Option(help="File for a picture: .svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the curves.")] = False,
    abstain: options.Abstain = None,
    format: options.Format = None,
    columns: options.Columns = None,
    question: options.Question = None,
) -> None:
    """Foresee what a campaign will cost and lose, from a pilot (VOTES) or from what its designer expects.

    Both by simulation of the policy, with crowds that the pilot or the designer leaves possible. Numbers
    are for each item: the median, and between what they lie with the probability of the level. The crowd
    as a whole may err, which no vote tells; true labels of the pilot (`--gold`) narrow the intervals.
    """
    find_policy(policy)
    options.ready(plot, PICTURES)
    draw = None if plot is None else load_drawing("reporting.plots.forecast", "save_forecast", "the picture")
    target = _target(target_loss, target_error)
    rest = {"most": most, "ways": ways, "level": level, "seed": seed}
    with working("simulating campaigns"), warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)  # what does not settle says so at every step
        if votes is None:
            _refuse(
                "needs VOTES", gold=gold, abstain=abstain, format=format, columns=columns, question=question
            )
            found = _designed(costs, items, classes, prevalence, machine, skill, spread, policy, rest)
        else:
            _refuse("is for forecasts without VOTES", skill=skill, spread=spread, prevalence=prevalence)
            asked = options.reading(format, columns, question, classes, abstain)
            found = _piloted(votes, asked, costs, items, gold, machine, policy, rest)
    answer = None if target is None else found.cost_of(**target)
    shown: Measure = "error" if target_error is not None else "loss"
    if plot is not None and draw is not None:
        value = None if target is None else next(iter(target.values()))
        write_all({plot: lambda draft: draw(draft, found, shown, value)})
    _print(found, answer, as_json)


def _target(loss: float | None, error: float | None) -> dict[str, float] | None:
    given = options.given(loss=loss, error=error)
    if len(given) > 1:
        raise ValueError("--target-loss and --target-error are two questions: give one of them")
    for name, value in given.items():
        if not value >= 0:
            raise ValueError(f"--target-{name} is {value}, expected a number of 0 or more")
    return given or None


def _refuse(why: str, **asked: Any) -> None:
    if given := options.given(**asked):
        raise ValueError(f"--{next(iter(given))} {why}")


def _piloted(
    file: Path, asked: dict[str, Any], costs: str | None, items: int | None, gold: Path | None,
    machine: str | None, policy: str, rest: dict[str, Any],
) -> Forecast:  # fmt: skip
    """After a pilot whose votes are in a file."""
    from crowdpilot.cli.shared.scenarios import read_case
    from crowdpilot.hybrid.campaign.campaign import Campaign
    from crowdpilot.hybrid.forecast.simulation import forecast as foresee

    case = read_case(file, asked, machine=() if machine is None else (machine,))
    names = [str(name) for name in case.items.tolist()]
    more = 0 if items is None else items - len(names)
    if more < 0:
        raise ValueError(f"--items is {items}, but {file} has votes on {len(names)} already")
    prices = parse_costs(costs or "error=1", len(case.classes))
    votes = case.votes[""]
    campaign = Campaign(
        case.items, case.classes, prices, plan=Plan(policy=policy, seed=rest["seed"]), machine=case.machine
    )
    told = (votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label])
    campaign.tell(list(zip(*(column.tolist() for column in told), strict=True)), refit=True)
    like = np.random.default_rng(rest["seed"]).integers(0, len(names), more)
    said = None if case.machine is None else np.asarray(case.machine)[like]
    campaign.add([f"like {names[row]} ({n})" for n, row in enumerate(like)], machine=said)
    known = {str(task): str(label) for task, label in (read_known(gold) or {}).items()}
    code = {str(name): name for name in case.classes.tolist()}
    if lost := [label for label in known.values() if label not in code]:
        raise ValueError(f"{gold} has the label {lost[0]!r}, which is none of {', '.join(code)}")
    true = {
        item: code[known[name]]
        for item, name in zip(case.items.tolist(), names, strict=True)
        if name in known
    }
    if gold is not None:
        check_tasks(gold, known, case.items)
    return foresee(campaign, gold=true, **rest)


def _designed(
    costs: str | None, items: int | None, classes: list[str] | None, prevalence: str | None,
    machine: str | None, skill: float | None, spread: float | None, policy: str, rest: dict[str, Any],
) -> Forecast:  # fmt: skip
    """Before any vote, from what a designer expects."""
    from crowdpilot.hybrid.forecast.simulation import forecast_design

    if skill is None or items is None:
        raise ValueError("give VOTES, or --skill and --items for a forecast before any vote")
    given = [part for text in classes or ["2"] for part in text.split(",") if part.strip()]
    K = int(given[0]) if len(given) == 1 and given[0].isdigit() else len(given)
    if K < 2:
        raise ValueError(f"--classes is {','.join(given)}, expected 2 or more")
    prices: Costs = parse_costs(costs or "error=1", K)
    shares = _numbers("prevalence", prevalence)
    if K == 2 and shares is not None and len(shares) == 1:
        shares = [1 - shares[0], shares[0]]
    right = _numbers("machine", machine)
    more = options.given(spread=spread, machine=None if right is None else right[0])
    return forecast_design(
        items,
        prices,
        skill=skill,
        prevalence=shares,
        plan=Plan(policy=policy, seed=rest["seed"]),
        **more,
        **rest,
    )


def _numbers(name: str, text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"--{name} is {text!r}, expected numbers with commas between") from None


def _print(found: Forecast, answer: Answer | None, as_json: bool) -> None:
    if as_json:
        told = {} if answer is None else {"answer": answer.to_dict(), "in_words": str(answer)}
        typer.echo(json.dumps({**found.to_dict(), **told}, indent=2))
        return
    rows: list[tuple[Any, ...]] = []
    first, last = float(found.cost[0]), found.end("spent").high
    for cost in dict.fromkeys(first + mark * (last - first) for mark in MARKS):
        rows.append((f"loss if {cost:.4g} is spent", *_outward(found.at(cost))))
        rows.append((f"error rate if {cost:.4g} is spent", *_outward(found.at(cost, "error"))))
    for name in ("spent", "votes", "loss", "error"):
        rows.append((f"{name} in the end", *_outward(found.end(name))))
    show(("for each item", "median", "at least", "at most"), rows)
    if answer is not None:
        note(str(answer))


def _outward(interval: Any) -> tuple[float, float, float]:
    return interval.middle, interval.low, interval.high
