"""What becomes of files that were changed on the way: `python -m benchmarks.mutated_files`.

Votes whose truth is known are written in the layouts of people and programs, then changed as files are:
columns are added, moved and renamed, encodings change, ends are cut off. Each file is read and compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.process import launch
from benchmarks.tables import RESULTS, markdown, write
from tests.io.mutated.trials import CRASHED, MISREAD, READ, REFUSED, WARNED, Trial, run

OUTCOMES = READ, WARNED, REFUSED, MISREAD, CRASHED
SETTLED = "of the refused, read with options"
NO_MUTATION = "none"


def main(
    files: Annotated[int, typer.Option(help="How many files.")] = 10_000,
    first: Annotated[int, typer.Option(help="The seed of the first of them.")] = 0,
    show: Annotated[bool, typer.Option(help="Print the files that were misread, and write nothing.")] = False,
    output: Annotated[
        Path, typer.Option(help="Folder for mutated_files.md and mutated_files.json.")
    ] = RESULTS,
) -> None:
    """Write, change and read files, and count what comes of them."""
    trials = list(run(range(first, first + files)))
    if show:
        for trial in trials:
            if trial.outcome in (MISREAD, CRASHED):
                typer.echo(describe(trial))
        return
    record = measure(trials)
    write(output, "mutated_files", render(record), record)
    typer.echo(render(record))


def measure(trials: Sequence[Trial]) -> dict[str, Any]:
    """Counts of outcomes, in all, by layout and by mutation."""
    return {
        "files": len(trials),
        "all": _counts(trials),
        "layouts": _table((trial.layout, trial) for trial in trials),
        "mutations": _table(
            (mutation.replace("_", " "), trial)
            for trial in trials
            for mutation in trial.mutations or [NO_MUTATION]
        ),
    }


def _table(pairs: Iterable[tuple[str, Trial]]) -> dict[str, dict[str, int]]:
    groups: dict[str, list[Trial]] = defaultdict(list)
    for name, trial in pairs:
        groups[name].append(trial)
    return {name: _counts(groups[name]) for name in sorted(groups)}


def _counts(trials: Sequence[Trial]) -> dict[str, int]:
    counts = Counter(trial.outcome for trial in trials)
    settled = sum(trial.settled for trial in trials)
    return {outcome: counts[outcome] for outcome in OUTCOMES} | {SETTLED: settled}


def render(record: dict[str, Any]) -> str:
    """The report in Markdown."""
    parts = [TEXT.format(files=record["files"])]
    for title, rows in (
        ("All", {"all": record["all"]}),
        ("By layout", record["layouts"]),
        ("By change", record["mutations"]),
    ):
        header = [title.lower(), "files", *OUTCOMES, SETTLED]
        cells = [[name, *_shares(row)] for name, row in rows.items()]
        parts.append(f"## {title}\n\n{markdown(header, cells)}")
    return "\n".join(parts)


def _shares(row: dict[str, int]) -> list[str]:
    """The number of files, shares, how many are wrong, and how many refused files options settle."""
    total = sum(row[outcome] for outcome in OUTCOMES)
    shares = [f"{100 * row[outcome] / total:.0f} %" for outcome in (READ, WARNED, REFUSED)]
    return [f"{total:,}", *shares, str(row[MISREAD]), str(row[CRASHED]), f"{row[SETTLED]} of {row[REFUSED]}"]


def describe(trial: Trial) -> str:
    """A file and what is true of it."""
    text = trial.content.decode("utf-16" if trial.content[:2] == b"\xff\xfe" else "utf-8", "replace")
    title = f"{trial.seed}: {trial.outcome}, {trial.layout}, {', '.join(trial.mutations)}"
    truth = ", ".join(map(str, sorted(trial.truth)[:5]))
    return f"{title}\n{trial.detail}\n{text[:1500]}\nTrue: {truth} ...\n"


TEXT = """# Files that were changed on the way

Written by `python -m benchmarks.mutated_files`: {files:,} files with votes whose truth is known, in layouts
of people and programs and from the corpus of real exports, with up to three changes each. Such a file is
*read* (exactly the votes that were written), *warned* (read with a difference that a warning names),
*refused* (one sentence that says what to do), *misread* (a difference in silence) or *crashed* (any other
error). A file with several changes counts for each of them. A table that is refused is read again with the
options that say which column is which, where its columns have different names: such a reading is compared in
the same way.
"""


if __name__ == "__main__":
    launch(main)
