"""`crowdpilot predict`: labels and probabilities of new tasks by a saved classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import check_json, show_status, write_all
from crowdpilot.cli.shared.training.options import CONTENT_HELP, Device, Threads
from crowdpilot.cli.shared.training.predictions import Output, Predictions

EXAMPLES = examples(
    "predict model.safetensors new.npz",
    "predict model.safetensors new.npz -o labels.csv --probs",
)


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A classifier that was saved by --save.")],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help=CONTENT_HELP,
        ),
    ],
    output: Output = None,
    probs: options.Probs = False,
    as_json: options.Json = False,
    device: Device = "auto",
    threads: Threads = 1,
) -> None:
    """Write one label and its confidence for every task of DATA.

    Without -o, CSV (or JSON) with task, label and confidence goes to standard output; .npy is the array of
    probabilities, (tasks, classes), alone. If DATA does not name its tasks, they are numbers.
    """
    import numpy as np

    from crowdpilot.learning import CrowdClassifier
    from crowdpilot.learning.data.content_files import read_x

    check_json(as_json, output)
    if not model.is_file():
        raise ValueError(f"{model}: there is no such file; a classifier is saved by crowdpilot train --save")
    Predictions.check_writable(output)
    with show_status(f"reading {model} and {data}"):
        classifier = CrowdClassifier.load(model, device=device).set_params(threads=threads)
        tasks, X = read_x(data)
    with show_status(f"predicting {len(X)} tasks"):
        predicted = classifier.predict_proba(X)
    names = np.arange(len(predicted)) if tasks is None else tasks
    table = Predictions(names, classifier.classes_, predicted, probs)
    write_all({output: table.write})
    if output is None:
        table.print_table(as_json=as_json)
