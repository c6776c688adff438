"""AUM and WAUM at the command line: their options, and the table of scores."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared.completion import complete_network
from crowdpilot.cli.shared.options import SEED_HELP, check_writable, without_none
from crowdpilot.cli.shared.training.options import CONTENT_HELP

if TYPE_CHECKING:
    from crowdpilot.aggregation import Aggregator
    from crowdpilot.arrays import Floats
    from crowdpilot.cli.shared.training.data import TrainingData
    from crowdpilot.diagnosis import Identification
    from crowdpilot.votes import Votes

CONTENT_SCORES = {
    "AUM": "Area under the margin of the label of each task.",
    "WAUM": "Areas under the margin of all votes on each task, weighted by trust.",
    "WAUM_perworker": "WAUM with a classifier for each worker.",
}
PANEL = "AUM and WAUM"
DEFAULT_EPOCHS = 20


def is_content_score(strategy: str) -> bool:
    """Whether this is a score that trains a classifier, with or without options in brackets."""
    plain = strategy.partition("[")[0].strip().lower().replace("-", "_")
    return plain in map(str.lower, CONTENT_SCORES)


@dataclass(frozen=True)
class ContentScoreOptions:
    """The options of AUM and WAUM; None where the user gave none."""

    x: Annotated[
        Path | None,
        typer.Option(
            "--x",
            metavar="FILE",
            help=CONTENT_HELP,
            rich_help_panel=PANEL,
        ),
    ] = None
    network: Annotated[
        str | None,
        typer.Option(
            "--network",
            "--model",
            help="A network such as linear or mlp[hidden=256].",
            autocompletion=complete_network,
            rich_help_panel=PANEL,
            show_default="mlp",
        ),
    ] = None
    epochs: Annotated[
        int | None,
        typer.Option(
            "--epochs",
            "--n-epochs",
            help="Passes over all tasks.",
            rich_help_panel=PANEL,
            show_default=str(DEFAULT_EPOCHS),
        ),
    ] = None
    folds: Annotated[
        int | None,
        typer.Option(
            help="Cross-validation folds, each scored by a network trained on the others; 1 trains a single "
            "network.",
            rich_help_panel=PANEL,
            show_default="5",
        ),
    ] = None
    use_pleiss: Annotated[
        bool | None,
        typer.Option(
            "--use-pleiss",
            show_default=False,
            help="Margins of logits by Pleiss instead of Yang's of probabilities; better for wrong labels.",
            rich_help_panel=PANEL,
        ),
    ] = None
    topk: Annotated[
        int | None,
        typer.Option(
            "--topk", help="Labels that may be right at once.", rich_help_panel=PANEL, show_default="1"
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Share of the tasks that is called ambiguous.", rich_help_panel=PANEL, show_default="0.01"
        ),
    ] = None
    too_hard: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File for the names of those tasks, to train without.", rich_help_panel=PANEL
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(help=SEED_HELP, rich_help_panel=PANEL, show_default="0"),
    ] = None
    device: Annotated[
        str | None,
        typer.Option(
            help="cpu, cuda, or auto for a GPU if there is one.", rich_help_panel=PANEL, show_default="auto"
        ),
    ] = None

    def refuse(self, strategy: str) -> None:
        """Raise if any was given for another score."""
        if set_options := without_none(**asdict(self)):
            option = next(iter(set_options)).replace("_", "-")
            raise ValueError(
                f"--{option} is for {', '.join(CONTENT_SCORES)}, and {strategy} does not look at tasks"
            )

    def find(self, strategy: str, labels: str | None) -> Any:
        """The score with these options."""
        from crowdpilot.learning.pruning.scores import find_score

        check_writable(self.too_hard, (".txt",))
        score = find_score(strategy)
        settings = {
            "margin": "pleiss" if self.use_pleiss else None,
            "topk": self.topk,
            "folds": self.folds,
            "alpha": self.alpha,
            "epochs": self.epochs,
            "labels" if hasattr(score, "labels") else "confusion": labels,
        }
        return replace(score, **without_none(**settings))

    def identification(self, score: Any, content: TrainingData) -> Identification:
        """The identification of tasks by this score, and of the lowest ones as ambiguous."""
        import numpy as np

        from crowdpilot.diagnosis import Identification
        from crowdpilot.io.atomic_write import atomic_path
        from crowdpilot.learning.pruning.task_score import lowest_scores

        def run(votes: Votes, model: Aggregator) -> dict[str, Any]:
            scores = self._score(score, content)
            worst = lowest_scores(scores, votes, score.alpha)
            if self.too_hard is not None:
                with atomic_path(self.too_hard) as draft:
                    draft.write_text("".join(f"{name}\n" for name in votes.tasks[worst].tolist()))
            count = np.bincount(votes.task, minlength=len(votes.tasks))
            ambiguous = np.isin(np.arange(len(scores)), worst)
            return {"task": votes.tasks, "votes": count, score.name: scores, "ambiguous": ambiguous}

        return Identification(
            "Tasks whose votes a network does not predict.", score.name, worst_low=True, run=run
        )

    def _score(self, score: Any, content: TrainingData) -> Floats:
        from crowdpilot.learning.pruning.scoring import score_tasks
        from crowdpilot.learning.training.loop import Training

        loop = {"epochs": DEFAULT_EPOCHS} | without_none(epochs=self.epochs, seed=self.seed)
        chosen = without_none(network=self.network, device=self.device)
        X, tasks = content.train.X, content.train.tasks
        return score_tasks(X, content.votes, score, training=Training(**loop), tasks=tasks, **chosen)
