"""Options that several commands have, and what they stand for."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared.completion import complete_format, complete_strategy
from crowdpilot.cli.shared.missing_packages import missing
from crowdpilot.votes import Repeats

Source = Annotated[Path, typer.Argument(metavar="VOTES", help="File or folder of votes.")]
Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        "-s",
        help="A name of `crowdpilot strategies`, or name[option=value,...].",
        autocompletion=complete_strategy,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of the votes; if not given, it is found by looking inside.",
        autocompletion=complete_format,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="ROLE=NAME,...", help="Columns to read, as in task=url,worker=rater,label=answer."),
]
Classes = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B,...", help="All classes in their order; if not given, those that occur."),
]
Abstain = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B,...", help="Labels that mean “can't tell”: they are no votes."),
]
Again = Annotated[Repeats, typer.Option(help="Which vote counts when a worker labels a task again.")]
Gold = Annotated[Path | None, typer.Option(help="File with the true label of some tasks, to learn from.")]
Exclude = Annotated[Path | None, typer.Option(help="File with workers whose votes do not count.")]
Level = Annotated[float, typer.Option(help="How often an interval should hold the value.")]
Seed = Annotated[int, typer.Option(help="Where random numbers begin.")]
Truth = Annotated[Path | None, typer.Option(help="File with the true label of tasks, to measure by.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON: a list with an object for each row.")]
Question = Annotated[
    str | None, typer.Option(metavar="NAME", help="The question to read, where a file has several.")
]


def reading(
    format: str | None,
    columns: list[str] | None,
    question: str | None,
    classes: list[str] | None,
    abstain: list[str] | None,
) -> dict[str, Any]:
    """What `io.read` is told by these options."""
    return {
        "format": format,
        "columns": _paired(columns),
        "question": question,
        "classes": _listed(classes) or None,
        "abstain": _listed(abstain),
    }


def without_none(**options: Any) -> dict[str, Any]:
    """The options that the user has set; the others keep the default of whatever takes them."""
    return {name: value for name, value in options.items() if value is not None}


def ready(target: Path | None, suffixes: Collection[str]) -> None:
    """Raise before any work is done if the file could not be written after it."""
    from crowdpilot.io.detect import suffix_of

    if target is None:
        return
    if str(target) == "-":
        raise ValueError("a file called - is not written; leave out -o for standard output")
    if target.is_dir() and "" not in suffixes:
        raise ValueError(f"{target} cannot be written: it is a folder; name a file in it")
    if not target.parent.is_dir():
        raise ValueError(f"{target} cannot be written: there is no folder {target.parent}; make it first")
    if (suffix := suffix_of(target)) and suffix not in suffixes:
        raise ValueError(f"{target}: the suffix {suffix} is not known, expected {', '.join(suffixes)}")
    if suffix == ".parquet":
        try:
            import_module("pyarrow")
        except ModuleNotFoundError as error:
            raise missing("Parquet", error) from None


def _listed(values: list[str] | None) -> list[str]:
    """The parts of an option that may be given several times, with commas, or both."""
    return [part.strip() for value in values or [] for part in value.split(",") if part.strip()]


def _paired(values: list[str] | None) -> dict[str, str]:
    pairs = [part.partition("=") for part in _listed(values)]
    if bad := ["".join(pair) for pair in pairs if not all(pair)]:
        raise ValueError(f"--columns has {bad[0]!r}, expected ROLE=NAME such as task=url")
    return {role.strip(): name.strip() for role, _, name in pairs}
