"""Options of several commands, checks of files to write, and the examples of help texts."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.completion import complete_strategy
from crowdpilot.optional_packages import check_installed

PICTURE_SUFFIXES = (".svg", ".png", ".pdf")
SEED_HELP = "Seed of the random numbers."

Source = Annotated[
    Path, typer.Argument(metavar="VOTES", help="File or folder of votes; - for standard input.")
]
Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        "-s",
        help="A name of `crowdpilot strategies`, or name[option=value,...].",
        autocompletion=complete_strategy,
    ),
]
Classes = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B,...", help="All classes in their order; if not given, those that occur."),
]
Gold = Annotated[Path | None, typer.Option(help="File with the true label of some tasks, to learn from.")]
Exclude = Annotated[Path | None, typer.Option(help="File with workers whose votes are left out.")]
Level = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Seed = Annotated[int, typer.Option(help=SEED_HELP)]
Truth = Annotated[Path | None, typer.Option(help="File with the true label of tasks, to measure by.")]
Plot = Annotated[Path | None, typer.Option(help="File for a picture: .svg, .png or .pdf.")]
Probs = Annotated[bool, typer.Option("--probs", help="Add a column for each class.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON: a list with an object for each row.")]


def without_none(**options: Any) -> dict[str, Any]:
    """The options that the user has set; the others keep the default of what they are passed to."""
    return {name: value for name, value in options.items() if value is not None}


def split_commas(values: list[str] | None) -> list[str]:
    """The parts of an option that can be repeated, have commas between its parts, or both."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]


def parse_numbers(option: str, text: str) -> list[float]:
    """The numbers of an option, with commas between them."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} is {text!r}, expected numbers with commas between them") from None


def check_writable(path: Path | None, suffixes: Collection[str]) -> None:
    """Raise before any computation if the file could not be written after it; new folders are made then."""
    from crowdpilot.io.detect import suffix_of

    if path is None:
        return
    if str(path) == "-":
        raise ValueError("a file called - is not written; leave out -o for standard output")
    if path.is_dir() and "" not in suffixes:
        raise ValueError(f"{path} cannot be written: it is a folder; name a file in it")
    nearest = next(parent for parent in path.absolute().parents if parent.exists())
    if not nearest.is_dir():
        raise ValueError(f"{path} cannot be written: {nearest.name} is a file; choose another folder")
    if (suffix := suffix_of(path)) and suffix not in suffixes:
        raise ValueError(f"{path}: the suffix {suffix} is not known, expected {', '.join(suffixes)}")
    if suffix == ".parquet":
        check_installed("pyarrow", what="Parquet")


def examples(*lines: str) -> str:
    """The end of a help text: commands that can be run as they are, given such files."""
    return "**Examples**:\n\n" + "\n".join(f"* `crowdpilot {line}`" for line in lines)
