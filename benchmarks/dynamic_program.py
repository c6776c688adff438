"""How far stopping rules are from the optimum: `python -m benchmarks.dynamic_program`.

Pools of items with classifier probabilities, and identical workers. For each rule, the expected cost of
votes and errors is computed exactly, without simulation, and compared with that of the dynamic
program. Classifier probabilities are drawn from Dirichlet distributions of three concentrations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.process import launch
from benchmarks.tables import RESULTS, markdown, write
from crowdpilot.arrays import Floats
from crowdpilot.hybrid.value.dynamic_program import DynamicProgram
from crowdpilot.hybrid.value.vote_value import look_ahead, plan_ahead

HORIZONS = {2: 200, 3: 42}  # so far that it hardly matters
CONCENTRATIONS = (0.3, 1.0, 3.0)
RATIOS = (1, 5, 20)  # of the dearest error to the cheapest
PRICES = (0.005, 0.02, 0.05, 0.1)  # of a vote, the cheapest error being 1
SKILLS = (0.6, 0.7, 0.8, 0.9)
UNEVEN = {
    2: {"uneven .9/.7": [[0.9, 0.1], [0.3, 0.7]], "uneven .6/.9": [[0.6, 0.4], [0.1, 0.9]]},
    3: {"uneven .8/.6/.9": [[0.8, 0.15, 0.05], [0.2, 0.6, 0.2], [0.02, 0.08, 0.9]]},
}

Value = Callable[..., Floats]
RULES: dict[str, Value] = {
    "1 vote at once": partial(look_ahead, ahead=1),
    "up to 5 at once": partial(look_ahead, ahead=5),
    "up to 13 at once": partial(look_ahead, ahead=13),
    "plan of 5": partial(plan_ahead, ahead=5),
    "plan of 13": partial(plan_ahead, ahead=13),
    "plan (as set)": plan_ahead,
}


def crowds(K: int) -> dict[str, Floats]:
    """Confusion matrix of each crowd, (true, said)."""
    even = {f"skill {s:g}": s * np.eye(K) + (1 - s) / (K - 1) * (1 - np.eye(K)) for s in SKILLS}
    return {**even, **{name: np.array(matrix) for name, matrix in UNEVEN[K].items()}}


def errors(K: int, ratio: float) -> Floats:
    """Every class costs more to miss than the one before; the last `ratio` times the first."""
    costs: Floats = (1 - np.eye(K)) * np.geomspace(1, ratio, K)[:, None]
    return costs


def measure(K: int, items: int, seed: int) -> Iterator[dict[str, Any]]:
    """For each crowd, costs and price: the optimum, and how much more each rule costs in each pool."""
    rng = np.random.default_rng(seed)
    probs = np.concatenate([rng.dirichlet(np.full(K, a), items) for a in CONCENTRATIONS])
    for (crowd, confusion), ratio, price in product(crowds(K).items(), RATIOS, PRICES):
        C = errors(K, ratio)
        program = DynamicProgram(confusion, C, price, HORIZONS[K])
        best = program.solve(probs)
        optimum = best.cost.reshape(len(CONCENTRATIONS), items).mean(axis=1)
        more = {}
        for name, value in RULES.items():
            result = program.evaluate(probs, partial(_asks, value, confusion, C, price))
            more[name] = (result.cost.reshape(len(CONCENTRATIONS), items).mean(axis=1) / optimum - 1).tolist()
        yield {
            "classes": K, "crowd": crowd, "ratio": ratio, "price": price,
            "cost": optimum.tolist(), "votes": float(best.votes.mean()), "more": more,
        }  # fmt: skip


def _asks(value: Value, confusion: Floats, C: Floats, price: float, posteriors: Floats) -> Any:
    return value(posteriors, confusion, C, floor=price) > price


def report(rows: list[dict[str, Any]], items: int) -> str:
    """The tables as Markdown."""
    text = (
        "# Stopping rules compared with the optimum\n\nExpected cost of votes and errors above that of the "
        "exact dynamic program, in percent. A rule asks while its value exceeds the price, and is "
        "recomputed after each vote. *At once*: (L - E[L after n votes]) / n, the best n. *Plan*: the same "
        "for votes that come one by one, with leave to stop; *as set* is the default of `plan_ahead`. Each "
        f"row is {len(RATIOS) * len(PRICES)} settings (the dearest error {', '.join(map(str, RATIOS))} times "
        f"the cheapest; a vote at {', '.join(map(str, PRICES))} of it) with {len(CONCENTRATIONS)} pools of "
        f"{items} items each: the sum over all of them, and in brackets the worst pool.\n"
    )
    for K in HORIZONS:
        chosen = [row for row in rows if row["classes"] == K]
        if not chosen:
            continue
        cells = [
            (crowd, *(_cell([row for row in chosen if row["crowd"] == crowd], rule) for rule in RULES))
            for crowd in crowds(K)
        ]
        cells.append(("all", *(_cell(chosen, rule) for rule in RULES)))
        text += f"\n## {K} classes\n\n{markdown(('crowd', *RULES), cells)}"
    return text


def _cell(rows: list[dict[str, Any]], rule: str) -> str:
    cost = np.array([row["cost"] for row in rows])
    more = np.array([row["more"][rule] for row in rows])
    return f"{100 * (cost * more).sum() / cost.sum():.2f} ({100 * more.max():.2f})"


def main(
    items: Annotated[int, typer.Option(help="Items of each pool.")] = 8,
    seed: Annotated[int, typer.Option(help="Of the pools; how far plans look was chosen with seed 0.")] = 1,
    output: Annotated[
        Path, typer.Option(help="Folder for dynamic_program.md and dynamic_program.json.")
    ] = RESULTS,
) -> None:
    """Measure all rules on all settings."""
    rows = [row for K in HORIZONS for row in measure(K, items, seed)]
    text = report(rows, items)
    write(
        output,
        "dynamic_program",
        text,
        {"items": items, "seed": seed, "horizons": HORIZONS, "settings": rows},
    )
    typer.echo(text)


if __name__ == "__main__":
    launch(main)
