"""Results of `replay`: mean and deviation over seeds as a table, a file of curves, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text

from crowdpilot.cli.shared.output import on_terminal, print_message, print_table
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.replay.run import ReplayResult
from crowdpilot.hybrid.replay.vote_source import Scenario
from crowdpilot.json_values import to_json_value

CURVES = ("votes", "spent", "loss", "error", "expected")
MEASURES = {  # what the table calls them
    "votes": "votes\nper item",
    "spent": "cost",
    "loss": "loss",
    "error": "error\nrate",
    "total": "total\ncost",
    "expected": "expected\nloss",
}
NEED_TRUTH = ("loss", "error", "total")


class Summary(NamedTuple):
    """Mean and standard deviation over the seeds of how the runs of one policy ended."""

    policy: str
    mean: dict[str, float]
    sd: dict[str, float]
    runs: list[ReplayResult]


def summarize(policy: str, runs: list[ReplayResult]) -> Summary:
    """Mean and standard deviation of each measure at the end of the runs of a policy."""
    last = {name: np.array([getattr(run, name)[-1] for run in runs]) for name in CURVES}
    last |= {"total": last["spent"] + last["loss"]}
    mean = {name: float(last[name].mean()) for name in MEASURES}
    sd = {name: float(last[name].std(ddof=1)) if len(runs) > 1 else math.nan for name in MEASURES}
    return Summary(policy, mean, sd, runs)


def _best(summaries: Sequence[Summary]) -> str | None:
    """The policy with the least total cost, if that is known."""
    known = [summary for summary in summaries if math.isfinite(summary.mean["total"])]
    return min(known, key=lambda summary: summary.mean["total"]).policy if known else None


def print_summaries(scenario: Scenario, costs: Costs, summaries: Sequence[Summary]) -> None:
    """A row for each policy on standard output."""
    best = _best(summaries)
    names = [name for name in MEASURES if best is not None or name not in NEED_TRUTH]
    known = int((scenario.truth >= 0).sum())
    if 0 < known < len(scenario.items):
        print_message(
            f"the truth is known of {known} of {len(scenario.items)} tasks; the others are not in the loss"
        )
    if known == 0:
        print_message("no task has a true label, so the loss is not known; give --truth to see it")
    if on_terminal():
        head = ["policy", *(MEASURES[name] for name in names)]
        rows = [
            [_named(summary, best), *(_cell(summary, name, best) for name in names)] for summary in summaries
        ]
        print_table(head, rows)
        if len(summaries) > 1 and best is not None:
            price = next(iter(costs.prices.values()))
            print_message(f"{best} has the lowest total cost, where a vote costs {price:g}")
        return
    head = ["policy", *(column for name in names for column in (name, f"{name}_sd")), "best"]
    numbers = [
        [_number(summary, name, part) for name in names for part in ("mean", "sd")] for summary in summaries
    ]
    marks = ["yes" if summary.policy == best else "" for summary in summaries]
    print_table(
        head, [[summary.policy, *row, m] for summary, row, m in zip(summaries, numbers, marks, strict=True)]
    )


def _named(summary: Summary, best: str | None) -> Text:
    return Text(summary.policy, style="bold green" if summary.policy == best else "")


def _cell(summary: Summary, name: str, best: str | None) -> Text:
    digits = 2 if name == "votes" else 4
    text = f"{summary.mean[name]:.{digits}f}"
    if math.isfinite(summary.sd[name]):
        text += f"\n±{summary.sd[name]:.{digits}f}".replace("±0.", "±.")
    return Text(text, style="bold green" if summary.policy == best and name == "total" else "")


def _number(summary: Summary, name: str, part: str) -> float | None:
    value = float(getattr(summary, part)[name])
    return round(value, 6) if math.isfinite(value) else None


def to_json(scenario: Scenario, costs: Costs, summaries: Sequence[Summary]) -> str:
    """Everything, with the curves of all runs."""
    about = {
        "items": len(scenario.items),
        "classes": scenario.classes.tolist(),
        "criteria": list(scenario.criteria),
        "known": int((scenario.truth >= 0).sum()),
        "costs": costs.to_dict(),
        "best": _best(summaries),
        "policies": [
            {
                "policy": summary.policy, "mean": summary.mean, "sd": summary.sd,
                "runs": [run.to_dict() for run in summary.runs],
            }
            for summary in summaries
        ],
    }  # fmt: skip
    return json.dumps(to_json_value(about), indent=2, ensure_ascii=False)


def curves(runs: Sequence[ReplayResult]) -> dict[str, Any]:
    """A row for each point of each run."""
    of = np.repeat(np.arange(len(runs)), [len(run.votes) for run in runs])
    columns = {"policy": [runs[r].policy for r in of.tolist()], "seed": [runs[r].seed for r in of.tolist()]}
    numbers = {name: np.concatenate([getattr(run, name) for run in runs]) for name in CURVES}
    return columns | {name: values for name, values in numbers.items() if np.isfinite(values).any()}
