"""Votes in many files, and where to work on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared.missing_packages import missing_package_error
from crowdpilot.cli.shared.output import on_terminal, print_message

if TYPE_CHECKING:
    from crowdpilot.scale import Summary
    from crowdpilot.scale.engines import Engine

PANEL = "Votes in many files"
Tell = Callable[[str, int, int], None]

Source = Annotated[
    Path,
    typer.Argument(
        metavar="VOTES", help="File or folder of votes, or a pattern in quotes such as 'votes/*.parquet'."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Dask scheduler to work on, such as tcp://host:8786.", rich_help_panel=PANEL
    ),
]
LocalCluster = Annotated[
    int | None,
    typer.Option(metavar="N", help="Work in N processes of this machine.", rich_help_panel=PANEL),
]


@contextmanager
def engine(cluster: str | None, local_cluster: int | None) -> Iterator[Engine | None]:
    """The cluster that is asked for, as long as it is needed; None for this machine."""
    if cluster is not None and local_cluster is not None:
        raise ValueError("--cluster and --local-cluster exclude each other: give one of them")
    if cluster is None and local_cluster is None:
        yield None
        return
    try:
        from crowdpilot.scale.dask_cluster import connected, local
    except ModuleNotFoundError as error:
        raise missing_package_error("a cluster", error) from None

    with connected(cluster) if cluster is not None else local(local_cluster or 0) as found:
        yield found


@contextmanager
def bars() -> Iterator[Tell]:
    """Bars on standard error that show how far each stage is, if a person is watching."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    shown = on_terminal(err=True)
    stages: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as progress:

        def tell(what: str, done: int, of: int) -> None:
            if what not in stages:
                stages[what] = progress.add_task(what, total=of)
            progress.update(stages[what], completed=done, total=of)

        yield tell


def is_many(votes: Path) -> bool:
    """Whether these are several files: a pattern, or a folder of Parquet files."""
    from crowdpilot.scale.files.shards import find_files, is_pattern

    return is_pattern(votes) or (votes.is_dir() and bool(find_files(votes)))


def report(summary: Summary, verbose: bool) -> None:
    """Say what was read, and what not."""
    if summary.dropped:
        print_message(f"{summary.dropped} rows hold no vote (missing or “can't tell”) and were left out")
    workers, votes = summary.excluded
    if workers:
        print_message(f"{workers} of {len(summary.workers) + workers} workers and {votes} votes are left out")
    if verbose:
        rounds = f", {len(summary.trace)} rounds" if summary.trace else ""
        sizes = f"{summary.votes} votes, {summary.tasks} tasks, {len(summary.workers)} workers"
        print_message(f"{sizes}, {len(summary.classes)} classes by {summary.model}{rounds}")
