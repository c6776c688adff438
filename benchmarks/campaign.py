"""How fast a campaign answers: `python -m benchmarks.campaign`.

Many open items with classifier probabilities, workers who come and go, and the default plan. Every
call of `ask` and `tell` is timed, between refits; then what is done now and then is timed a few times.
"""

from __future__ import annotations

import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded: one core
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid import Campaign, Costs, Plan

WORKERS, SKILL, PRICE = 200, 0.8, 0.02
CONCENTRATION = 0.3  # of the Dirichlet distribution of classifier probabilities
SLOW_CALL_REPEATS = 5
Time = tuple[float, float]  # milliseconds by the clock, and of the processor
LIMITS = {"ask": 20.0, "tell": 5.0}  # milliseconds


def timed(call: Callable[[], Any]) -> tuple[Any, Time]:
    """What a call returns, and how long it took."""
    start, work = perf_counter(), process_time()
    found = call()
    return found, (1000 * (perf_counter() - start), 1000 * (process_time() - work))


def answers(asks: list[Any], worker: str, truth: Codes, K: int, rng: np.random.Generator) -> list[Any]:
    """Votes of a worker who is right most of the time."""
    rows = [ask.item for ask in asks]
    right = rng.random(len(rows)) < SKILL
    labels = np.where(right, truth[rows], rng.integers(K, size=len(rows)))
    return [(row, worker, label) for row, label in zip(rows, labels.tolist(), strict=True)]


def measure(items: int, K: int, calls: int, n: int, seed: int) -> dict[str, list[Time]]:
    """The time of every call."""
    rng = np.random.default_rng(seed)
    probs: Floats = rng.dirichlet(np.full(K, CONCENTRATION), items)
    truth = (rng.random((items, 1)) > probs.cumsum(axis=1)).sum(axis=1).clip(max=K - 1).astype(np.int32)
    costs, plan = Costs.equal(K, crowd=PRICE), Plan(seed=seed)

    def make() -> Campaign:
        return Campaign(range(items), range(K), costs, plan=plan, classifier_probs=probs)

    campaign, first = timed(make)
    found: dict[str, list[Time]] = {"make": [first], "ask": [], "tell": []}
    for call in range(2 * calls):  # the first half makes every worker known, and is not timed
        worker = f"worker {call % WORKERS}"
        asks, asking = timed(lambda who=worker: campaign.ask(who, n))
        votes = answers(asks, worker, truth, K, rng)
        _, telling = timed(lambda new=votes: campaign.tell(new, refit=False))
        if len(asks) < n:
            raise ValueError(f"only {len(asks)} votes are wanted of {worker}, expected {n}")
        if call == calls - 1:
            campaign.refit()
        elif call >= calls:
            found["ask"].append(asking)
            found["tell"].append(telling)
    rare: dict[str, Callable[[], Any]] = {
        "refit": campaign.refit,
        "decide": campaign.decide,
        "status": campaign.status,
        "write": lambda: json.dumps(campaign.to_dict()),
    }
    found |= {name: [timed(call)[1] for _ in range(SLOW_CALL_REPEATS)] for name, call in rare.items()}
    text = json.dumps(campaign.to_dict())
    found["read"] = [timed(lambda: Campaign.from_dict(json.loads(text)))[1] for _ in range(SLOW_CALL_REPEATS)]
    found["add one item"] = [
        timed(lambda i=i: campaign.add([items + i], classifier_probs=probs[[i]]))[1] for i in range(calls)
    ]
    return found


def report(found: dict[str, list[Time]], items: int, K: int, calls: int, n: int) -> str:
    """The table as Markdown."""
    what = {
        "ask": f"ask({n})",
        "tell": f"tell({n} votes)",
        "write": "write as JSON",
        "read": "read from JSON",
    }
    rows = [
        (
            what.get(name, name),
            str(len(times)),
            *_figures(times),
            f"{LIMITS[name]:g}" if name in LIMITS else "",
        )
        for name, times in found.items()
    ]
    return (
        f"# How fast a campaign answers\n\n{items:,} open items, {K} classes, classifier probabilities, the "
        f"default plan, {WORKERS} workers who had {calls * n:,} votes before; one core of a machine with "
        f"{machine()}. Milliseconds by the clock; `ask` and `tell` between refits. The machine is shared: "
        "the last but one column is the 99th percentile of processor time.\n\n"
        + markdown(("what", "times", "median", "99th percentile", "of processor", "limit"), rows)
    )


def _figures(times: list[Time]) -> list[str]:
    clock, work = np.array(times).T
    return [f"{np.median(clock):.2f}", f"{np.quantile(clock, 0.99):.2f}", f"{np.quantile(work, 0.99):.2f}"]


def main(
    items: Annotated[int, typer.Option(help="Open items.")] = 100_000,
    classes: Annotated[int, typer.Option(help="Number of classes.")] = 10,
    calls: Annotated[int, typer.Option(help="Calls of ask and of tell.")] = 200,
    n: Annotated[int, typer.Option(help="Votes in each.")] = 20,
    seed: Annotated[int, typer.Option(help="Of classifier probabilities, truth and votes.")] = 0,
    output: Annotated[Path, typer.Option(help="Folder for campaign.md and campaign.json.")] = RESULTS,
) -> None:
    """Time everything that a campaign does."""
    found = measure(items, classes, calls, n, seed)
    text = report(found, items, classes, calls, n)
    settings = {"items": items, "classes": classes, "calls": calls, "votes": n, "seed": seed}
    names = "median", "p99", "p99 of processor"
    times = {name: dict(zip(names, map(float, _figures(ms)), strict=True)) for name, ms in found.items()}
    write(output, "campaign", text, {**settings, "machine": machine(), "milliseconds": times})
    typer.echo(text)


if __name__ == "__main__":
    launch(main)
