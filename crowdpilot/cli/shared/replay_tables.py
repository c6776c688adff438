"""Results of replays: a table, a file of curves, and everything as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text

from crowdpilot.cli.shared.output import note, on_terminal, show
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.replay.run import ReplayResult
from crowdpilot.hybrid.replay.vote_source import Scenario

CURVE = ("votes", "spent", "loss", "error", "expected")
MEASURES = {  # what the table calls them
    "votes": "votes\nper item",
    "spent": "cost",
    "loss": "loss",
    "error": "error\nrate",
    "total": "total\ncost",
    "expected": "expected\nloss",
}
UNKNOWN = ("loss", "error", "total")  # where there is no truth


class Measured(NamedTuple):
    """How the runs of one policy ended: mean and standard deviation of each measure over the seeds."""

    policy: str
    mean: dict[str, float]
    sd: dict[str, float]
    runs: list[ReplayResult]


def measure(policy: str, runs: list[ReplayResult]) -> Measured:
    """How the runs of a policy ended."""
    last = {name: np.array([getattr(run, name)[-1] for run in runs]) for name in CURVE}
    last |= {"total": last["spent"] + last["loss"]}
    mean = {name: float(last[name].mean()) for name in MEASURES}
    sd = {name: float(last[name].std(ddof=1)) if len(runs) > 1 else math.nan for name in MEASURES}
    return Measured(policy, mean, sd, runs)


def _best(found: Sequence[Measured]) -> str | None:
    """The policy with the least total cost, if that is known."""
    known = [one for one in found if math.isfinite(one.mean["total"])]
    return min(known, key=lambda one: one.mean["total"]).policy if known else None


def show_runs(case: Scenario, costs: Costs, found: Sequence[Measured]) -> None:
    """A row for each policy on standard output."""
    best = _best(found)
    names = [name for name in MEASURES if best is not None or name not in UNKNOWN]
    known = int((case.truth >= 0).sum())
    if 0 < known < len(case.items):
        note(f"the truth is known of {known} of {len(case.items)} tasks; the others do not count in the loss")
    if known == 0:
        note("no task has a true label, so that nobody knows what decisions cost; give --truth to see it")
    if on_terminal():
        head = ["policy", *(MEASURES[name] for name in names)]
        show(head, [[_named(one, best), *(_cell(one, name, best) for name in names)] for one in found])
        if len(found) > 1 and best is not None:
            note(f"{best} costs least in all, where a vote costs {next(iter(costs.prices.values())):g}")
        return
    head = ["policy", *(column for name in names for column in (name, f"{name}_sd")), "best"]
    rows = [[_number(one, name, part) for name in names for part in ("mean", "sd")] for one in found]
    show(
        head,
        [
            [one.policy, *row, "yes" if one.policy == best else ""]
            for one, row in zip(found, rows, strict=True)
        ],
    )


def _named(one: Measured, best: str | None) -> Text:
    return Text(one.policy, style="bold green" if one.policy == best else "")


def _cell(one: Measured, name: str, best: str | None) -> Text:
    digits = 2 if name == "votes" else 4
    text = f"{one.mean[name]:.{digits}f}"
    if math.isfinite(one.sd[name]):
        text += f"\n±{one.sd[name]:.{digits}f}".replace("±0.", "±.")
    return Text(text, style="bold green" if one.policy == best and name == "total" else "")


def _number(one: Measured, name: str, part: str) -> float | None:
    value = float(getattr(one, part)[name])
    return round(value, 6) if math.isfinite(value) else None


def to_json(case: Scenario, costs: Costs, found: Sequence[Measured]) -> str:
    """Everything, with the curves of all runs."""
    about = {
        "items": len(case.items),
        "classes": case.classes.tolist(),
        "criteria": list(case.criteria),
        "known": int((case.truth >= 0).sum()),
        "costs": costs.to_dict(),
        "best": _best(found),
        "policies": [
            {
                "policy": one.policy, "mean": one.mean, "sd": one.sd,
                "runs": [run.to_dict() for run in one.runs],
            }
            for one in found
        ],
    }  # fmt: skip
    return json.dumps(_plain(about), indent=2, ensure_ascii=False)


def curves(runs: Sequence[ReplayResult]) -> dict[str, Any]:
    """A row for each point of each run."""
    of = np.repeat(np.arange(len(runs)), [len(run.votes) for run in runs])
    columns = {"policy": [runs[r].policy for r in of.tolist()], "seed": [runs[r].seed for r in of.tolist()]}
    numbers = {name: np.concatenate([getattr(run, name) for run in runs]) for name in CURVE}
    return columns | {name: values for name, values in numbers.items() if np.isfinite(values).any()}


def _plain(value: Any) -> Any:
    """The value as JSON can hold it; numbers that are not finite are missing."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
