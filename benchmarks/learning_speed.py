"""Time of an epoch beside plain cross-entropy and other libraries: `python -m benchmarks.learning_speed`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks import peers
from benchmarks.learning_sets import Crowd, read
from benchmarks.process import launch
from benchmarks.tables import NONE, RESULTS, machine, markdown, write
from crowdpilot.simulation.crowds.one_coin import OneCoin

RUNNER = Path(__file__).parent / "learning_peer_runner.py"
OURS, PLAIN = "crowdlayer", "cross-entropy"
OWN, PEERS = (OURS, PLAIN), ("peerannot", "peerannot with a loader", "crowd-kit")

Times = dict[str, list[float]]  # seconds of an epoch, by contestant


class Runner:
    """A process that trains when it is asked to, and is ended with the block.

    Parameters
    ----------
    command
        What runs it.
    """

    def __init__(self, command: list[str]) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, cwd=peers.ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def time(self, contestant: str, epochs: int) -> float:
        """Seconds of one epoch, the mean of some."""
        pipe_in, pipe_out = self.process.stdin, self.process.stdout
        if pipe_in is None or pipe_out is None:
            raise ValueError("the runner has no pipes")
        print(contestant, epochs, file=pipe_in, flush=True)
        if not (line := pipe_out.readline()):
            raise ValueError(f"{contestant} did not run; see the message above")
        return float(line) / epochs


def save(path: Path, crowd: Crowd, batch_size: int, hidden: int) -> None:
    """Write what runners read."""
    v = crowd.votes
    numbers = {"classes": len(v.classes), "hidden": hidden, "batch_size": batch_size, "lr": 1e-3}
    np.savez(path, x=crowd.x, task=v.task, worker=v.worker, label=v.label, **numbers)  # type: ignore[arg-type]  # numbers are arrays too


def compare(crowd: Crowd, batch_size: int, *, repeats: int, epochs: int, with_peers: bool) -> Times:
    """Seconds of an epoch of each contestant; they take turns, so that all meet the same disturbances."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crowd.npz"
        save(path, crowd, batch_size, 128)
        with ExitStack() as stack:
            own = [sys.executable, "-m", "benchmarks.learning_own_runner", str(path)]
            runner = stack.enter_context(Runner(own))
            turns = [(runner, name) for name in OWN]
            if with_peers:
                runner = stack.enter_context(Runner([str(peers.python()), str(RUNNER), str(path)]))
                turns += [(runner, name) for name in PEERS]
            for runner, name in turns:
                runner.time(name, 2)  # to get warm
            times: Times = {name: [] for _, name in turns}
            for _ in range(repeats):
                for runner, name in turns:
                    times[name].append(runner.time(name, epochs))
    return times


def simulated(tasks: int = 4000, workers: int = 400, features: int = 256) -> Crowd:
    """A crowd of the size of larger campaigns: ten classes, five votes for each task."""
    crowd = OneCoin(
        tasks=tasks, workers=workers, classes=10, votes_per_task=5, skill=(0.7,) * workers, seed=0
    ).run()
    x = np.random.default_rng(0).normal(size=(tasks, features)).astype(np.float32)
    truth = np.asarray(crowd.truth, np.int32)
    return Crowd(f"simulated, {workers} workers", x, crowd.votes, truth, (x[:1], truth[:1]))


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    sets: Annotated[str, typer.Option(help="Sets, with commas.")] = "labelme",
    batch_sizes: Annotated[str, typer.Option(help="Sizes of batches, with commas.")] = "64,512",
    repeats: Annotated[int, typer.Option(help="Turns of each contestant.")] = 7,
    epochs: Annotated[int, typer.Option(help="Epochs in a turn.")] = 10,
    others: Annotated[bool, typer.Option("--peers/--no-peers", help="Run the other libraries too.")] = True,
    output: Annotated[Path, typer.Option(help="Folder for the report and its figures.")] = RESULTS,
) -> None:
    """Let all contestants take turns on the same crowds, and write the ratios."""
    cases = []
    for crowd in [*(read(data, name) for name in sets.split(",") if name), simulated()]:
        for size in map(int, batch_sizes.split(",")):
            times = compare(crowd, size, repeats=repeats, epochs=epochs, with_peers=others)
            cases.append(
                {"crowd": crowd.name, **crowd.describe(), "batch_size": size, "seconds_of_an_epoch": times}
            )
            typer.echo(f"{crowd.name}, batches of {size}: {show(times)}", err=True)
    record = {"machine": machine(), "epochs_in_a_turn": epochs, "cases": cases}
    write(output, "learning_speed", render(record), record)
    typer.echo(render(record))


def show(times: Times) -> str:
    """Milliseconds of the best turn of each contestant."""
    return ", ".join(f"{name} {1000 * min(turns):.1f} ms" for name, turns in times.items())


def render(record: dict[str, Any]) -> str:
    """The report in Markdown."""
    rows = []
    for case in record["cases"]:
        times = case["seconds_of_an_epoch"]
        best = min(times[OURS])
        rows.append([
            f"{case['crowd']} ({case['tasks']:,} tasks, {case['votes']:,} votes), {case['batch_size']}",
            *(f"{1000 * min(times[name]):.1f}" if name in times else NONE for name in (*OWN, *PEERS)),
            f"{best / min(times[PLAIN]):.2f}",
            f"{median(a / b for a, b in zip(times[OURS], times[PLAIN], strict=True)):.2f}",
            *(f"{min(times[name]) / best:.1f}" if name in times else NONE for name in PEERS),
        ])  # fmt: skip
    ms = [f"{name} ms" for name in (*OWN, *PEERS)]
    head = ["crowd, batch size", *ms, "to cross-entropy", "median of turns", *(f"{n} to ours" for n in PEERS)]
    return TEXT.format(
        machine=record["machine"], epochs=record["epochs_in_a_turn"], table=markdown(head, rows)
    )


TEXT = """# The time of an epoch

Written by `python -m benchmarks.learning_speed --data DIR`. Measured on {machine}, one thread each.

Milliseconds of one epoch, the best of all turns of {epochs} epochs; contestants take turns in one run. All
have the same network (128 hidden units, dropout 0.5), Adam, the same data in memory and batches of the same
number of rows. "cross-entropy" is our two-stage method: the same loop and batches, without any model of
workers.

peerannot's `run_epoch` is its own, on the labels as it keeps them, a row of all workers for each task; its
way from folders of images to rows is left out. With "a loader" batches come from a process beside it, which
is its default. crowd-kit's layer has no loop of its own: it is in a plain one over a `DataLoader`, with a
row for each vote, as the layer wants them; an epoch has then as many rows as votes.

{table}"""


if __name__ == "__main__":
    launch(main)
