"""Simulated votes in a file: `python -m benchmarks.simulated_votes --votes 500000 votes.npz`.

The suffix decides: `.npz` holds the three columns as numbers, `.parquet` as texts such as "task 12".
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from pyarrow import parquet

from benchmarks.process import launch
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def simulate_votes(
    votes: int, tasks: int, workers: int, classes: int, *, low: float = 0.5, high: float = 0.95, seed: int = 0
) -> Votes:
    """Workers who are right in 50 to 95 of 100 cases, and votes in the order they might arrive."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(low, high, workers).tolist()
    votes_in_order = one_coin(tasks, skill, classes=classes, votes_per_task=votes // tasks, seed=seed).votes
    return votes_in_order.take(rng.permutation(len(votes_in_order)))


def main(
    output: Path,
    votes: Annotated[int, typer.Option(help="How many votes.")],
    tasks: Annotated[int, typer.Option(help="How many tasks; a fifth of the votes if not given.")] = 0,
    workers: Annotated[int, typer.Option(help="How many workers; one for 500 votes if not given.")] = 0,
    classes: Annotated[int, typer.Option(help="How many classes.")] = 10,
) -> None:
    """Simulate votes and write their columns."""
    simulated = simulate_votes(votes, tasks or votes // 5, workers or max(5, votes // 500), classes)
    columns = {"task": simulated.task, "worker": simulated.worker, "label": simulated.label}
    if output.suffix == ".npz":
        np.savez(output, **columns)  # type: ignore[arg-type]  # the stub takes them for `allow_pickle`
        return
    named = {
        name: pa.DictionaryArray.from_arrays(codes, [f"{name} {n}" for n in range(codes.max() + 1)])
        for name, codes in columns.items()
    }
    parquet.write_table(pa.table(named).cast(pa.schema([(name, pa.string()) for name in named])), output)


if __name__ == "__main__":
    launch(main)
