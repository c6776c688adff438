"""`crowdpilot convert`: votes from one format to another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from crowdpilot.cli.shared.choices import Repeats
from crowdpilot.cli.shared.completion import complete_format
from crowdpilot.cli.shared.many_files import is_many
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, show_status
from crowdpilot.cli.shared.reading_options import REPEATS_HELP, ReadingOptions

EXAMPLES = examples(
    "convert votes.csv votes.parquet",
    "convert export.json votes.csv --from label_studio",
    "convert votes.csv votes --shards 64",
)


@dataclass(frozen=True)
class ConvertReadingOptions(ReadingOptions):
    """The options of reading votes, all of which are kept unless another choice is made."""

    repeats: Annotated[Repeats, typer.Option(help=REPEATS_HELP)] = "all"
    format: Annotated[
        str | None,
        typer.Option(
            "--from",
            "--format",
            metavar="FORMAT",
            help="Format of IN; if not given, it is detected.",
            autocompletion=complete_format,
        ),
    ] = None


@expand_options
def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN", help="File or folder of votes; with --shards also a pattern of Parquet files."
        ),
    ],
    target: Annotated[
        Path | None, typer.Argument(metavar="OUT", help="File or folder to write.", show_default=False)
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The same as OUT.")] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of OUT; if not given, its suffix decides.",
            autocompletion=complete_format,
        ),
    ] = None,
    *,
    reading: ConvertReadingOptions,
    shards: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Write N Parquet files into the new folder OUT, each task in one of them."
        ),
    ] = None,
) -> None:
    """Read the votes of IN and write them to OUT in another format.

    With --shards, many Parquet files are read one after the other, so that they may hold more than
    fits into memory.
    """
    from crowdpilot import io

    if (target is None) == (output is None):
        raise ValueError("the file to write is named once: crowdpilot convert IN OUT, or -o OUT")
    target = target or output or Path()
    if shards is not None:
        _write_shards(source, target, to, shards, reading)
        return
    votes = reading.load(source)
    with show_status(f"writing {target}"):
        io.write(votes, target, format=to)
    print_message(f"{len(votes)} votes written to {target}")


def _write_shards(source: Path, target: Path, to: str | None, shards: int, reading: ReadingOptions) -> None:
    """Write votes to many Parquet files; several files are read one at a time."""
    from crowdpilot import io
    from crowdpilot.scale import Shards, write_shards

    if to not in (None, "parquet"):
        raise ValueError(f"--shards writes Parquet files, not {to}: leave out --to")
    files = Shards(source).files if is_many(source) else (str(source),)
    if len(files) > 1 and reading.repeats != "all":
        raise ValueError("--repeats needs all votes of a task in one file: leave it out")
    with show_status(f"writing {target}"):
        total = write_shards((io.read(file, **reading.for_files()) for file in files), target, shards)
    print_message(f"{total} votes written to {shards} files in {target}")
