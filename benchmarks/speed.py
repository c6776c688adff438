"""Time and memory beside other libraries: `python -m benchmarks.speed`."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from benchmarks import sets
from benchmarks.peers import ROOT
from benchmarks.process import Job, launch, run, save_columns
from benchmarks.tables import NONE, RESULTS, machine, markdown, write
from crowdpilot.aggregation.em.backend import COMPILED_FIT_VOTES

NEVER_CONVERGED = {"tol": -math.inf}  # run all iterations
IMPORTS = {"numpy, scipy.sparse": "import numpy, scipy.sparse", "crowdpilot": "import crowdpilot"}

Measured = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One model of ours and the same of others, on the same votes for as many iterations."""

    title: str
    write_votes: Callable[[Path], object]
    jobs: tuple[Job, ...]  # ours first


def comparisons(votes: str, data: Path | None) -> Iterator[Comparison]:
    """What is compared."""
    for size in map(int, filter(None, votes.split(","))):
        yield Comparison(
            f"Dawid-Skene, 10 classes, 20 iterations, {size:,} votes",
            partial(write_simulated, votes=size),
            (
                Job("crowdpilot", "dawid_skene", {"max_iter": 20, **NEVER_CONVERGED}),
                Job("crowd-kit", "DawidSkene", {"n_iter": 20, **NEVER_CONVERGED}),
            ),
        )
    yield Comparison(
        "Dawid-Skene, 10 classes, 5 iterations, 20,000 votes",
        partial(write_simulated, votes=20_000, tasks=4000, workers=400),
        (
            Job("crowdpilot", "dawid_skene", {"max_iter": 5, **NEVER_CONVERGED}),
            Job("peerannot", "DawidSkene", {"maxiter": 5, "epsilon": 0.0}),
        ),
    )
    name = "votes like jn_product's (simulated)" if data is None else "jn_product"
    product = partial(copy_product, data=data)
    yield Comparison(
        f"GLAD, 20 iterations, {name}",
        product,
        (
            Job("crowdpilot", "glad", {"max_iter": 20, **NEVER_CONVERGED}),
            Job("crowd-kit", "GLAD", {"n_iter": 20, **NEVER_CONVERGED}),
        ),
    )
    yield Comparison(
        f"MACE, 10 restarts of 50 iterations, {name}",
        product,
        (
            Job("crowdpilot", "mace", {"restarts": 10, "max_iter": 50, **NEVER_CONVERGED}),
            Job("crowd-kit", "MACE", {"n_restarts": 10, "n_iter": 50}),
        ),
    )


def write_simulated(path: Path, **sizes: int) -> None:
    """Write simulated votes; in another process, so that this one stays small."""
    options = [f"--{name}={size}" for name, size in sizes.items()]
    subprocess.run([sys.executable, "-m", "benchmarks.simulated_votes", path, *options], cwd=ROOT, check=True)


def copy_product(path: Path, data: Path | None) -> None:
    """The votes of jn_product, or as many simulated ones."""
    if data is None:
        write_simulated(path, votes=24_945, tasks=8315, workers=176, classes=2)
    else:
        save_columns(path, sets.read(data / "jn_product").votes)


def main(
    votes: Annotated[str, typer.Option(help="Sizes for Dawid-Skene, with commas.")] = "500000,2000000",
    data: Annotated[Path | None, typer.Option(help="Folder with jn_product; simulated if not given.")] = None,
    rows: Annotated[int, typer.Option(help="Votes from Parquet to labels; 0 leaves it out.")] = 10_000_000,
    strategies: Annotated[str, typer.Option(help="Strategies for these, with commas.")] = "dawid_skene,auto",
    repeats: Annotated[int, typer.Option(help="How often to import.")] = 15,
    peers: Annotated[bool, typer.Option(help="Run the other libraries too.")] = True,
    limit: Annotated[float, typer.Option(help="Seconds one fit may take.")] = 1800,
    cores: Annotated[int, typer.Option(help="How many cores to use.")] = 2,
    output: Annotated[Path, typer.Option(help="Folder for speed.md and speed.json.")] = RESULTS,
) -> None:
    """Measure each model in a process of its own, one at a time, and write the ratios."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    cases = {comparison.title: compare(comparison, peers, limit) for comparison in comparisons(votes, data)}
    wanted = [name for name in strategies.split(",") if name and rows]
    whole = {name: run_command(name, rows) for name in wanted}
    record = {"machine": machine(), "cases": cases, "rows": rows, "parquet_to_labels": whole}
    record["import_seconds"] = time_imports(repeats)
    record["compile_seconds"] = time_compilation()
    write(output, "speed", render(record), record)
    typer.echo(render(record))


def compare(comparison: Comparison, peers: bool, limit: float) -> list[Measured]:
    """Run every job of a comparison; a ratio says how many times ours the others take."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.npz"
        comparison.write_votes(path)
        measured = [
            _measure(job, path, limit) for job in comparison.jobs if peers or job.library == "crowdpilot"
        ]
    ours = measured[0]
    for other in measured[1:]:
        if "seconds" in ours and "seconds" in other:
            other["time_ratio"] = other["seconds"] / ours["seconds"]
            other["time_ratio_with_loading"] = _total(other) / _total(ours)
            other["memory_ratio"] = other["memory_peak_mb"] / ours["memory_peak_mb"]
    return measured


