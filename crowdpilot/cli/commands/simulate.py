"""`crowdpilot simulate`: votes of a crowd whose truth is known."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared import many_files, options
from crowdpilot.cli.shared.choices import SIMULATED_CROWDS
from crowdpilot.cli.shared.completion import complete_crowd
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, show_status

if TYPE_CHECKING:
    from crowdpilot.scale.engine import Engine
    from crowdpilot.simulation import Crowd, Simulation

BEHAVIOUR = "Behaviour of workers"
STRATEGY = "Settings of some strategies"
EXAMPLES = examples(
    "simulate -o votes.csv --truth truth.csv",
    "simulate -s student-teacher --n-task 500 --feedback 5 --folder crowd",
)


def simulate(
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", "-s", help=f"One of {', '.join(SIMULATED_CROWDS)}.", autocompletion=complete_crowd
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
    votes_per_task: Annotated[
        int | None, typer.Option("--votes-per-task", "--feedback", help="Number of votes on each task.")
    ] = None,
    max_votes_per_worker: Annotated[
        int | None,
        typer.Option("--max-votes-per-worker", "--workerload", help="Maximum number of votes of a worker."),
    ] = None,
    imbalance_votes: Annotated[
        bool, typer.Option("--imbalance-votes", help="Draw the number of votes on each task at random.")
    ] = False,
    matrix_file: Annotated[
        Path | None, typer.Option(help="File of confusion matrices (.npy) to use instead of random ones.")
    ] = None,
    prior: Annotated[
        str | None, typer.Option(metavar="P,P,...", help="Probability of each class; equal if not given.")
    ] = None,
    seed: options.Seed = 0,
    ratio: Annotated[
        float | None,
        typer.Option(help="Share of spammers, students or good workers.", rich_help_panel=STRATEGY),
    ] = None,
    ratio_diff: Annotated[
        float | None, typer.Option(help="Number of easy tasks per hard one.", rich_help_panel=STRATEGY)
    ] = None,
    random: Annotated[
        float | None,
        typer.Option(help="Share of tasks on which all workers guess.", rich_help_panel=STRATEGY),
    ] = None,
    concentration: Annotated[
        float | None,
        typer.Option(
            help="Concentration of the Dirichlet distribution of confusion rows.", rich_help_panel=STRATEGY
        ),
    ] = None,
    good: Annotated[
        float | None, typer.Option(help="Concentration for good workers.", rich_help_panel=STRATEGY)
    ] = None,
    bad: Annotated[
        float | None, typer.Option(help="Concentration for bad workers.", rich_help_panel=STRATEGY)
    ] = None,
    tail: Annotated[
        float | None,
        typer.Option(
            help="Exponent of the power law of the activity of workers; 0: equal.", rich_help_panel=BEHAVIOUR
        ),
    ] = None,
    drifting: Annotated[
        float | None, typer.Option(help="Share of workers whose accuracy falls.", rich_help_panel=BEHAVIOUR)
    ] = None,
    colluding: Annotated[
        float | None, typer.Option(help="Share of workers who copy in groups.", rich_help_panel=BEHAVIOUR)
    ] = None,
    group_size: Annotated[
        int | None, typer.Option(help="Number of workers in a group.", rich_help_panel=BEHAVIOUR)
    ] = None,
    abstain: Annotated[
        float | None, typer.Option(help="Share of votes that are missing.", rich_help_panel=BEHAVIOUR)
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Median time of a vote.", rich_help_panel=BEHAVIOUR)
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Write N Parquet files, drawn one by one, with the same workers in all.",
            rich_help_panel=many_files.HELP_PANEL,
        ),
    ] = None,
    cluster: many_files.Cluster = None,
    local_cluster: many_files.LocalCluster = None,
) -> None:
    """Draw a crowd, its tasks and its votes, and write them with the truth.

    The same seed gives the same crowd. An option that is not given has the default of the strategy;
    one that the strategy does not have is an error.
    """
    from crowdpilot import io
    from crowdpilot.simulation import make_crowd

    spread = shards is not None or cluster is not None or local_cluster is not None
    if folder is None and output is None:
        raise ValueError("no file to write is named: give --folder, or --output for the votes alone")
    if not spread:
        writable = [suffix for format in io.FORMATS.values() if format.write for suffix in format.suffixes]
        options.check_writable(output, writable)
        options.check_writable(truth, io.TABLES)
    settings = options.without_none(
        tasks=n_task, workers=n_worker, classes=K, votes_per_task=votes_per_task,
        max_votes_per_worker=max_votes_per_worker,
        imbalance_votes=imbalance_votes or None, matrix_file=matrix_file,
        prior=None if prior is None else tuple(options.parse_numbers("--prior", prior)), seed=seed,
        ratio=ratio, ratio_diff=ratio_diff, random=random,
        concentration=concentration, good=good, bad=bad, tail=tail, drifting=drifting,
        colluding=colluding, group_size=group_size, abstain=abstain, seconds=seconds,
    )  # fmt: skip
    crowd = make_crowd(strategy, settings)
    if spread:
        if shards is None or folder is not None or output is None:
            raise ValueError("many files need --shards and a new folder as --output, without --folder")
        with many_files.open_engine(cluster, local_cluster) as engine:
            _simulate_files(crowd, output, shards, engine, truth)
        return
    with show_status(f"simulating {crowd.name}"):
        simulation = crowd.run()
    with show_status("writing"):
        _save(simulation, folder, output, truth)
    files = ", ".join(str(path) for path in (folder, output, truth) if path is not None)
    print_message(f"{len(simulation.votes)} votes written to {files}")


def _simulate_files(
    crowd: Crowd, output: Path, shards: int, engine: Engine | None, truth: Path | None
) -> None:
    from crowdpilot.scale import simulate_files

    with many_files.progress_bars() as progress:
        writing = partial(progress, "writing")
        votes = simulate_files(crowd, output, shards, engine=engine, truth=truth, progress=writing)
    files = ", ".join(str(path) for path in (output, truth) if path is not None)
    print_message(f"{votes} votes written to {shards} files in {files}")


def _save(simulation: Simulation, folder: Path | None, output: Path | None, truth: Path | None) -> None:
    """Write all files, or none."""
    from crowdpilot import io
    from crowdpilot.io.atomic_write import atomic_path
    from crowdpilot.simulation import save

    votes, codes = simulation
    with ExitStack() as drafts:
        if truth is not None:
            table = {"task": votes.tasks, "label": votes.classes[codes]}
            io.write_table(table, drafts.enter_context(atomic_path(truth)))
        if output is not None:
            io.write(votes, drafts.enter_context(atomic_path(output)))
        if folder is not None:
            save(simulation, folder)
