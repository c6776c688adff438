"""Coverage of the prediction intervals of a forecast: `python -m benchmarks.forecast --data DIR`.

On real crowds: a pilot of 50 items by a policy, a forecast for 150, and then the campaign goes on to its
end with recorded votes. How often do the prediction intervals contain the true loss at several costs, and
the votes in the end? With and without the true classes of the pilot. The prior of a forecast was chosen
on some of the sets; the others have their own row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks import sets
from benchmarks.process import launch
from benchmarks.tables import RESULTS, markdown, write
from crowdpilot.hybrid import Ask, Campaign, Costs, Plan
from crowdpilot.hybrid.forecast import Forecast, forecast

POLICIES = ("value", "fixed", "posterior_threshold")
ITEMS, PILOT, PRICE, BATCH = 150, 50, 0.02, 20
MARKS = (0.25, 0.5, 0.75, 1.0)  # shares of the cost between the pilot and the end
LEVEL = 0.9
TUNING_SETS = (  # on which the prior was chosen
    "amazon_isbook", "bluebirds", "d_sentiment", "dog", "hitspam_cf", "labelme", "music", "rte", "s5_adult",
    "sentiment_polarity", "slr_tech", "trec", "zencrowd_in",
)  # fmt: skip


class Pool(NamedTuple):
    """Some items of a set, in random order, and all votes on them in random order."""

    items: list[str]
    classes: list[str]
    truth: dict[str, int]
    votes: dict[str, list[tuple[Any, str]]]


def draw(data: sets.Set, seed: int) -> Pool:
    """Items whose truth is known."""
    rng = np.random.default_rng(seed)
    votes = data.with_repeats("first")
    classes, workers = [str(name) for name in votes.classes.tolist()], votes.workers.tolist()
    code = {name: k for k, name in enumerate(classes)}
    known = [task for task in map(str, votes.tasks.tolist()) if data.truth.get(task) in code]
    items = rng.permutation(known)[:ITEMS].tolist()
    votes_on: dict[str, list[tuple[Any, str]]] = {item: [] for item in items}
    for v in rng.permutation(len(votes)).tolist():
        task = str(votes.tasks[votes.task[v]])
        if task in votes_on:
            votes_on[task].append((workers[votes.worker[v]], classes[votes.label[v]]))
    return Pool(items, classes, {item: code[data.truth[item]] for item in items}, votes_on)


def run_to_end(campaign: Campaign, pool: Pool) -> np.ndarray:
    """Run a campaign to its end on recorded votes: spent, votes and loss of each item after each batch."""
    items = campaign.view.items()
    truth = np.array([pool.truth[item] for item in items.names])
    left = {item: list(pool.votes[item]) for item in items.names}
    for votes, used in zip(left.values(), items.votes[:, 0].astype(int).tolist(), strict=True):
        del votes[len(votes) - used :]
    campaign.stop([Ask(item) for item, votes in left.items() if not votes])
    points = [_point(campaign, truth)]
    while True:
        asks = campaign.ask(None, max(campaign.plan.refit_every, len(truth) // BATCH))
        if asks:
            campaign.tell([(ask.item, *left[ask.item].pop()) for ask in asks])
            campaign.stop([ask for ask in asks if not left[ask.item]])
            points.append(_point(campaign, truth))
        elif campaign.view.votes_since_refit:
            campaign.refit()
        else:
            return np.array(points).T


def _point(campaign: Campaign, truth: Any) -> tuple[float, float, float]:
    now = campaign.decide()
    loss = campaign.costs.errors[truth, now.codes].mean()
    return campaign.view.spent / len(truth), now.votes.mean(), loss


def run_forecast(
    pool: Pool, policy: str, seed: int, runs: int
) -> Iterator[tuple[bool, Forecast, np.ndarray]]:
    """A forecast after the pilot, without and with its true classes, and the campaign that follows."""
    costs = Costs.equal(len(pool.classes), crowd=PRICE)
    campaign = Campaign(pool.items[:PILOT], pool.classes, costs, plan=Plan(policy=policy, seed=seed))
    run_to_end(campaign, pool)
    campaign.add(pool.items[PILOT:])
    gold = {item: pool.classes[pool.truth[item]] for item in pool.items[:PILOT]}
    available = {item: len(votes) for item, votes in pool.votes.items()}
    found = [
        forecast(campaign, gold=known, max_votes_per_item=available, runs=runs, level=LEVEL, seed=seed)
        for known in (None, gold)
    ]
    path = run_to_end(campaign, pool)
    yield from ((known, each, path) for known, each in zip((False, True), found, strict=True))


def coverage(found: Forecast, path: np.ndarray) -> dict[str, Any]:
    """Whether the intervals contain what happened, and how wide they are."""
    spent, votes, loss = path
    costs = spent[0] + np.array(MARKS) * (spent[-1] - spent[0])
    true = np.interp(costs, spent, loss)
    bands = np.array([found.at(cost) for cost in costs])
    end, last = found.end("votes"), found.end("loss")
    return {
        "loss": ((bands[:, 0] - 1e-9 <= true) & (true <= bands[:, 2] + 1e-9)).tolist(),
        "width": (bands[:, 2] - bands[:, 0]).tolist(),
        "end": bool(last.low - 1e-9 <= loss[-1] <= last.high + 1e-9),
        "votes": bool(end.low - 1e-9 <= votes[-1] <= end.high + 1e-9),
        "true": [float(loss[-1]), float(votes[-1])],
        "predicted": [list(last), list(end)],
    }


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Coverage of the loss on the way, of the loss and of the votes in the end, and the mean width."""
    loss = np.mean([row["loss"] for row in rows])
    ends = [np.mean([row[name] for row in rows]) for name in ("end", "votes")]
    return [f"{value:.3f}" for value in (loss, *ends, np.mean([row["width"] for row in rows]))]


