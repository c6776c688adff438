"""All methods on images, end to end on one GPU: `python -m benchmarks.learning_gpu --data DIR --out FILE`.

A residual network of torchvision learns CIFAR-10H from scratch by every method, one after the other in
one process. It needs no packages but those of `crowdpilot[vision]`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from benchmarks.learning_methods import SETTINGS, Entry, Settings, choose, entries
from benchmarks.learning_runs import Kept, Run, attempt_on, finish, versions
from benchmarks.learning_sets import CIFAR_VOTES, CIFAR_WORKERS, cifar10h
from benchmarks.learning_tables import render_set
from benchmarks.tables import machine, write

NAME = "cifar10h"
FIRST = (  # in case time runs out
    "gold", "two_stage naive_soft soft", "mutual", "crowdlayer", "conal", "waum + conal", "crowdlayer + dasc",
)  # fmt: skip
LEFT_OUT = ("anno_reg + ", "wdn + ")  # what is done around methods is tried on one of them


def rows(settings: Settings) -> list[Entry]:
    """What is trained, the most important first."""
    wanted = [entry for entry in entries(settings) if not entry.name.startswith(LEFT_OUT)]
    rank = {name: n for n, name in enumerate(FIRST)}
    return sorted(wanted, key=lambda entry: rank.get(entry.name, len(FIRST)))


def measure(
    data: Path,
    out: Path,
    settings: Settings,
    *,
    methods: str,
    seed: int,
    limit: int | None,
    seconds: float,
    again: bool,
) -> dict[str, Any]:
    """Train each row, and write the file after each; none is begun that would not end in time."""
    start = perf_counter()
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    crowd = cifar10h(data / NAME if (data / NAME).is_dir() else data, limit)
    runs = [Run(NAME, NAME, entry, settings, seed) for entry in choose(rows(settings), methods)]
    kept = Kept(out, runs)
    record: dict[str, Any] = {
        "machine": device(), "versions": versions(), "settings": settings.parameters(),
        "prune": settings.prune,
        "sets": {NAME: crowd.describe()}, "loading_seconds": perf_counter() - start, "left_out": [],
    }  # fmt: skip
    longest = 0.0
    for n, run in enumerate(runs, 1):
        if kept.has(run) and not again:
            continue
        begin = perf_counter()
        if begin - start + longest > seconds:
            record["left_out"].append(run.entry.name)
            continue
        finish(run, attempt_on(crowd, run), kept, record, f"{n}/{len(runs)}")
        longest = max(longest, perf_counter() - begin)
    record["total_seconds"] = perf_counter() - start
    write(
        out.parent,
        out.stem,
        render(record, kept.scores, [run.entry for run in runs]),
        record | {"runs": kept.scores},
    )
    return record


def device() -> str:
    """The machine in words, with its GPU."""
    if not torch.cuda.is_available():
        return f"{machine()}, no GPU"
    return f"{torch.cuda.get_device_name()} (CUDA {torch.version.cuda}), {machine()}"


def render(record: dict[str, Any], scores: dict[str, Any], shown: list[Entry]) -> str:
    """The report in Markdown."""
    facts, settings = record["sets"][NAME], record["settings"]
    return TEXT.format(
        machine=record["machine"], versions=", ".join(f"{k} {v}" for k, v in record["versions"].items()),
        each=CIFAR_VOTES, workers=CIFAR_WORKERS,
        train=facts["tasks"], test=facts["test"], votes=facts["votes"],
        right=100 * facts["votes_right"], settings=", ".join(f"{k} {v}" for k, v in settings.items()),
        prune=record["prune"], total=record["total_seconds"],
        missing=", ".join(record["left_out"]) or "nothing",
        table=render_set(NAME, scores.get(NAME, {}), shown),
    )  # fmt: skip


TEXT = """# Learning from votes on images

Written by `python -m benchmarks.learning_gpu --data DIR --out FILE`. Measured on {machine}, with {versions}.

CIFAR-10H: {train:,} images to learn from, {test:,} (100 of each class) as a test, from scratch. Who gave
which vote is not known, only how many chose each class: {each} of the counted votes of each image are drawn
and dealt to {workers} made-up workers, {votes:,} votes in all, {right:.1f} % of them right. The workers are
therefore all alike, and methods that tell workers apart have nothing to find.

Settings: {settings}. Tasks are pruned by {prune}. The last epoch is kept.
ECE is the expected calibration error in 15 bins; seconds are of one training with all its rounds. One seed.

All rows together, from reading the images to the last figure: {total:.0f} s. Left out for want of time:
{missing}.
{table}"""


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    usual = SETTINGS[NAME]
    parser.add_argument("--data", type=Path, required=True, help="folder with cifar10h, or that folder")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write; the report is beside it")
    parser.add_argument("--network", default=usual.network)
    parser.add_argument("--epochs", type=int, default=usual.epochs)
    parser.add_argument("--batch-size", type=int, default=usual.batch_size)
    parser.add_argument(
        "--precision", choices=("full", "mixed"), default="mixed" if torch.cuda.is_available() else "full"
    )
    parser.add_argument("--methods", default="", help="parts or patterns of names of rows, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, help="only so many images, to try it out")
    parser.add_argument("--seconds", type=float, default=540, help="begin nothing that would end later")
    parser.add_argument("--again", action="store_true", help="train anew what is in the file")
    arguments = parser.parse_args()
    changed = {name: getattr(arguments, name) for name in ("network", "epochs", "batch_size", "precision")}
    settings = replace(usual, **changed)
    record = measure(
        arguments.data, arguments.out, settings, methods=arguments.methods, seed=arguments.seed,
        limit=arguments.limit,
        seconds=arguments.seconds, again=arguments.again,
    )  # fmt: skip
    print(f"done in {record['total_seconds']:.0f} s; left out: {record['left_out']}", file=sys.stderr)


if __name__ == "__main__":
    main()
