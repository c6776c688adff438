"""`crowdpilot aggregate-deep`: labels from votes and the content of tasks, by a trained classifier."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.completion import complete_method
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import check_json, write_all
from crowdpilot.cli.shared.reading_options import ReadingOptions
from crowdpilot.cli.shared.training.options import MODEL, Dataset, TrainingOptions
from crowdpilot.cli.shared.training.predictions import Output, Predictions

if TYPE_CHECKING:
    from crowdpilot.cli.shared.training.data import TrainingData

DEFAULT_METHOD = "mutual"
SELF_TRAINING_BASE = "crowdlayer"  # the method of self-training, if no other is named
EXAMPLES = examples(
    "aggregate-deep votes.csv --x features.npz -o labels.csv",
    "aggregate-deep votes.csv --x features.npz -s conal --save model.safetensors",
)


@expand_options
def aggregate_deep(
    dataset: Dataset,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            metavar="METHOD",
            help="A name of `crowdpilot strategies --deep`, or name[option=value,...].",
            autocompletion=complete_method,
            rich_help_panel=MODEL,
        ),
    ] = DEFAULT_METHOD,
    output: Output = None,
    probs: options.Probs = False,
    as_json: options.Json = False,
    results: Annotated[Path | None, typer.Option(help="File for scores and curves: .json.")] = None,
    *,
    training: TrainingOptions,
    reading: ReadingOptions,
) -> None:
    """Train a classifier on the votes of DATASET, and write the label that both give to every task.

    Without -o, CSV (or JSON) with task, label and confidence goes to standard output; .npy is the array of
    probabilities, (tasks, classes), alone. Tasks without votes have a label too, after the others.
    """
    from crowdpilot.cli.shared.training.data import read_data
    from crowdpilot.cli.shared.training.results import measure, score_parts, summarize, to_json

    method, self_training = _parse(strategy)
    if self_training is not None and training.self_training is not None:
        raise ValueError(f"-s {strategy} is self-training already, so --self-training cannot be given")
    model = training.classifier(method, self_training=self_training or training.self_training)
    check_json(as_json, output)
    Predictions.check_writable(output)
    options.check_writable(results, (".json",))
    data = read_data(dataset, training, reading)
    data.fit(model)
    scores = score_parts(model, data)
    if data.train.truth is not None:
        scores["labels"] = measure(data.train.truth, model.posterior_)
    text = to_json(model, data, scores)
    predictions = _labels(model, data, probs)
    write_all({
        training.save: model.save, results: lambda draft: draft.write_text(text), output: predictions.write,
    })  # fmt: skip
    summarize(scores)
    if output is None:
        predictions.print_table(as_json=as_json)


def _parse(strategy: str) -> tuple[str, str | None]:
    """The method, and the self-training around it if the strategy is called like one.

    The option `base` of self-training is its method, as in `dasc[base='conal',rounds=3]`.
    """
    from crowdpilot.learning.self_training.pseudo_votes import SELECTIONS

    name, _, rest = strategy.strip().partition("[")
    if name.strip().lower() not in SELECTIONS:
        return strategy, None
    try:
        call = ast.parse(f"dict({rest.removesuffix(']')})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or (rest and not rest.endswith("]")):
            raise SyntaxError
        base = {option.arg: ast.literal_eval(option.value) for option in call.keywords}.get(
            "base", SELF_TRAINING_BASE
        )
    except (SyntaxError, ValueError):
        return SELF_TRAINING_BASE, strategy  # the library raises the error
    others = ",".join(ast.unparse(option) for option in call.keywords if option.arg != "base")
    return str(base), f"{name}[{others}]" if others else name


def _labels(model: Any, data: TrainingData, all: bool) -> Predictions:
    """The posterior of all tasks, in the order of the votes, which need not be that of X."""
    import numpy as np

    from crowdpilot.names import lookup

    votes, probs = data.votes, model.posterior_
    tasks = votes.tasks if data.train.tasks is None else data.train.tasks
    voted = lookup(votes.tasks, tasks)
    order = np.append(voted, np.setdiff1d(np.arange(len(tasks)), voted))
    count = np.bincount(votes.task, minlength=len(order))  # those without votes come last
    return Predictions(tasks[order], votes.classes, probs[order], all, {"votes": count})
