"""How often each model is right on real votes: `python -m benchmarks.accuracy --data DIR`."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Annotated, Any, Literal

import typer

from benchmarks import sets
from benchmarks.process import Job, launch, run, save_columns
from benchmarks.sets import Set
from benchmarks.tables import RESULTS, machine, markdown, numbers, save_json, write
from crowdpilot.aggregation import MODELS, NotConverged
from crowdpilot.votes import Repeats

NINETEEN_SETS = [
    "bluebirds", "dog", "rte", "d_sentiment", "jn_product", "weather_cf", "sp_amt", "zencrowd_in", "labelme",
    "music", "sentiment_polarity", "amazon_isbook", "mvh16", "slr_tech", "s5_adult", "trec", "s4_relevance",
    "hitspam_cf", "medical_cause",
]  # fmt: skip
SKIPPED = {
    "weighted_majority": "needs a weight for each worker",
    "gold_majority": "needs the class of some tasks",
    "crowdlab": "needs the probabilities of a classifier",
}
CROWD_KIT = [
    "MajorityVote", "Wawa", "ZeroBasedSkill", "DawidSkene", "OneCoinDawidSkene", "GLAD", "MMSR", "MACE",
    "KOS",
]  # fmt: skip
HINDSIGHT = "crowd-kit's best, in hindsight"

Result = dict[str, Any]  # accuracy and seconds, or the reason why there are none


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    names: Annotated[str, typer.Option("--sets", help="Sets, with commas; all if not given.")] = "",
    models: Annotated[str, typer.Option(help="Our models, with commas; all if not given.")] = "",
    peers: Annotated[
        Literal["cached", "run", "no"],
        typer.Option(
            help="cached: what has been measured before; run: and what has not; no: leave them out."
        ),
    ] = "cached",
    repeats: Annotated[
        Repeats, typer.Option(help="Which of a worker's votes on a task count for us.")
    ] = "last",
    limit: Annotated[float, typer.Option(help="Seconds a peer may take for one fit.")] = 600,
    memory: Annotated[float, typer.Option(help="Gigabytes a peer may take.")] = 8,
    output: Annotated[Path, typer.Option(help="Folder for accuracy.md and accuracy.json.")] = RESULTS,
    cache: Annotated[Path, typer.Option(help="What peers have scored before.")] = RESULTS
    / "accuracy_peers.json",
) -> None:
    """Fit every model to every set and write one table."""
    own = [m for m in (models.split(",") if models else MODELS) if m not in SKIPPED]
    results: dict[str, dict[str, Result]] = {}
    described = {}
    for folder in sets.find(data, names):
        one = sets.read(folder)
        described[one.name] = one.describe()
        results[one.name] = {model: fit_own(model, one, repeats) for model in own}
        if peers != "no":
            results[one.name] |= {
                f"crowd-kit {model}": fit_peer(model, one, cache, peers == "run", limit, memory)
                for model in CROWD_KIT
            }
        typer.echo(f"{one.name}: {summary(results[one.name])}", err=True)
    columns = list(next(iter(results.values())))
    record = {
        "machine": machine(), "repeats": repeats, "limit_s": limit, "memory_gb": memory, "skipped": SKIPPED,
        "sets": described, "means": means(results, columns), "results": results,
    }  # fmt: skip
    write(output, "accuracy", render(record, columns), record)


def fit_own(model: str, one: Set, repeats: Repeats) -> Result:
    """One of our models, in this process."""
    votes = one.with_repeats(repeats)
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        result = MODELS[model]().fit(votes)
        labels = result.labels
    seconds = perf_counter() - start
    by_task = dict(zip(map(str, votes.tasks.tolist()), map(str, labels.tolist()), strict=True))
    return {"accuracy": one.score(by_task), "seconds": round(seconds, 3)}


def fit_peer(model: str, one: Set, cache: Path, fresh: bool, limit: float, memory: float) -> Result:
    """One of crowd-kit's models, from the cache if these very votes are in it."""
    known: dict[str, Result] = json.loads(cache.read_text()) if cache.exists() else {}
    key = f"{one.name} {one.describe()['fingerprint']} {model}"
    if key in known or not fresh:
        return known.get(key, {"reason": "not run"})
    with tempfile.TemporaryDirectory() as folder:
        votes = save_columns(Path(folder) / "votes.npz", one.votes)
        outcome = run(Job("crowd-kit", model), votes, limit=limit, memory_gb=memory)
    if outcome.labels is None:
        result: Result = {"reason": outcome.reason, "limit_s": limit, "memory_gb": memory}
    else:
        result = {"accuracy": one.score(outcome.labels), "seconds": round(outcome.cost["seconds"], 3)}
    save_json(cache, dict(sorted((known | {key: result}).items())))
    return result


