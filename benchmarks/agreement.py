"""Agreement beside other packages, and beside the time to read votes: `python -m benchmarks.agreement`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Annotated, Any, NamedTuple

import krippendorff
import numpy as np
import typer
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

import crowdpilot
from benchmarks import peers
from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, markdown, write
from crowdpilot.diagnosis.agreement import (
    SCALES,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    measure_agreement,
)
from crowdpilot.diagnosis.pairwise_agreement import cohen_kappa
from crowdpilot.votes import Votes

IRRCAC = Path(__file__).parent / "irrcac_runner.py"

Both = list[tuple[float, float]]  # a value of ours and the same of another package


class Ratings(NamedTuple):
    """Ratings of workers: (workers, tasks) codes of the numbers, -1 where there is none."""

    codes: Any
    numbers: Any

    def to_votes(self) -> Votes:
        worker, task = np.nonzero(self.codes >= 0)
        label = self.numbers[self.codes[worker, task]]
        return Votes.of(task, worker, label, classes=self.numbers.tolist())

    def values(self) -> Any:
        return np.where(self.codes < 0, np.nan, self.numbers[self.codes])


def draw(seed: int, missing: bool = True) -> Ratings:
    """Ratings of random sizes, classes, skill, imbalance and gaps; two classes at least are used in pairs."""
    rng = np.random.default_rng(seed)
    tasks, workers, K = rng.integers(2, 100), rng.integers(2, 12), rng.integers(2, 12)
    prior = rng.dirichlet(np.full(K, rng.choice([0.2, 1, 5])))
    truth, guess = rng.choice(K, tasks, p=prior), rng.choice(K, (workers, tasks), p=prior)
    codes = np.where(rng.random((workers, tasks)) < rng.uniform(0.1, 1), truth, guess)
    codes[rng.random((workers, tasks)) < rng.choice([0.1, 0.4, 0.8]) * missing] = -1
    paired = codes[:, (codes >= 0).sum(axis=0) > 1]
    numbers = np.sort(rng.choice([rng.uniform(0, 20, K), 1e4 + np.arange(K), np.arange(K) / 2]))
    enough = len(np.unique(paired[paired >= 0])) > 1
    return Ratings(codes, numbers) if enough else draw(seed + 10**6, missing)


def compare_alpha(inputs: int, scale: str) -> Both:
    drawn = [draw(n) for n in range(inputs)]
    return [
        (
            krippendorff_alpha(r.to_votes(), scale),  # type: ignore[arg-type]  # it is one of SCALES
            krippendorff.alpha(r.values(), value_domain=r.numbers, level_of_measurement=scale),
        )
        for r in drawn
    ]


def compare_fleiss(inputs: int) -> Both:
    drawn = [draw(n, missing=False) for n in range(inputs)]
    counts = [(r.codes[..., None] == np.arange(len(r.numbers))).sum(axis=0) for r in drawn]
    return [
        (fleiss_kappa(r.to_votes()), inter_rater.fleiss_kappa(c)) for r, c in zip(drawn, counts, strict=True)
    ]


def compare_cohen(inputs: int) -> Both:
    """All pairs of workers of each input who share a task and use two classes on these."""
    values: Both = []
    for codes, numbers in map(draw, range(inputs)):
        pairs = cohen_kappa(Ratings(codes, numbers).to_votes(), min_shared=1, samples=1)
        kappa = {frozenset(k[:2]): k[2] for k in zip(pairs.worker, pairs.other, pairs.kappa, strict=True)}
        for i, j in combinations(range(len(codes)), 2):
            x, y = codes[[i, j]][:, (codes[[i, j]] >= 0).all(axis=0)]
            if len(set(x) | set(y)) > 1:
                values.append((kappa[frozenset((i, j))], cohen_kappa_score(x, y)))
    return values


def compare_irrcac(inputs: int) -> dict[str, Both]:
    """AC1 and Fleiss' kappa with any number of votes for a task."""
    drawn = [draw(n) for n in range(inputs)]
    jobs = [
        {
            "ratings": [[int(c) if c >= 0 else None for c in row] for row in r.codes.T],
            "classes": len(r.numbers),
        }
        for r in drawn
    ]
    done = subprocess.run(
        [peers.python(), IRRCAC], input=json.dumps(jobs), check=True, capture_output=True, text=True
    )
    ac1, kappa = zip(*json.loads(done.stdout), strict=True)
    votes = [r.to_votes() for r in drawn]
    return {
        "Gwet's AC1, any number of votes": list(zip(map(gwet_ac1, votes), ac1, strict=True)),
        "Fleiss' kappa, any number of votes": list(zip(map(fleiss_kappa, votes), kappa, strict=True)),
    }


