"""What `crowdpilot` says without a command: what it is, and what to do next."""

from __future__ import annotations

import re
import shlex
from itertools import islice
from pathlib import Path

import typer

LOOKED_AT = 20  # files, at most
LONGEST = 4096  # bytes of a first line
WORKER = re.compile(r"worker|annotator|rater|labell?er|judge|performer|user", re.IGNORECASE)
LABEL = re.compile(r"label|answer|rating|response|choice|class|vote", re.IGNORECASE)

ABOUT = "Crowdpilot: labels with honest probabilities from a crowd that makes mistakes."
BEGINNINGS = {
    "crowdpilot datasets": "public votes to begin with",
    "crowdpilot simulate -o votes.csv": "votes of a made-up crowd to try it on",
    "crowdpilot demo": "the whole service at work, with a simulated crowd",
}


def welcome() -> None:
    """Print the next steps, with the name of a file of votes if there is one here."""
    found = find_votes(Path())
    votes = shlex.quote(str(found or "votes.csv"))
    steps = {
        f"crowdpilot aggregate {votes}": "one label and its confidence for each task",
        f"crowdpilot report {votes} -o report.html": "whom to trust, which tasks are hard, what to do next",
    }
    file = f"{found} looks like votes" if found else "A file of votes has columns such as task, worker, label"
    _print(ABOUT)
    _print(f"{file}. From there:", steps)
    _print("No votes yet?", BEGINNINGS)
    _print("More:", {"crowdpilot --help": "all commands", "crowdpilot aggregate --help": "all about one"})


def find_votes(folder: Path) -> Path | None:
    """The first CSV file whose first line names workers and labels."""
    files = islice((path for path in folder.glob("*.csv") if path.is_file()), LOOKED_AT)
    return next((path for path in sorted(files) if _names_both(path)), None)


def _names_both(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            names = re.split("[,;\t]", stream.readline(LONGEST).decode("utf-8", "replace"))
    except OSError:
        return False
    return all(any(map(role.search, names)) for role in (WORKER, LABEL))


def _print(head: str, commands: dict[str, str] | None = None) -> None:
    typer.echo(head)
    width = max(map(len, commands or [""]))
    for command, what in (commands or {}).items():
        typer.echo(f"  {command:<{width}}   {what}")
    typer.echo()
