"""`crowdpilot report`: an HTML file about the workers, tasks and labels of votes."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, show_status
from crowdpilot.cli.shared.reading_options import ReadingOptions, check_tasks, read_true_labels

if TYPE_CHECKING:
    from crowdpilot.arrays import Floats
    from crowdpilot.votes import Votes

EXAMPLES = examples(
    "report votes.csv -o report.html",
    "report votes.csv -o report.html --truth truth.csv --images photos",
)


@expand_options
def report(
    votes: options.Source,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the page: .html.")],
    strategy: options.Strategy = "auto",
    truth: options.Truth = None,
    gold: options.Gold = None,
    traps: Annotated[
        Path | None, typer.Option(help="File with the true labels of trap tasks, which test the workers.")
    ] = None,
    exclude: options.Exclude = None,
    texts: Annotated[
        Path | None, typer.Option(help="File with the text of tasks, columns task and text.")
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with a picture for each task, named like it; or the folder train of VOTES.",
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="File with a score of the tasks, in a column of its name or that of the file: waum.csv of "
            "`identify -s WAUM` shows the most ambiguous tasks.",
        ),
    ] = None,
    level: options.Level = 0.9,
    target: Annotated[float, typer.Option(help="Confidence that labels should have.")] = 0.9,
    seed: options.Seed = 0,
    title: Annotated[
        str | None, typer.Option(help="Title of the page; if not given, the name of VOTES.")
    ] = None,
    *,
    reading: ReadingOptions,
) -> None:
    """Write a report about the workers, tasks and labels of VOTES: one HTML file that needs no network.

    It lists suspicious workers, tasks to review and recommended actions, with plots and tables.
    Every worker and task is in it; do not publish it if their names are secret.
    """
    from crowdpilot import io
    from crowdpilot.aggregation import parse_strategy
    from crowdpilot.diagnosis import FlagRules, diagnose
    from crowdpilot.reporting import report as write_report

    model, rules = parse_strategy(strategy), FlagRules(level=level, target=target)
    options.check_writable(output, (".html", ".htm"))
    data = reading.read(votes, gold=read_true_labels(gold, traps), exclude=exclude)
    trap_labels, known = read_true_labels(traps) or {}, read_true_labels(truth)
    if truth is not None:
        check_tasks(truth, known or {}, data.tasks)
    task_texts = None if texts is None else io.read_labels(texts, columns={"label": "text"})
    image_folder = votes / "train" if images is None and (votes / "train").is_dir() else images
    task_scores = _read_scores(scores or [], data)
    with show_status(f"diagnosing {len(data)} votes by {model}"):
        diagnosis = diagnose(data, model, rules=rules, traps=list(trap_labels), scores=task_scores, seed=seed)
    with show_status("writing"):
        write_report(
            diagnosis, output, truth=known, texts=task_texts, images=image_folder,
            title=title or votes.resolve().stem, source=str(votes), date=_today(),
        )  # fmt: skip
    print_message(f"{output} is written")


def _read_scores(files: list[str], votes: Votes) -> dict[str, Floats]:
    """A score of each task from each file, (tasks,) each; NaN for a task that is not in it."""
    import numpy as np

    from crowdpilot.cli.shared.labels import read_numbers

    columns: dict[str, Floats] = {}
    for file in files:
        name, _, path = file.rpartition("=")
        name, is_numpy = name or Path(path).stem, path.endswith(".npy")
        tasks = range(len(votes.tasks)) if is_numpy else votes.tasks.tolist()
        column = None if is_numpy else name
        columns[name.lower()] = read_numbers(Path(path), column, tasks, default=np.nan)
        if np.isnan(columns[name.lower()]).all():
            raise ValueError(f"{path} has no score of any of the {len(votes.tasks)} tasks")
    return columns


def _today() -> str:
    today = date.today()
    return f"{today.day} {today:%B %Y}"
