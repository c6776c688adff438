"""`crowdpilot simulate`: votes of a crowd whose truth is known."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared import many_files, options
from crowdpilot.cli.shared.help_examples import examples
from crowdpilot.cli.shared.output import note, working
from crowdpilot.simulation import STRATEGIES, Crowd, Simulation, make_crowd, save

if TYPE_CHECKING:
    from crowdpilot.scale.engines import Engine

HABITS = "What workers do besides erring"
STRATEGY = "What belongs to one strategy or another"
EXAMPLES = examples(
    "simulate -o votes.csv --truth truth.csv",
    "simulate -s student-teacher --n-task 500 --feedback 5 --folder crowd",
)


def complete_crowd(incomplete: str) -> list[str]:
    """Strategies of simulation that begin like this."""
    return [name for name in STRATEGIES if name.startswith(incomplete)]


def simulate(
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", "-s", help=f"One of {', '.join(STRATEGIES)}.", autocompletion=complete_crowd
        ),
    ] = "hammer-spammer",
    folder: Annotated[
        Path | None, typer.Option(help="New folder to write in the layout of peerannot, with the truth.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the votes; its suffix is the format. With --shards, a new folder.",
        ),
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="File for the true labels. With --shards, a new folder.")
    ] = None,
    n_task: Annotated[int | None, typer.Option(help="Number of tasks.")] = None,
    n_worker: Annotated[int | None, typer.Option(help="Number of workers.")] = None,
    K: Annotated[int | None, typer.Option("-K", "--n-classes", help="Number of classes.")] = None,
    feedback: Annotated[int | None, typer.Option(help="Votes for each task.")] = None,
    workerload: Annotated[int | None, typer.Option(help="Votes a worker gives at most.")] = None,
    imbalance_votes: Annotated[
        bool, typer.Option("--imbalance-votes", help="Draw the number of votes of each task.")
    ] = False,
    matrix_file: Annotated[
        Path | None, typer.Option(help="Confusion matrices (.npy) to take instead of drawing them.")
    ] = None,
    prior: Annotated[
        str | None, typer.Option(metavar="P,P,...", help="Probability of each class; equal if not given.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Where random numbers begin.")] = None,
    ratio: Annotated[
        float | None,
        typer.Option(help="Share of spammers, students or good workers.", rich_help_panel=STRATEGY),
    ] = None,
    ratio_diff: Annotated[
        float | None, typer.Option(help="Easy tasks for each hard one.", rich_help_panel=STRATEGY)
    ] = None,
    random: Annotated[
        float | None, typer.Option(help="Share of tasks that everybody guesses.", rich_help_panel=STRATEGY)
    ] = None,
    concentration: Annotated[
        float | None,
        typer.Option(help="How mixed matrices are; small is nearly certain.", rich_help_panel=STRATEGY),
    ] = None,
    good: Annotated[
        float | None, typer.Option(help="The same for good workers.", rich_help_panel=STRATEGY)
    ] = None,
    bad: Annotated[
        float | None, typer.Option(help="The same for bad workers.", rich_help_panel=STRATEGY)
    ] = None,
    tail: Annotated[
        float | None, typer.Option(help="How unequally workers come; 0 is equally.", rich_help_panel=HABITS)
    ] = None,
    drifting: Annotated[
        float | None, typer.Option(help="Share of workers who get worse.", rich_help_panel=HABITS)
    ] = None,
    colluding: Annotated[
        float | None, typer.Option(help="Share of workers who copy in groups.", rich_help_panel=HABITS)
    ] = None,
    group_size: Annotated[
        int | None, typer.Option(help="Workers in such a group.", rich_help_panel=HABITS)
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Share of votes that are missing.", rich_help_panel=HABITS)
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="How long a vote takes, the median.", rich_help_panel=HABITS)
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Write N Parquet files, drawn one by one, with the same workers in all.",
            rich_help_panel=many_files.PANEL,
        ),
    ] = None,
    cluster: many_files.Cluster = None,
    local_cluster: many_files.LocalCluster = None,
) -> None:
    """Draw a crowd, its tasks and its votes, and write them with the truth.

    The same seed gives the same crowd. What is not given keeps the default of the strategy; what
    the strategy does not have is an error.
    """
    from crowdpilot import io

    spread = shards is not None or cluster is not None or local_cluster is not None
    if folder is None and output is None:
        raise ValueError("nothing is to be written: give --folder, or --output for the votes alone")
    if not spread:
        writable = [suffix for format in io.FORMATS.values() if format.write for suffix in format.suffixes]
        options.ready(output, writable)
        options.ready(truth, io.TABLES)
    settings = options.without_none(
        tasks=n_task, workers=n_worker, classes=K, votes_per_task=feedback, max_votes_per_worker=workerload,
        imbalance_votes=imbalance_votes or None, matrix_file=matrix_file, prior=_numbers(prior), seed=seed,
        ratio=ratio, ratio_diff=ratio_diff, random=random,
        concentration=concentration, good=good, bad=bad, tail=tail, drifting=drifting,
        colluding=colluding, group_size=group_size, abstain=abstain, seconds=seconds,
    )  # fmt: skip
    crowd = make_crowd(strategy, settings)
    if spread:
        if shards is None or folder is not None or output is None:
            raise ValueError("many files of votes need --shards and --output, a new folder, and no --folder")
        with many_files.engine(cluster, local_cluster) as engine:
            _simulate_files(crowd, output, shards, engine, truth)
        return
    with working(f"simulating {crowd.name}"):
        simulation = crowd.run()
    with working("writing"):
        _save(simulation, folder, output, truth)
    places = ", ".join(str(place) for place in (folder, output, truth) if place is not None)
    note(f"{len(simulation.votes)} votes written to {places}")


def _simulate_files(
    crowd: Crowd, output: Path, shards: int, engine: Engine | None, truth: Path | None
) -> None:
    from crowdpilot.scale.files.simulate import simulate

    with many_files.bars() as tell:
        votes = simulate(crowd, output, shards, on=engine, truth=truth, tell=partial(tell, "writing"))
    places = ", ".join(str(place) for place in (output, truth) if place is not None)
    note(f"{votes} votes written to {shards} files in {places}")


def _save(simulation: Simulation, folder: Path | None, output: Path | None, truth: Path | None) -> None:
    """All that is asked for, or nothing."""
    from crowdpilot import io
    from crowdpilot.io.atomic_write import atomic_path

    votes, codes = simulation
    with ExitStack() as drafts:
        if truth is not None:
            table = {"task": votes.tasks, "label": votes.classes[codes]}
            io.write_table(table, drafts.enter_context(atomic_path(truth)))
        if output is not None:
            io.write(votes, drafts.enter_context(atomic_path(output)))
        if folder is not None:
            save(simulation, folder)


def _numbers(text: str | None) -> tuple[float, ...] | None:
    try:
        return None if text is None else tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--prior is {text!r}, expected numbers with commas between them") from None
