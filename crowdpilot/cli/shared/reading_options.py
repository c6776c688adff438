"""Options of reading votes: format, columns, classes and repeated votes; true labels and excluded workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared.choices import Repeats
from crowdpilot.cli.shared.completion import complete_format
from crowdpilot.cli.shared.options import Classes, split_commas
from crowdpilot.cli.shared.output import print_message, print_table, show_status

if TYPE_CHECKING:
    from crowdpilot.arrays import Names
    from crowdpilot.scale import Shards
    from crowdpilot.votes import Votes

NumberedClasses = Annotated[
    int | None, typer.Option("--n-classes", "-K", help="Number of classes, if they are 0, 1 and so on.")
]
REPEATS_HELP = "Which vote counts when a worker labels a task again."


@dataclass(frozen=True)
class ReadingOptions:
    """The options of every command that reads votes, as the user has set them."""

    classes: Classes = None
    abstain: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="Labels that mean “can't tell”: they are no votes."),
    ] = None
    repeats: Annotated[Repeats, typer.Option(help=REPEATS_HELP)] = "last"
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Format of the votes; if not given, it is detected.",
            autocompletion=complete_format,
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME,...", help="Columns to read, as in task=url,worker=rater,label=answer."
        ),
    ] = None
    question: Annotated[
        str | None, typer.Option(metavar="NAME", help="The question to read, where a file has several.")
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="The sheet to read, where a workbook has several.")
    ] = None
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...", help="Names of the columns, if the first line is a vote: task,worker,label."
        ),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of the text; if not given, it is detected.")
    ] = None
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how the votes are read and their first rows, and stop.")
    ] = False

    @property
    def class_names(self) -> list[str] | None:
        """The classes in their order; None if they are those that occur."""
        return split_commas(self.classes) or None

    @property
    def columns_by_role(self) -> dict[str, str]:
        """The names of columns by what they hold."""
        pairs = [part.partition("=") for part in split_commas(self.columns)]
        if bad := ["".join(pair) for pair in pairs if not all(pair)]:
            raise ValueError(f"--columns has {bad[0]!r}, expected ROLE=NAME such as task=url")
        return {role.strip(): name.strip() for role, _, name in pairs}

    def for_tables(self) -> dict[str, Any]:
        """Arguments of `io.read` that do not depend on the format: classes, abstentions and repeats."""
        return {
            "classes": self.class_names, "abstain": split_commas(self.abstain), "repeats": self.repeats,
        }  # fmt: skip

    def for_files(self) -> dict[str, Any]:
        """All arguments of `io.read` but the file."""
        return self.for_tables() | {
            "format": self.format, "columns": self.columns_by_role, "question": self.question,
            "sheet": self.sheet, "header": split_commas(self.header) or None, "encoding": self.encoding,
        }  # fmt: skip

    def with_numbered_classes(self, count: int | None) -> ReadingOptions:
        """The same options with the classes 0, 1 and so on, if their number is given."""
        if count is None:
            return self
        if self.classes:
            raise ValueError("--n-classes and --classes both say what the classes are; give one of them")
        return replace(self, classes=[str(k) for k in range(count)])

    def load(self, source: Path) -> Votes:
        """Votes of a file; one line says how they were read, and others what may be wrong."""
        from crowdpilot import io

        with show_status(f"reading {source}"):
            reading = io.explain(source, **self.for_files())
        print_message(str(reading))
        for note in reading.notes:
            print_message(f"warning: {note}")
        if self.explain:
            rows = reading.preview()
            print_table(list(rows), zip(*rows.values(), strict=True))
            raise typer.Exit
        return reading.votes

    def changed(self) -> dict[str, Any]:
        """The options that do not have their default."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def read(
        self, source: Path, *, gold: Mapping[Any, Any] | None = None, exclude: Path | None = None
    ) -> Votes:
        """Votes without those of excluded workers, with the true labels of the file and of `gold`."""
        votes = self.load(source)
        if not len(votes):
            raise ValueError(f"{source} has no vote, expected one in every row below the first")
        if gold:
            check_tasks("the file of true labels", gold, votes.tasks)
        votes = votes if gold is None else votes.with_gold({**_gold_labels(votes), **gold})
        return votes if exclude is None else _exclude_workers(votes, exclude)

    def shards(self, source: Path, *, gold: Path | None, exclude: Path | None) -> Shards:
        """Votes in many Parquet files, which are read one at a time."""
        from crowdpilot.scale import Shards

        arguments = self.for_tables() | {"columns": self.columns_by_role}
        if self.format not in (None, "parquet") or self.question is not None:
            raise ValueError(
                f"{source}: votes in many files are Parquet, so leave out --format and --question"
            )
        excluded = () if exclude is None else read_workers(exclude)
        return Shards(source, **arguments, gold=read_true_labels(gold) or {}, exclude=excluded)


def read_true_labels(*files: Path | None) -> dict[Any, Any] | None:
    """The true labels in all of these files, by task; None if there is no file."""
    from crowdpilot import io

    tables = [io.read_labels(file) for file in files if file is not None]
    return {task: label for labels in tables for task, label in labels.items()} if tables else None


def read_workers(file: Path) -> set[str]:
    """The workers in the column `worker` of a file."""
    from crowdpilot import io

    format = "csv" if file.suffix in (".csv", "") else None  # which may have a single column
    return set(map(str, io.read_labels(file, format=format, columns={"task": "worker", "label": "worker"})))


def check_tasks(file: Path | str, labels: Mapping[Any, Any], tasks: Names) -> None:
    """Raise if a file has a label for none of these tasks, as it is if they have other names there."""
    if not {str(task) for task in tasks.tolist()}.intersection(map(str, labels)):
        names = f"{str(next(iter(labels), 'nothing'))!r} there and {str(tasks[0])!r} here"
        raise ValueError(f"{file} names none of the {len(tasks)} tasks; they are called {names}: rename them")


def _gold_labels(votes: Votes) -> dict[Any, Any]:
    import numpy as np

    if votes.gold is None:
        return {}
    known = np.flatnonzero(votes.gold >= 0)
    return dict(zip(votes.tasks[known].tolist(), votes.classes[votes.gold[known]].tolist(), strict=True))


def _exclude_workers(votes: Votes, file: Path) -> Votes:
    """The votes of all but the workers in a file."""
    import numpy as np

    excluded = read_workers(file)
    names = [str(name) for name in votes.workers.tolist()]
    if not excluded.intersection(names):
        raise ValueError(
            f"{file} names none of the {len(names)} workers; they are called {names[0]!r} and so on"
        )
    remain = np.asarray([name not in excluded for name in names])
    if not remain[votes.worker].any():
        raise ValueError(f"{file} names all workers, so that no vote is left")
    count = (~remain[votes.worker]).sum()
    print_message(f"{(~remain).sum()} of {len(names)} workers and {count} votes are left out")
    return votes.select(workers=remain)