def _measure(job: Job, path: Path, limit: float) -> Measured:
    typer.echo(f"{job.library} {job.model} {job.options}", err=True)
    outcome = run(job, path, limit=limit)
    about = {
        "library": job.library,
        "model": job.model,
        "options": {k: str(v) for k, v in job.options.items()},
    }
    return about | (outcome.cost if outcome.reason is None else {"reason": outcome.reason})


def _total(measured: Measured) -> float:
    return float(measured["seconds"] + measured["load_seconds"])


def run_command(strategy: str, rows: int) -> Measured:
    """`crowdpilot aggregate` from a Parquet file to a Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        votes, labels = Path(folder) / "votes.parquet", Path(folder) / "labels.parquet"
        write_simulated(votes, votes=rows)
        command = [
            sys.executable,
            "-m",
            "crowdpilot",
            "aggregate",
            str(votes),
            "-s",
            strategy,
            "-o",
            str(labels),
        ]
        typer.echo(f"crowdpilot aggregate -s {strategy}", err=True)
        start = perf_counter()
        child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = perf_counter() - start
        if child.returncode or not labels.exists():
            return {"reason": f"ended with code {child.returncode}"}
    scale = 1024**2 if sys.platform == "darwin" else 1024
    return {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "memory_peak_mb": usage.ru_maxrss / scale,
    }


def time_imports(repeats: int) -> dict[str, float]:
    """The median time of each import, without the start of Python; the two take turns."""
    script = "from time import perf_counter as t; s = t(); {}; print(t() - s)"
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(repeats):
        for name, line in IMPORTS.items():
            command = [sys.executable, "-c", script.format(line)]
            times[name].append(float(subprocess.check_output(command, cwd=ROOT, text=True)))
    return {name: statistics.median(values) for name, values in times.items()}


def time_compilation() -> float:
    """How much longer the first compiled fit on a machine takes than the first of a later process."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", COMPILED_FIT]
        cold, warm = (
            float(subprocess.check_output(command, cwd=ROOT, env=environment, text=True)) for _ in range(2)
        )
    return cold - warm


def render(record: dict[str, Any]) -> str:
    """The report in Markdown."""
    text = TEXT.format(machine=record["machine"])
    for title, measured in record["cases"].items():
        rows = [
            [m["library"], *(_show(m, column, form) for column, form in COLUMNS.values())] for m in measured
        ]
        text += f"\n## {title}\n\n{markdown(['library', *COLUMNS], rows)}"
        text += "".join(f"\n{m['library']}: {m['reason']}\n" for m in measured if "reason" in m)
    if record["parquet_to_labels"]:
        rows = [
            [s, *(_show(m, column, ",.1f") for column in ("seconds", "cpu_seconds", "memory_peak_mb"))]
            for s, m in record["parquet_to_labels"].items()
        ]
        text += WHOLE.format(rows=record["rows"]) + markdown(
            ["strategy", "seconds", "CPU seconds", "peak MB"], rows
        )
    light, ours = (record["import_seconds"][name] for name in IMPORTS)
    text += COMPILATION.format(seconds=record["compile_seconds"], votes=COMPILED_FIT_VOTES)
    return text + IMPORT.format(light=1000 * light, ours=1000 * ours, ratio=ours / light)


def _show(measured: Measured, column: str, form: str) -> str:
    value = measured.get(column)
    return NONE if value is None else format(value, form)


COLUMNS = {
    "iterations": ("rounds", "d"),
    "seconds": ("seconds", ".2f"),
    "times ours": ("time_ratio", ".1f"),
    "loading s": ("load_seconds", ".2f"),
    "times ours with loading": ("time_ratio_with_loading", ".1f"),
    "MB before": ("memory_before_mb", ".0f"),
    "MB at peak": ("memory_peak_mb", ".0f"),
    "memory times ours": ("memory_ratio", ".1f"),
}

TEXT = """# Speed and memory

Written by `python -m benchmarks.speed`. Measured on {machine}.

Every fit is one run in a process of its own, on the same votes in random order and for the same number of
iterations. "Loading" turns three columns in memory into what the library takes (ours: `Votes`; crowd-kit:
a data frame; peerannot: a dictionary); "seconds" is the fit from there to labels. "MB before" is the most
memory the process held until the fit began, imports and data included. Simulated votes are 5 for each
task and about 500 of each worker, unless said otherwise.
"""
WHOLE = """
## {rows:,} votes from a Parquet file to labels

`crowdpilot aggregate votes.parquet -s STRATEGY -o labels.parquet`: texts as names, 10 classes, 5 votes for
each task in random order; start of Python, reading and writing included.

"""
COMPILED_FIT = """
from time import perf_counter
from crowdpilot.aggregation import DawidSkene
from crowdpilot.aggregation.em.default_backend import load_in_memory
from crowdpilot.simulation import one_coin
votes, _ = one_coin(tasks=1000, skill=[0.8, 0.7, 0.6], seed=0)
model = DawidSkene()
start = perf_counter()
class Compiled:
    def load(self, model, votes, probs):
        return load_in_memory(model, votes, probs, compiled=True)
model.fit(votes, backend=Compiled())
print(perf_counter() - start)
"""
COMPILATION = """
## First fit

From {votes:,} votes on, iterations are compiled if numba is installed. The first such fit on a machine takes
{seconds:.1f} s longer, for compiling; the result is kept on disk.
"""
IMPORT = """
## Import

`import numpy, scipy.sparse` takes {light:.0f} ms and `import crowdpilot` {ours:.0f} ms: {ratio:.2f} times as
long (medians of separate processes, without the start of Python).
"""


if __name__ == "__main__":
    launch(main)
