"""The text of `crowdpilot` without a command: the next steps, for votes in this folder if there are any."""

from __future__ import annotations

import re
import shlex
from itertools import islice
from pathlib import Path

import typer

MAX_FILES = 20  # CSV files that are opened
MAX_HEADER_BYTES = 4096
WORKER_NAMES = re.compile(r"worker|annotator|rater|labell?er|judge|performer|user", re.IGNORECASE)
LABEL_NAMES = re.compile(r"label|answer|rating|response|choice|class|vote", re.IGNORECASE)

ABOUT = "Crowdpilot: labels with honest probabilities from a crowd that makes mistakes."
WITHOUT_VOTES = {
    "crowdpilot datasets": "public data sets of votes",
    "crowdpilot simulate -o votes.csv": "votes of a simulated crowd",
    "crowdpilot demo": "the service with a simulated crowd",
}


def welcome() -> None:
    """Print the next steps, with the name of a file of votes if there is one here."""
    file = find_votes(Path())
    votes = shlex.quote(str(file or "votes.csv"))
    steps = {
        f"crowdpilot aggregate {votes}": "one label and its confidence for each task",
        f"crowdpilot report {votes} -o report.html": "suspicious workers, hard tasks, recommended actions",
    }
    about = f"{file} looks like votes" if file else "A file of votes has columns such as task, worker, label"
    _print(ABOUT)
    _print(f"{about}. Next steps:", steps)
    _print("No votes yet?", WITHOUT_VOTES)
    _print(
        "More:", {"crowdpilot --help": "all commands", "crowdpilot aggregate --help": "the options of one"}
    )


def find_votes(folder: Path) -> Path | None:
    """The first CSV file whose first line names workers and labels."""
    files = islice((path for path in folder.glob("*.csv") if path.is_file()), MAX_FILES)
    return next((path for path in sorted(files) if _has_both(path)), None)


def _has_both(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            names = re.split("[,;\t]", stream.readline(MAX_HEADER_BYTES).decode("utf-8", "replace"))
    except OSError:
        return False
    return all(any(map(role.search, names)) for role in (WORKER_NAMES, LABEL_NAMES))


def _print(head: str, commands: dict[str, str] | None = None) -> None:
    typer.echo(head)
    width = max(map(len, commands or [""]))
    for command, what in (commands or {}).items():
        typer.echo(f"  {command:<{width}}   {what}")
    typer.echo()
