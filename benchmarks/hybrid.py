"""Policies on real crowds: `python -m benchmarks.hybrid --data DIR [--jobs N]`.

Every policy asks for recorded votes, drawn without replacement. Two costs of an error
are compared: a missed positive costs 1, 5 or 20 times as much as a false alarm (with more classes: a
missed item of the first class). A vote costs `PRICE`.

Policies that stop at a threshold of their own (a posterior, a number of votes) are run to the end and
get the threshold with the least total cost over all seeds, which they could not know. `value` needs none.
With `--only`, the results of other sets are kept.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.hybrid_picture import draw
from benchmarks.hybrid_sets import SETS, read_scenario
from benchmarks.hybrid_tables import Curves, render
from benchmarks.process import launch
from benchmarks.tables import RESULTS
from crowdpilot.arrays import Floats
from crowdpilot.hybrid import Campaign, Costs, Plan
from crowdpilot.hybrid.replay import replay_scenario

RATIOS = (1, 5, 20)
PRICE, CHEAP = 0.02, 0.001
OTHERS = {
    "fixed": "fixed[votes=5]",
    "first_agree 2": "first_agree[votes=2,max_votes=5]",
    "first_agree 3": "first_agree[votes=3,max_votes=5]",
    "classifier .9": "classifier_threshold[confidence=.9]",
    "classifier .97": "classifier_threshold[confidence=.97]",
    "posterior": "posterior_threshold[threshold=.9995]",
    "shortest_run": "shortest_run[threshold=.9995]",
    "switch_point": "switch_point[switch=.2,threshold=.9995]",
}
OURS = "value"
LARGE = 3000  # items from which on there are fewer seeds, and classifiers are trained less often
SEEDS, FEWER = 10, 4
POINTS = 120  # of a curve that is kept
SLOW = ("jn_product", "sentiment_polarity", "labelme")


def costs_of(K: int, ratio: float, price: float) -> Costs:
    """Every error costs 1, but missing the positive (with more than two classes: the first) class."""
    errors = 1 - np.eye(K)
    errors[1 if K == 2 else 0] *= ratio
    return Costs(errors, {"crowd": price})


def run(data: Path, name: str, policy: str, ratio: int, price: float, seed: int) -> dict[str, Any]:
    """One campaign to its end; what it would lose with each ratio of costs on the way."""
    warnings.simplefilter("ignore")
    scenario = read_scenario(data, name)
    K, known = len(scenario.classes), np.flatnonzero(scenario.truth >= 0)
    lost: list[list[float]] = []

    def measure(campaign: Campaign) -> None:
        probs = campaign.posterior()[known]
        every = [costs_of(K, r, price) for r in RATIOS]
        lost.append([float(c.errors[scenario.truth[known], c.decide(probs)].mean()) for c in every])

    seldom = scenario.classifier is not None
    plan = Plan(
        policy=policy,
        seed=seed,
        refit_growth=(0.25 if len(scenario.items) > LARGE else 0.1) if seldom else 0.05,
    )
    start = time.perf_counter()
    most = np.inf if price == PRICE and policy == OURS else _max_votes_per_item(scenario)
    costs = costs_of(K, ratio, price)
    result = replay_scenario(scenario, costs, plan, max_votes_per_item=most, callback=measure)
    return {
        "set": name, "policy": policy, "ratio": ratio, "price": price, "seed": seed,
        "items": len(scenario.items), "seconds": time.perf_counter() - start, "losses": lost,
        "votes": result.votes.tolist(),
        "expected": result.expected.tolist(), "error": result.error.tolist(), "own": result.loss.tolist(),
    }  # fmt: skip


def _max_votes_per_item(scenario: Any) -> float:
    """Votes per item after which a campaign is ended."""
    return sum(min(5.0, len(votes) / len(scenario.items)) for votes in scenario.votes.values())


def jobs_for(data: Path, names: Sequence[str], seeds: int) -> list[tuple[Any, ...]]:
    """All campaigns, the slow ones first."""
    jobs: list[tuple[Any, ...]] = []
    for name in names:
        scenario = read_scenario(data, name)
        binary = len(scenario.classes) == 2
        slow = len(scenario.items) > LARGE and scenario.classifier is not None
        for seed in range(min(seeds, FEWER) if slow else seeds):
            jobs += [
                (data, name, p, 1, PRICE, seed) for p in OTHERS.values() if binary or "shortest" not in p
            ]
            jobs += [(data, name, OURS, r, price, seed) for r in RATIOS for price in (PRICE, CHEAP)]
    return sorted(jobs, key=lambda job: SLOW.index(job[1]) if job[1] in SLOW else len(SLOW))


def summarize(runs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Mean curves over seeds, by set, policy, ratio and price."""
    groups: dict[tuple[str, str, int, float], list[dict[str, Any]]] = {}
    for r in runs:
        ratios = RATIOS if r["policy"] != OURS else (r["ratio"],)
        for ratio in ratios:
            groups.setdefault((r["set"], r["policy"], ratio, r["price"]), []).append(r)
    return {
        "|".join(map(str, key)): _mean(group, RATIOS.index(key[2])) for key, group in sorted(groups.items())
    }