def compare(inputs: int, with_peers: bool) -> list[dict[str, Any]]:
    """The largest difference of each measure from that of another package."""
    rows = [
        ("krippendorff", f"Krippendorff's alpha, {scale}", compare_alpha(inputs, scale)) for scale in SCALES
    ]
    rows += [("statsmodels", "Fleiss' kappa, equal numbers of votes", compare_fleiss(inputs))]
    rows += [("scikit-learn", "Cohen's kappa, by pair", compare_cohen(inputs))]
    if with_peers:
        rows += [("irrCAC", measure, both) for measure, both in compare_irrcac(inputs).items()]
    return [
        {
            "package": package,
            "measure": measure,
            "inputs": inputs,
            "values": len(both),
            "largest_difference": float(np.abs(np.subtract(*np.transpose(both))).max()),
        }
        for package, measure, both in rows
    ]


def time_all(rows: int, repeats: int) -> dict[str, list[float]]:
    """Seconds to read votes from Parquet and to measure their agreement, each time again."""
    steps: dict[str, Callable[[Votes], object]] = {
        "Krippendorff's alpha": krippendorff_alpha,
        "the same with its interval, 1,000 samples": lambda v: measure_agreement(
            v, measures=["krippendorff_alpha"]
        ),
        "the four measures of classes without order, with intervals": measure_agreement,
    }
    times: dict[str, list[float]] = {"reading the file": [], **{name: [] for name in steps}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.parquet"
        sizes = ["--votes", str(rows), "--tasks", str(rows // 10), "--workers", str(max(10, rows // 500))]
        subprocess.run(
            [sys.executable, "-m", "benchmarks.simulated_votes", *sizes, path], cwd=peers.ROOT, check=True
        )
        for _ in range(repeats):
            start = perf_counter()
            votes = crowdpilot.read(path)
            times["reading the file"].append(perf_counter() - start)
            for name, step in steps.items():
                fresh = votes.take(slice(None))  # nothing is cached from the step before
                start = perf_counter()
                step(fresh)
                times[name].append(perf_counter() - start)
    return times


def main(
    inputs: Annotated[int, typer.Option(help="Random inputs for each measure.")] = 200,
    rows: Annotated[int, typer.Option(help="Votes to read and measure; 0 leaves it out.")] = 10_000_000,
    repeats: Annotated[int, typer.Option(help="How often to read and measure them.")] = 3,
    peers: Annotated[bool, typer.Option(help="Compare with irrCAC, in the environment of the peers.")] = True,
    output: Annotated[Path, typer.Option(help="Folder for agreement.md and agreement.json.")] = RESULTS,
) -> None:
    """Compare every measure with another package, and its time with that of reading."""
    load = round(os.getloadavg()[0], 2)
    record = {"machine": machine(), "load": load, "equality": compare(inputs, peers), "rows": rows}
    record["seconds"] = time_all(rows, repeats) if rows else {}
    write(output, "agreement", render(record), record)
    typer.echo(render(record))


def render(record: dict[str, Any]) -> str:
    """The report in Markdown."""
    header = ["measure", "package", "inputs", "values", "largest difference"]
    equal = [
        [r["measure"], r["package"], f"{r['inputs']}", f"{r['values']:,}", f"{r['largest_difference']:.1e}"]
        for r in record["equality"]
    ]
    text = TEXT.format(**record) + markdown(header, equal)
    if not record["seconds"]:
        return text
    read = median(record["seconds"]["reading the file"])
    times = [
        [name, f"{median(s):.2f}", f"{min(s):.2f} – {max(s):.2f}", f"{median(s) / read:.2f}"]
        for name, s in record["seconds"].items()
    ]
    runs = len(record["seconds"]["reading the file"])
    text += TIMES.format(rows=record["rows"], tasks=record["rows"] // 10, repeats=runs)
    return text + markdown(["step", "seconds", "range", "times reading"], times)


TEXT = """# Agreement

Written by `python -m benchmarks.agreement`. Measured on {machine},
under a load average of {load} when it began.

## The same as others

Random ratings: 2 to 99 tasks, 2 to 11 workers, 2 to 11 classes, all kinds of imbalance, up to 80 % of the
ratings missing. An input of which no two comparable ratings differ is drawn again, since kappa and alpha are
then undefined. irrCAC gets the list of classes, since it miscounts them with pandas 3.

"""
TIMES = """
## Beside reading

{rows:,} simulated votes on {tasks:,} tasks, 10 votes each, 10 classes, in random order and with texts as
names: `crowdpilot.read` of the Parquet file, and what comes after it. Medians of {repeats} runs in one
process.

"""


if __name__ == "__main__":
    launch(main)
