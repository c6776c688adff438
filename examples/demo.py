"""From a file of votes to labels and the skill of workers, on bundled data, by the command line."""

from __future__ import annotations

import csv
import shlex
from collections import defaultdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import crowdpilot as cp
from crowdpilot.cli import app

FOLDER = Path("demo")
COMMAND = (
    f"aggregate {FOLDER}/votes.csv --repeats all -o {FOLDER}/labels.csv --workers {FOLDER}/workers.csv -v"
)

console = Console(width=100, highlight=False)


def main() -> None:
    """Write the votes, run the command, and print its results."""
    FOLDER.mkdir(exist_ok=True)
    cp.write(cp.load("anesthesia"), FOLDER / "votes.csv")
    console.print(f"\n{cp.datasets.DATASETS['anesthesia'].description}", style="italic")
    console.print(f"\n[bold]$ crowdpilot {COMMAND}[/bold]\n")
    app(shlex.split(COMMAND), prog_name="crowdpilot", standalone_mode=False)
    show_labels()
    show_workers()
    files = ", ".join(str(FOLDER / name) for name in ("votes.csv", "labels.csv", "workers.csv"))
    console.print(f"The files are {files}.\n")


def show_labels() -> None:
    """Print the least certain labels, and the number of labels of each class."""
    votes, rows = defaultdict(list), read("labels.csv")
    for vote in read("votes.csv"):
        votes[vote["task"]].append(vote["label"])
    rows.sort(key=lambda row: float(row["confidence"]))
    table = Table("patient", "votes", "label", "confidence", box=SIMPLE_HEAD, title="Least certain labels")
    for row in rows[:8]:
        table.add_row(
            row["task"], " ".join(votes[row["task"]]), row["label"], f"{float(row['confidence']):.3f}"
        )
    console.print(table)
    counts = {
        label: sum(row["label"] == label for row in rows) for label in sorted({r["label"] for r in rows})
    }
    console.print(
        f"All {len(rows)} labels: " + ", ".join(f"{n} of class {label}" for label, n in counts.items())
    )


def show_workers() -> None:
    """Print all workers; the data set has five."""
    rows = sorted(read("workers.csv"), key=lambda row: float(row["skill"]), reverse=True)
    table = Table("worker", "votes", "skill", "", box=SIMPLE_HEAD, title="Workers, by estimated skill")
    notes = {0: "[green]best[/green]", len(rows) - 1: "[red]worst[/red]"}
    for n, row in enumerate(rows):
        table.add_row(row["worker"], row["votes"], f"{float(row['skill']):.3f}", notes.get(n, ""))
    console.print()
    console.print(table)


def read(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file of the demo."""
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
