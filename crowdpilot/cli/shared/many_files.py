"""Options and progress bars of commands on votes in many files, and the engine that they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared.output import VERBOSE, print_message, shows_progress, verbosity
from crowdpilot.optional_packages import needed_for

if TYPE_CHECKING:
    from crowdpilot.progress_bars import StageProgress
    from crowdpilot.scale import FilesAggregate
    from crowdpilot.scale.engine import Engine

HELP_PANEL = "Votes in many files"

Source = Annotated[
    Path,
    typer.Argument(
        metavar="VOTES",
        help="File or folder of votes, - for standard input, or a pattern in quotes such as "
        "'votes/*.parquet'.",
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
    with needed_for("a cluster"):
        from crowdpilot.scale import dask_engine

    if cluster is not None:
        opened = dask_engine.connected_cluster(cluster)
    else:
        opened = dask_engine.local_cluster(local_cluster or 0)
    with opened as engine:
        yield engine


@contextmanager
def progress_bars() -> Iterator[StageProgress]:
    """Progress bars on standard error, one for each stage, if it is a terminal."""
    from crowdpilot.progress_bars import ProgressBars

    with ProgressBars(shown=shows_progress(), transient=True) as bars:
        yield bars.update


def is_many(votes: Path) -> bool:
    """Whether these are several files: a pattern, or a folder of Parquet files."""
    from crowdpilot.scale.files.shards import find_files, is_pattern

    return is_pattern(votes) or (votes.is_dir() and bool(find_files(votes)))


def report_result(result: FilesAggregate) -> None:
    """Print what was read and what was left out, on standard error."""
    if result.dropped:
        print_message(f"{result.dropped} rows hold no vote (missing or “can't tell”) and were left out")
    if excluded := result.excluded_workers:
        workers = f"{excluded} of {len(result.workers) + excluded} workers"
        print_message(f"{workers} and {result.excluded_votes} votes are left out")
    if verbosity() == VERBOSE:
        iterations = f", {len(result.trace)} iterations" if result.trace else ""
        sizes = f"{result.n_votes} votes, {result.n_tasks} tasks, {len(result.workers)} workers"
        print_message(f"{sizes}, {len(result.classes)} classes by {result.model}{iterations}")