def _mean(group: Sequence[dict[str, Any]], which: int) -> dict[str, Any]:
    """The mean curve, and where campaigns ended."""
    far = max(r["votes"][-1] for r in group)
    grid = np.linspace(0, far, POINTS)
    curves = [np.interp(grid, r["votes"], [row[which] for row in r["losses"]]) for r in group]
    mean: Floats = np.mean(curves, axis=0)
    ends = [(r["votes"][-1], r["losses"][-1][which], r["expected"][-1], r["error"][-1]) for r in group]
    votes, loss, expected, error = np.mean(ends, axis=0).tolist()
    spread = float(np.std([e[1] + group[0]["price"] * e[0] for e in ends]))
    return {
        "seeds": len(group), "grid": grid.round(4).tolist(), "loss": mean.round(5).tolist(),
        "end": {"votes": votes, "loss": loss, "expected": expected, "error": error, "spread": spread},
        "seconds": float(np.mean([r["seconds"] for r in group])),
    }  # fmt: skip


def main(
    data: Annotated[Path, typer.Option(help="Folder of sets.")],
    only: Annotated[str, typer.Option(help="Some sets, with commas; the rest is kept.")] = "",
    seeds: Annotated[int, typer.Option(help="Campaigns of each kind; large sets have half.")] = SEEDS,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 2,
    limit: Annotated[float, typer.Option(help="Seconds after which no campaign is waited for.")] = 1e9,
    output: Annotated[Path, typer.Option(help="Where to write.")] = RESULTS,
) -> None:
    """Run all policies on all sets."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    work = jobs_for(data, [n for n in only.split(",") if n] or SETS, seeds)
    start, runs = time.perf_counter(), []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(run, *job) for job in work]
        try:
            for done in as_completed(waiting, timeout=limit):
                runs.append(done.result())
        except TimeoutError:
            print(f"{len(work) - len(runs)} of {len(work)} campaigns did not end in time")
            pool.shutdown(wait=False, cancel_futures=True)
    before = (
        json.loads((output / "hybrid.json").read_text()) if only and (output / "hybrid.json").exists() else {}
    )
    found = {
        "price": PRICE,
        "campaigns": before.get("campaigns", 0) + len(runs),
        "of": before.get("of", 0) + len(work),
        "seconds": before.get("seconds", 0.0) + time.perf_counter() - start,
        "curves": before.get("curves", {}) | summarize(runs),
    }
    output.mkdir(parents=True, exist_ok=True)
    (output / "hybrid.md").write_text(render(found), encoding="utf-8")
    (output / "hybrid.json").write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")
    draw(Curves(found), "5", output / "hybrid.png")
    print(render(found))


if __name__ == "__main__":
    launch(main)
