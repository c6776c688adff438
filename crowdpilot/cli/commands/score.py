"""`crowdpilot score`: metrics of labels and probabilities against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, print_table, show_status

COLUMNS = ("measure", "class", "value", "low", "high")

EXAMPLES = examples(
    "score labels.csv truth.csv",
    "score labels.csv truth.csv --json",
)


def score(
    labels: Annotated[
        Path, typer.Argument(metavar="LABELS", help="File with the label of each task; - for standard input.")
    ],
    truth: Annotated[
        Path, typer.Argument(metavar="TRUTH", help="File with the true label of tasks; - for standard input.")
    ],
    level: options.Level = 0.95,
    samples: Annotated[int, typer.Option(help="Number of bootstrap samples.")] = 1000,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare LABELS with TRUTH: every measure with its bootstrap interval, and a table of classes.

    Brier score, log-loss and calibration error (ECE) are there if LABELS has a column p_CLASS for
    each class, or at least `confidence`; the rest is then spread evenly over the other classes.
    """
    from crowdpilot.cli.shared.label_files.scored_labels import measures, read_scored_labels

    with show_status(f"reading {labels} and {truth}"):
        scored = read_scored_labels(labels, truth)
    for note in scored.notes:
        print_message(note)
    with show_status("computing intervals") as show_progress:
        bootstrap = {"level": level, "samples": samples, "seed": seed}
        rows = []
        for name, row in measures(scored, bootstrap):
            show_progress(f"computing the interval of {name}")
            rows += row()
    print_table(COLUMNS, rows, as_json=as_json)
