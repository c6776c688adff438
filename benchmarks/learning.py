"""How well classifiers learn from votes: `python -m benchmarks.learning --data DIR`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import torch
import typer

from benchmarks.learning_methods import Settings
from benchmarks.learning_runs import Kept, perform, versions
from benchmarks.learning_sets import SETS, read
from benchmarks.learning_studies import STUDIES, chosen
from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, markdown, write

MOST_SEEDS = 20


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    seeds: Annotated[int, typer.Option(help="How many seeds.", max=MOST_SEEDS)] = 5,
    sets: Annotated[str, typer.Option(help="Sets, with commas; those of the study if not given.")] = "",
    methods: Annotated[
        str, typer.Option(help="Parts or patterns of names of rows, with commas; all if not given.")
    ] = "",
    study: Annotated[
        Literal["table", "sparsity", "imbalance", "pruning", "together", "ablation"],
        typer.Option(help="What to measure."),
    ] = "table",
    again: Annotated[bool, typer.Option(help="Train anew what has been trained before.")] = False,
    jobs: Annotated[int, typer.Option(help="How many trainings run side by side, a thread each.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder for the report and its figures.")] = RESULTS,
) -> None:
    """Train everything that is wanted and was not trained before, and write the tables."""
    plan = STUDIES[study]
    names = [name for name in sets.split(",") if name] or list(plan.sets)
    if "cifar10h" in names and not torch.cuda.is_available():
        raise ValueError("cifar10h needs a GPU, and there is none; see benchmarks.learning_gpu")
    described = {name: read(data, name).describe() | {"machine": machine()} for name in names}
    kept = Kept(
        output / f"{plan.file}.json",
        (run for name in SETS for seed in range(MOST_SEEDS) for run in plan.runs(name, seed)),
    )
    record = {
        "machine": machine(), "versions": versions(), "jobs": jobs,
        "sets": kept.others.get("sets", {}) | described,
    }  # fmt: skip
    wanted = [run for seed in range(seeds) for name in names for run in chosen(plan, name, seed, methods)]
    start = perf_counter()
    perform([run for run in wanted if again or not kept.has(run)], data, kept, record, jobs=jobs)
    typer.echo(f"done in {perf_counter() - start:.0f} s", err=True)
    shown = record["sets"]
    text = TEXT.format(
        option="" if study == "table" else f" --study {study}", about=plan.about, machine=record["machine"],
        versions=", ".join(f"{name} {number}" for name, number in record["versions"].items()), jobs=jobs,
        sets=show_sets(shown), settings=show_settings({name: plan.settings(name) for name in shown}),
    )  # fmt: skip
    rows = {name: [run.entry for run in plan.runs(name, 0)] for name in shown}
    write(output, plan.file, text + plan.render(kept.scores, rows), record | {"runs": kept.scores})


def show_sets(sets: dict[str, dict[str, Any]]) -> str:
    """The crowds, a row each."""
    columns = ["tasks", "workers", "classes", "votes", "validation", "test"]
    rows = [
        [name, *(f"{facts[c]:,}" for c in columns), f"{100 * facts['votes_right']:.1f}", facts["machine"]]
        for name, facts in sets.items()
    ]
    return markdown(["", *columns, "votes right %", "measured on"], rows)


def show_settings(settings: dict[str, Settings]) -> str:
    """How each crowd is learned, a row each."""
    columns = [
        "network", "standardize", "epochs", "batch_size", "lr", "weight_decay", "optimizer", "schedule",
        "patience",
    ]  # fmt: skip
    rows = [[name, *(str(getattr(own, c)) for c in columns)] for name, own in settings.items()]
    return markdown(["", *columns], rows)


TEXT = """# Learning from votes

Written by `python -m benchmarks.learning --data DIR{option}`. Measured on {machine}, with {versions};
{jobs} trainings side by side, a thread each.

{about}

Mean ± standard deviation over seeds, of rows that are set aside as a test. ECE is the expected calibration
error in 15 bins. A gain is the difference to the row of the same name without what is added, seed by seed.
Where there is a validation set, the epoch that is best on it is kept; else the last one. Seconds are of one
training with all its rounds, side by side with others.

## Crowds

{sets}
## Settings

{settings}"""


if __name__ == "__main__":
    launch(main)
