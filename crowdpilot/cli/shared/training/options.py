"""Options of the commands that train a classifier, and the `CrowdClassifier` they describe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.completion import SELF_TRAINING, complete_map, complete_network, one_of
from crowdpilot.cli.shared.output import shows_progress
from crowdpilot.cli.shared.reading_options import NumberedClasses, ReadingOptions
from crowdpilot.optional_packages import load

CONTENT_HELP = (
    "The content of the tasks: .npz or .npy, a table of numbers or of one text each, or a folder of pictures."
)
MODEL = "Model"
LOOP = "Training loop"
MEASURE = "Validation and test"


Dataset = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help="File or folder of votes; in a folder, the pictures of train, val and test are used. With "
        "--votes, the content of the tasks.",
    ),
]
Device = Annotated[
    str,
    typer.Option(
        help="cpu, cuda, or auto for a GPU if there is one.",
        autocompletion=one_of("auto", "cpu", "cuda"),
        rich_help_panel=LOOP,
    ),
]
Threads = Annotated[
    int, typer.Option("--threads", "--num-workers", help="CPU threads.", rich_help_panel=LOOP)
]


@dataclass(frozen=True)
class TrainingOptions:
    """The options of training; those of reading votes are apart."""

    x: Annotated[
        Path | None,
        typer.Option(
            "--x",
            metavar="FILE",
            help=CONTENT_HELP,
        ),
    ] = None
    answers: Annotated[
        Path | None,
        typer.Option("--votes", "--answers", metavar="VOTES", help="File of votes, if it is not DATASET."),
    ] = None
    network: Annotated[
        str,
        typer.Option(
            "--network",
            "--model",
            help="A network such as linear or mlp[hidden=256].",
            autocompletion=complete_network,
            rich_help_panel=MODEL,
        ),
    ] = "mlp"
    pretrained: Annotated[
        bool, typer.Option("--pretrained", help="Start from pretrained weights.", rich_help_panel=MODEL)
    ] = False
    backbone: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Frozen encoder of the content into features: tfidf, wordllama or minilm for "
            "texts, or a network of torchvision with weights.",
            rich_help_panel=MODEL,
        ),
    ] = None
    standardize: Annotated[bool, typer.Option(help="Standardize numbers first.", rich_help_panel=MODEL)] = (
        True
    )
    size: Annotated[
        int, typer.Option("--img-size", help="Pixels of a picture, high and wide.", rich_help_panel=MODEL)
    ] = 224
    augment: Annotated[
        bool,
        typer.Option(
            "--data-augmentation", help="Flip and shift pictures while training.", rich_help_panel=MODEL
        ),
    ] = False
    prune: Annotated[
        str | None,
        typer.Option(
            metavar="waum[alpha=.01]",
            help="Remove the most ambiguous tasks before training.",
            rich_help_panel=MODEL,
        ),
    ] = None
    path_remove: Annotated[
        Path | None, typer.Option(help="File with tasks not to learn from.", rich_help_panel=MODEL)
    ] = None
    balance: Annotated[
        str,
        typer.Option(
            help="How imbalanced classes are treated: none, resample, reweight, focal or cb_focal.",
            autocompletion=one_of("none", "resample", "reweight", "focal", "cb_focal"),
            rich_help_panel=MODEL,
        ),
    ] = "none"
    self_training: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Train on pseudo-votes too: dasc, confidence or random, with options in brackets.",
            autocompletion=one_of(*SELF_TRAINING),
            rich_help_panel=MODEL,
        ),
    ] = None
    calibrate: Annotated[
        str | None,
        typer.Option(
            metavar="MAP",
            help="Calibrate probabilities, by votes alone: temperature, vector, best and others.",
            autocompletion=complete_map,
            rich_help_panel=MODEL,
        ),
    ] = None
    calibrate_by: Annotated[
        str,
        typer.Option(
            help="What the map is fitted on: best, fusion, one_vote, votes or posterior.",
            autocompletion=one_of("best", "fusion", "one_vote", "votes", "posterior"),
            rich_help_panel=MODEL,
        ),
    ] = "best"
    save: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="File for the classifier: .safetensors.")
    ] = None
    epochs: Annotated[
        int, typer.Option("--epochs", "--n-epochs", help="Passes over all tasks.", rich_help_panel=LOOP)
    ] = 100
    batch_size: Annotated[int, typer.Option(help="Tasks in a batch.", rich_help_panel=LOOP)] = 64
    lr: Annotated[float, typer.Option(help="Learning rate.", rich_help_panel=LOOP)] = 1e-3
    decay: Annotated[
        float,
        typer.Option("--decay", "--weight-decay", help="Weight decay.", rich_help_panel=LOOP),
    ] = 5e-4
    optimizer: Annotated[
        str,
        typer.Option(
            "--optimizer",
            "-optim",
            help="adam, adamw or sgd.",
            autocompletion=one_of("adam", "adamw", "sgd"),
            rich_help_panel=LOOP,
        ),
    ] = "adam"
    momentum: Annotated[float, typer.Option(help="Momentum of sgd.", rich_help_panel=LOOP)] = 0.9
    schedule: Annotated[
        str,
        typer.Option(
            "--schedule",
            "--scheduler",
            help="Schedule of the learning rate: constant, cosine or multistep.",
            autocompletion=one_of("constant", "cosine", "multistep"),
            rich_help_panel=LOOP,
        ),
    ] = "constant"
    milestones: Annotated[
        list[int] | None,
        typer.Option("--milestones", "-m", help="Epochs at which multistep falls.", rich_help_panel=LOOP),
    ] = None
    lr_decay: Annotated[
        float, typer.Option(help="Factor of the learning rate at a milestone.", rich_help_panel=LOOP)
    ] = 0.1
    patience: Annotated[
        int | None,
        typer.Option(
            help="Stop early after so many epochs without gain on the validation set.", rich_help_panel=LOOP
        ),
    ] = None
    precision: Annotated[
        str,
        typer.Option(
            help="Numerical precision: full or mixed.",
            autocompletion=one_of("full", "mixed"),
            rich_help_panel=LOOP,
        ),
    ] = "full"
    device: Device = "auto"
    threads: Threads = 1
    seed: Annotated[int, typer.Option(help=options.SEED_HELP, rich_help_panel=LOOP)] = 0
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for checkpoints; the same command resumes from there.",
            rich_help_panel=LOOP,
        ),
    ] = None
    val_x: Annotated[
        Path | None,
        typer.Option(help="Content of tasks that decide which epoch is kept.", rich_help_panel=MEASURE),
    ] = None
    val_labels: Annotated[
        Path | None, typer.Option(help="File with their true labels.", rich_help_panel=MEASURE)
    ] = None
    test_x: Annotated[
        Path | None,
        typer.Option(help="Content of tasks that are scored in the end.", rich_help_panel=MEASURE),
    ] = None
    test_labels: Annotated[
        Path | None, typer.Option(help="File with their true labels.", rich_help_panel=MEASURE)
    ] = None
    truth: Annotated[
        Path | None,
        typer.Option(help="File with the true label of tasks, to measure by.", rich_help_panel=MEASURE),
    ] = None
    n_classes: NumberedClasses = None
    gold: options.Gold = None
    exclude: options.Exclude = None

    def classifier(self, method: str, self_training: str | None) -> Any:
        """The classifier that these options describe, not yet trained."""
        options.check_writable(self.save, (".safetensors",))
        return load("crowdpilot.learning", "training").CrowdClassifier(
            _with(self.network, "pretrained=True") if self.pretrained else self.network, method,
            backbone=self.backbone, standardize=self.standardize, size=self.size, augment=self.augment,
            balance=self.balance, prune=self.prune, self_training=self_training, calibrate=self.calibrate,
            calibrate_by=self.calibrate_by,
            epochs=self.epochs, batch_size=self.batch_size, lr=self.lr, weight_decay=self.decay,
            optimizer=self.optimizer.lower(), momentum=self.momentum, patience=self.patience,
            schedule=self.schedule, milestones=tuple(self.milestones or ()), lr_decay=self.lr_decay,
            precision=self.precision, seed=self.seed, device=self.device, threads=self.threads,
            progress=shows_progress(), checkpoint=self.checkpoint,
        )  # fmt: skip

    def with_classes(self, reading: ReadingOptions) -> ReadingOptions:
        """The options of reading with the classes 0, 1 and so on, if their number is given."""
        return reading.with_numbered_classes(self.n_classes)


def _with(text: str, option: str) -> str:
    """The same name with one more option in its brackets."""
    name, _, others = text.strip().removesuffix("]").partition("[")
    return f"{name}[{others},{option}]" if others else f"{name}[{option}]"