def means(
    results: dict[str, dict[str, Result]], columns: Iterable[str]
) -> dict[str, dict[str, float | None]]:
    """The mean accuracy of each model over the nineteen sets and over all; None if one is missing."""
    groups = {"19 sets": NINETEEN_SETS, "all sets": list(results)}
    scores = {name: {**{m: r.get("accuracy") for m, r in row.items()}} for name, row in results.items()}
    for row in scores.values():
        row[HINDSIGHT] = max((s for m, s in row.items() if m.startswith("crowd-kit") and s), default=None)
    return {
        over: {m: _mean([scores.get(name, {}).get(m) for name in names]) for m in (*columns, HINDSIGHT)}
        for over, names in groups.items()
    }


def _mean(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if len(there) == len(values) > 0 else None


def render(record: dict[str, Any], columns: list[str]) -> str:
    """The report: means by model, then every set."""
    results, mean = record["results"], record["means"]
    ranked = sorted((*columns, HINDSIGHT), key=lambda m: [-(mean[over][m] or 0) for over in mean])
    rows = [[m, *numbers([mean[over][m] for over in mean], 4, best=False)] for m in ranked]
    means_table = markdown(["model", *mean], rows)
    scores = [
        [name, *numbers([row[m].get("accuracy") for m in columns])] for name, row in results.items()
    ] + [[f"mean of {over}", *numbers([mean[over][m] for m in columns], 4)] for over in mean]
    seconds = [
        [name, *numbers([row[m].get("seconds") for m in columns], 2, best=False)]
        for name, row in results.items()
    ]
    missing = [
        f"- {m} on {name}: {row[m]['reason']}{_allowed(row[m])}"
        for name, row in results.items()
        for m in columns
        if "reason" in row[m]
    ]
    return TEXT.format(
        machine=record["machine"], repeats=record["repeats"],
        limit=record["limit_s"], memory=record["memory_gb"],
        skipped="; ".join(f"{m} ({why})" for m, why in SKIPPED.items()), means=means_table,
        scores=markdown(["set", *columns], scores), seconds=markdown(["set", *columns], seconds),
        missing="\n".join(missing) or "None.",
    )  # fmt: skip


def _allowed(result: Result) -> str:
    """The limits under which a fit failed."""
    return f" (allowed: {result['limit_s']:g} s, {result['memory_gb']:g} GB)" if "limit_s" in result else ""


def summary(row: dict[str, Result]) -> str:
    """The best model of one set."""
    best = max(row, key=lambda m: row[m].get("accuracy") or 0)
    return f"best is {best} with {row[best]['accuracy']:.3f}" if "accuracy" in row[best] else "nothing ran"


TEXT = """# Accuracy on real votes

Written by `python -m benchmarks.accuracy --data DIR`.

The share of the tasks with gold and a vote whose label is right, with default settings; no model sees any
gold. When a worker votes on a task again, ours count by the rule `repeats="{repeats}"` (the default of our
readers is "last"); crowd-kit has no such rule and counts every row. Ties are broken by a seeded hash;
crowd-kit's labels are its own, after `numpy.random.seed(0)`. The best of a row is bold.

Not run, because they need more than votes: {skipped}.

## Means

A mean is given only for a model that has a result on every set. "crowd-kit's best, in hindsight" takes the
best of crowd-kit's models that finished on each set, which nobody can know beforehand.

{means}
## Every set

{scores}
## Seconds for one fit

On {machine}; without imports. Other work may have run beside, and peers may come from the cache: compare
speeds by `benchmarks.speed` only.

{seconds}
## Missing

{missing}
"""


if __name__ == "__main__":
    launch(main)
