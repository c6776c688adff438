"""`crowdpilot datasets`: public crowd data sets, what they are and how to get them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared.completion import complete_dataset
from crowdpilot.cli.shared.options import Json, examples
from crowdpilot.cli.shared.output import on_terminal, print_message, print_table, shows_progress

if TYPE_CHECKING:
    from crowdpilot.datasets import Dataset
    from crowdpilot.datasets.download import Progress

COLUMNS = "name", "tasks", "workers", "votes", "classes", "kind", "licence", "checksum", "where"
SHOWN = tuple(name for name in COLUMNS if name not in ("workers", "checksum"))  # at a terminal


Name = Annotated[
    str, typer.Argument(help="As `crowdpilot datasets` lists it.", autocompletion=complete_dataset)
]

datasets = typer.Typer(
    invoke_without_command=True,
    epilog=examples("datasets", "datasets info labelme", "datasets get bluebirds"),
    help="Public crowd data sets: list or download them.",
)


@datasets.callback()
def list_datasets(context: typer.Context, as_json: Json = False) -> None:
    """List data sets: how large they are, on what terms they may be used, and where they are."""
    from crowdpilot.datasets import DATASETS

    if context.invoked_subcommand is not None:
        return
    rows = [_row(dataset) for dataset in DATASETS.values()]
    if on_terminal() and not as_json:
        print_table(SHOWN, [_briefly(row) for row in rows])
    else:
        print_table(COLUMNS, [list(row.values()) for row in rows], as_json=as_json)


@datasets.command(epilog=examples("datasets info labelme", "datasets info labelme --json"))
def info(name: Name, as_json: Json = False) -> None:
    """Print the description, source, licence and files of a data set."""
    from crowdpilot.datasets import find
    from crowdpilot.datasets.local_copies import local_folder

    dataset = find(name)
    known = _row(dataset) | {
        "truth": dataset.counts.truth,
        "description": dataset.description,
        "source": dataset.source,
        "bytes": dataset.size,
        "folder": None if (folder := local_folder(dataset)) is None else str(folder),
        "files": [
            {"url": file.url, "bytes": file.size, "sha256": file.sha256, "name": file.name}
            for file in dataset.files
        ],
    }
    if as_json:
        typer.echo(json.dumps(known, indent=2, ensure_ascii=False))
        return
    files = [(f"file {n}", file["url"]) for n, file in enumerate(known.pop("files"), 1)]
    print_table(("what", "is"), [*((key, _with_commas(value)) for key, value in known.items()), *files])


@datasets.command("get", epilog=examples("datasets get bluebirds", "datasets get digits --folder data"))
def get_dataset(
    name: Name,
    to: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            "--to",
            metavar="FOLDER",
            help="Where to put the folder of the data set; else $CROWDPILOT_DATA_HOME, or the cache of this "
            "system.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Download it again.")] = False,
) -> None:
    """Download a data set, check it, and print its folder; an interrupted download is resumed."""
    from crowdpilot.datasets import find, get
    from crowdpilot.datasets.local_copies import CHECKSUM_FILE

    dataset = find(name)
    print_message(dataset.terms)
    if not dataset.is_bundled and dataset.checksum != "known":
        print_message(
            "not all of its files have a known checksum: that of the first download is kept and checked later"
        )
    try:
        with _progress() as progress:
            folder = get(name, to, force=force, progress=progress)
    except KeyboardInterrupt as error:
        raise type(error)("the same command resumes the download") from None
    for line in (folder / CHECKSUM_FILE).read_text("utf-8").splitlines():
        print_message(f"sha256 {line}")
    typer.echo(str(folder))


def _row(dataset: Dataset) -> dict[str, Any]:
    from crowdpilot.datasets.local_copies import local_folder

    c = dataset.counts
    where = "bundled" if dataset.is_bundled else "downloaded" if local_folder(dataset) else "to get"
    checksum = None if dataset.is_bundled else dataset.checksum
    values = (
        dataset.name,
        c.tasks,
        c.workers or None,
        c.votes or None,
        c.classes,
        dataset.kind,
        dataset.licence,
    )
    return dict(zip(COLUMNS, (*values, checksum, where), strict=True))


def _briefly(row: dict[str, Any]) -> list[Any]:
    """As much as fits on a line of a terminal; `info` says the rest."""
    return [
        row["licence"].partition(" (")[0].partition(",")[0] if name == "licence" else row[name]
        for name in SHOWN
    ]


def _with_commas(value: Any) -> Any:
    return f"{value:,}" if isinstance(value, int) else value


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A bar on the terminal for each file; nothing elsewhere."""
    if not shows_progress():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        known: dict[str, Any] = {}

        def show_piece(file: str, there: int, total: int | None) -> None:
            if file not in known:
                known[file] = bars.add_task(file, total=total)
            bars.update(known[file], completed=there, total=total)

        yield show_piece
