"""`crowdpilot train`: a classifier trained on the labels of an aggregator, or of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.completion import complete_strategy, one_of
from crowdpilot.cli.shared.option_groups import expand_options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import check_json, print_table, write_all
from crowdpilot.cli.shared.reading_options import ReadingOptions
from crowdpilot.cli.shared.training.options import MODEL, Dataset, TrainingOptions

LABEL_FILES = (".npy", ".csv", ".tsv", ".parquet", ".jsonl")  # which are no strategies
EXAMPLES = examples(
    "train votes.csv --x features.npz --labels dawid_skene --save model.safetensors",
    "train texts.csv --votes votes.csv --backbone tfidf --network linear -o results.json",
)


@expand_options
def train(
    dataset: Dataset,
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            "-l",
            metavar="STRATEGY",
            help="The aggregator that gives the labels, or a file: .npy, .csv, .tsv, .parquet, .jsonl.",
            autocompletion=complete_strategy,
            rich_help_panel=MODEL,
        ),
    ] = "naive_soft",
    targets: Annotated[
        str,
        typer.Option(
            help="Training targets from the labels: hard, soft, smoothed or shard.",
            autocompletion=one_of("hard", "soft", "smoothed", "shard"),
            rich_help_panel=MODEL,
        ),
    ] = "soft",
    smoothing: Annotated[
        float | None,
        typer.Option(
            help="Label smoothing: the share that is spread over all classes; 0.1 if not given.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", "--results", help="File for scores and curves: .json."),
    ] = None,
    as_json: options.Json = False,
    *,
    training: TrainingOptions,
    reading: ReadingOptions,
) -> None:
    """Train a classifier on DATASET: the labels of an aggregator, or of a file, for the content of tasks.

    Scores of the parts whose true labels are known go to standard output, or with -o to a JSON
    file with the curves of all epochs. Of the epochs, the best on the validation set is kept.
    """
    from crowdpilot.aggregation import parse_strategy
    from crowdpilot.cli.shared.training.data import read_data
    from crowdpilot.cli.shared.training.results import score_parts, summarize, to_json

    file = Path(labels) if Path(labels).is_file() or Path(labels).suffix in LABEL_FILES else None
    strategy = str(parse_strategy("naive_soft" if file else labels))
    if file is not None and not file.is_file():
        _, _, made_by = file.stem.partition("_")[2].partition("_")  # peerannot's labels_NAME_STRATEGY.npy
        how = f"crowdpilot aggregate {dataset} -s {made_by or 'STRATEGY'} -o {file}"
        raise ValueError(f"{file}: there is no such file; {how} writes it")
    if file is not None and training.prune:
        raise ValueError(f"--prune looks at votes, so it cannot be given with the labels of {file}")
    alpha = "" if smoothing is None else f",alpha={smoothing}"
    method = f"two_stage[labels={strategy!r},targets={targets!r}{alpha}]"
    model = training.classifier(method, training.self_training)
    check_json(as_json, output)
    options.check_writable(output, (".json",))
    data = read_data(dataset, training, reading, file)
    if output is None and training.save is None and not data.known:
        raise ValueError(
            "nothing would be left of the training: give --save, --output or labels to measure by"
        )
    data.fit(model)
    scores = score_parts(model, data)
    text = to_json(model, data, scores)
    write_all({training.save: model.save, output: lambda draft: draft.write_text(text)})
    if output is not None:
        summarize(scores)
    elif scores:
        rows = [(part, name, value) for part, of_part in scores.items() for name, value in of_part.items()]
        print_table(("tasks", "measure", "value"), rows, as_json=as_json)
