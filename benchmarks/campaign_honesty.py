"""Campaigns on real crowds without a classifier: `python -m benchmarks.campaign_honesty --data DIR`.

Every set is replayed with the default policy, at several costs of an error, by experience with the sets of
other groups. What a campaign expects to lose in the end is compared with what it loses, and its total cost
with that of simple rules: the same number of votes on every item, or votes until some agree; for each set and
cost the best of these is chosen in hindsight. `--base` is a file of another version to compare with.
"""

from __future__ import annotations

import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks import sets
from benchmarks.experience import experience_without
from benchmarks.honesty_crowds import read_crowd
from benchmarks.process import launch
from benchmarks.tables import NONE, RESULTS, markdown, write
from crowdpilot.arrays import Codes, Floats
from crowdpilot.calibration.experience import CrowdMap
from crowdpilot.hybrid import Costs, Plan
from crowdpilot.hybrid.replay import replay
from crowdpilot.votes import Votes

ERROR_COSTS = (5, 20, 100)  # in votes
MAX_ITEMS = 800  # of a set; of more, a random sample
FIXED_VOTES = range(1, 10)
AGREEING_VOTES = (2, 3, 4, 5)
REFIT_GROWTH = 0.1


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    only: Annotated[str, typer.Option(help="Some sets, with commas.")] = "",
    seeds: Annotated[int, typer.Option(help="Campaigns of each set and cost.")] = 2,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    base: Annotated[Path | None, typer.Option(help="campaign_honesty.json of another version.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for campaign_honesty.md and .json.")] = RESULTS,
) -> None:
    """Replay campaigns on all sets."""
    names = [folder.name for folder in sets.find(data, only)]
    known = {sets.group_of(name): experience_without(sets.group_of(name), data) for name in names}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        work = [(data, name, known[sets.group_of(name)], seeds) for name in names]
        rows = [row for found in pool.map(measure, *zip(*work, strict=True)) for row in found]
    before = {} if base is None else _by_set_and_cost(json.loads(base.read_text())["campaigns"])
    text = render(rows, before, seeds)
    write(output, "campaign_honesty", text, {"seeds": seeds, "campaigns": rows})
    typer.echo(text)


def read_items(data: Path, name: str) -> tuple[Votes, Codes]:
    """The votes on items of known class, and their classes."""
    crowd = read_crowd(data / name)
    known = np.random.default_rng(0).permutation(np.flatnonzero(crowd.truth >= 0))[:MAX_ITEMS]
    known = np.sort(known)
    votes = crowd.votes.select(tasks=known)
    present = np.bincount(votes.worker, minlength=len(votes.workers)) > 0
    return replace(votes.select(workers=present), gold=None), crowd.truth[known]


def measure(data: Path, name: str, experience: CrowdMap, seeds: int) -> list[dict[str, Any]]:
    """One row for each cost of an error; numbers are per item, costs in votes."""
    warnings.simplefilter("ignore")
    votes, truth = read_items(data, name)
    simple = [simple_rules(votes, truth, seed) for seed in range(seeds)]
    rules = {rule: np.mean([found[rule] for found in simple], axis=0) for rule in simple[0]}
    rows = []
    for cost in ERROR_COSTS:
        costs = Costs.equal(len(votes.classes), error=float(cost), crowd=1.0)
        plan = Plan(refit_growth=REFIT_GROWTH, experience=experience)
        runs = [replay(votes, truth, costs, seed=seed, plan=plan) for seed in range(seeds)]
        ends = [(run.votes[-1], run.loss[-1], run.expected[-1]) for run in runs]
        asked, lost, expected = np.mean(ends, axis=0).tolist()
        best = min(rules, key=lambda rule: rules[rule][0] + cost * rules[rule][1])
        rows.append(
            {
                "set": name, "cost": cost, "votes": asked, "loss": lost, "expected": expected,
                "best_rule": best, "best_total": float(rules[best][0] + cost * rules[best][1]),
            }
        )  # fmt: skip
    return rows


def simple_rules(votes: Votes, truth: Codes, seed: int) -> dict[str, tuple[float, float]]:
    """Votes per item and error rate of each rule; the majority decides, and ties are broken by lot."""
    rng = np.random.default_rng(seed)
    N, K = len(votes.tasks), len(votes.classes)
    order = np.lexsort((rng.random(len(votes)), votes.task))
    task, label = votes.task[order], votes.label[order]
    number = np.arange(len(task)) - np.searchsorted(task, task)  # of a vote among those on its item
    lot = rng.random((N, K)) / 2

    def outcome(tally: Floats) -> tuple[float, float]:
        return float(tally.sum() / N), float(((tally + lot).argmax(axis=1) != truth).mean())

    found = {}
    for n in FIXED_VOTES:
        tally = np.zeros((N, K))
        np.add.at(tally, (task[number < n], label[number < n]), 1)
        found[f"{n} votes"] = outcome(tally)
    for agreeing in AGREEING_VOTES:
        for most in (2 * agreeing - 1, int(number.max()) + 1):
            tally = np.zeros((N, K))
            for n in range(most):
                asked = (number == n) & (tally.max(axis=1)[task] < agreeing)
                np.add.at(tally, (task[asked], label[asked]), 1)
            limited = f" of {most}" if most == 2 * agreeing - 1 else ""
            found[f"{agreeing} agree{limited}"] = outcome(tally)
    return found


def render(rows: list[dict[str, Any]], before: dict[tuple[str, int], dict[str, Any]], seeds: int) -> str:
    """The table as Markdown, and its summary."""
    ratio = np.array([row["loss"] / row["expected"] for row in rows])
    total = np.array([row["votes"] + row["loss"] for row in rows])
    gap = total / np.array([row["best_total"] for row in rows]) - 1
    old = [before.get((row["set"], row["cost"])) for row in rows]
    beside = np.array([np.nan if o is None else o["votes"] + o["loss"] for o in old])
    lines = [
        (
            row["set"], str(row["cost"]), f"{row['votes']:.2f}", f"{row['expected']:.2f}",
            f"{row['loss']:.2f}", f"{r:.2f}", f"{t:.2f}", f"{row['best_total']:.2f}", row["best_rule"],
            f"{100 * g:+.0f} %", NONE if np.isnan(b) else f"{b:.2f}",
        )
        for row, r, t, g, b in zip(rows, ratio, total, gap, beside, strict=True)
    ]  # fmt: skip
    header = (
        "set", "error cost", "votes", "expected loss", "loss", "times", "total", "best simple rule", "which",
        "beside it", "total before",
    )  # fmt: skip
    within = float(((ratio >= 0.5) & (ratio <= 2)).mean())
    compared = "" if np.isnan(beside).all() else f" {np.nanmean(total / beside):.3f} times the total before."
    return (
        f"# What campaigns expect to lose, and what they lose\n\nSets without a classifier, at most "
        f"{MAX_ITEMS} items, means of {seeds} campaigns, experience of other groups. All costs are in votes, "
        f"per item.\n\nLoss over expected loss is between 1/2 and 2 in {within:.0%} of sets and costs, its "
        f"median is {np.median(ratio):.2f}. Total cost beside the best simple rule in hindsight: mean "
        f"{100 * gap.mean():+.1f} %, median {100 * np.median(gap):+.1f} %.{compared}\n\n"
        + markdown(header, lines)
    )


def _by_set_and_cost(rows: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["set"], row["cost"]): row for row in rows}


if __name__ == "__main__":
    launch(main)