def report(rows: list[dict[str, Any]], seconds: float) -> str:
    """The tables as Markdown."""
    header = (
        "sets",
        "truth of the pilot",
        "campaigns",
        "loss on the way",
        "loss in the end",
        "votes in the end",
        "mean width",
    )
    lines = []
    for name, kept in (
        ("all", lambda row: True),
        ("on which the prior was chosen", lambda row: row["chosen"]),
        ("others", lambda row: not row["chosen"]),
        *((policy, lambda row, p=policy: row["policy"] == p) for policy in POLICIES),
        *((s, lambda row, s=s: row["set"] == s) for s in sorted({row["set"] for row in rows})),
    ):
        for gold in (False, True):
            some = [row for row in rows if kept(row) and row["gold"] == gold]
            if some:
                lines.append((name, "known" if gold else "not known", str(len(some)), *summary(some)))
    return (
        f"# Forecast\n\nShare of intervals at {LEVEL:.0%} that contain what then happened, after a pilot of "
        f"{PILOT} of {ITEMS} items; errors cost 1 and votes {PRICE}. {seconds:.1f} s for a forecast on "
        "average.\n\n" + markdown(header, lines)
    )


def main(
    data: Annotated[Path, typer.Option(help="Folder of real data sets.")],
    seeds: Annotated[int, typer.Option(help="How many pilots of each set and policy.")] = 2,
    runs: Annotated[int, typer.Option(help="Campaigns that a forecast simulates.")] = 20,
    names: Annotated[str, typer.Option(help="Sets with commas between, if not all.")] = "",
    output: Annotated[Path, typer.Option(help="Folder for forecast.md and forecast.json.")] = RESULTS,
) -> None:
    """Measure coverage on real crowds."""
    rows, begun = [], time.perf_counter()
    for folder in sets.find(data, names):
        votes = sets.read(folder)
        for seed in range(seeds):
            pool = draw(votes, seed)
            for policy in POLICIES:
                for gold, found, path in run_forecast(pool, policy, seed, runs):
                    about = {
                        "set": folder.name,
                        "chosen": folder.name in TUNING_SETS,
                        "policy": policy,
                        "seed": seed,
                        "gold": gold,
                    }
                    rows.append({**about, **coverage(found, path)})
        typer.echo(
            f"{folder.name}: {' '.join(summary([row for row in rows if row['set'] == folder.name]))}",
            err=True,
        )
    text = report(rows, (time.perf_counter() - begun) / len(rows))
    write(output, "forecast", text, {"rows": rows})
    typer.echo(text)


if __name__ == "__main__":
    launch(main)
