"""Options and progress bars of commands on votes in many files, and the engine that they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared.missing_packages import missing_package_error
from crowdpilot.cli.shared.output import on_terminal, print_message

if TYPE_CHECKING:
    from crowdpilot.scale import FilesAggregate
    from crowdpilot.scale.engine import Engine, StageProgress

HELP_PANEL = "Votes in many files"

Source = Annotated[
    Path,
    typer.Argument(
        metavar="VOTES", help="File or folder of votes, or a pattern in quotes such as 'votes/*.parquet'."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Dask scheduler to work on, such as tcp://host:8786.",
        rich_help_panel=HELP_PANEL,
    ),
]
LocalCluster = Annotated[
    int | None,
    typer.Option(metavar="N", help="Work in N processes of this machine.", rich_help_panel=HELP_PANEL),
]


@contextmanager
def open_engine(cluster: str | None, local_cluster: int | None) -> Iterator[Engine | None]:
    """The cluster of the options, until the end of the block; None for this machine."""
    if cluster is not None and local_cluster is not None:
        raise ValueError("--cluster and --local-cluster exclude each other: give one of them")
    if cluster is None and local_cluster is None:
        yield None
        return
    try:
        from crowdpilot.scale import dask_engine
    except ModuleNotFoundError as error:
        raise missing_package_error("a cluster", error) from None

    if cluster is not None:
        opened = dask_engine.connected_cluster(cluster)
    else:
        opened = dask_engine.local_cluster(local_cluster or 0)
    with opened as engine:
        yield engine


@contextmanager
def progress_bars() -> Iterator[StageProgress]:
    """Progress bars on standard error, one for each stage, if it is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    is_terminal = on_terminal(err=True)
    stages: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not is_terminal) as bars:

        def update(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total)
            bars.update(stages[stage], completed=done, total=total)

        yield update


def is_many(votes: Path) -> bool:
    """Whether these are several files: a pattern, or a folder of Parquet files."""
    from crowdpilot.scale.files.shards import find_files, is_pattern

    return is_pattern(votes) or (votes.is_dir() and bool(find_files(votes)))


def report_result(result: FilesAggregate, verbose: bool) -> None:
    """Print what was read and what was left out, on standard error."""
    if result.dropped:
        print_message(f"{result.dropped} rows hold no vote (missing or “can't tell”) and were left out")
    if excluded := result.excluded_workers:
        workers = f"{excluded} of {len(result.workers) + excluded} workers"
        print_message(f"{workers} and {result.excluded_votes} votes are left out")
    if verbose:
        iterations = f", {len(result.trace)} iterations" if result.trace else ""
        sizes = f"{result.n_votes} votes, {result.n_tasks} tasks, {len(result.workers)} workers"
        print_message(f"{sizes}, {len(result.classes)} classes by {result.model}{iterations}")
