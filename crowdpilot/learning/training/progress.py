"""Progress bars of training on standard error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

OnEpoch = Callable[[str, dict[str, float]], None]  # of the stage and the scores of each epoch


class Progress:
    """Progress bars, one for each stage of training.

    Parameters
    ----------
    epochs
        Of each stage, at most.
    shown
        Whether bars are shown at all.
    """

    def __init__(self, epochs: int, *, shown: bool) -> None:
        stage, scores = TextColumn("{task.description}"), TextColumn("{task.fields[scores]}")
        columns = stage, BarColumn(), MofNCompleteColumn(), scores, TimeRemainingColumn()
        self.bar = Bar(*columns, console=Console(stderr=True), disable=not shown)
        self.epochs = epochs
        self.stages: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def on_epoch(self, stage: str, scores: dict[str, float]) -> None:
        """Advance the bar of a stage to this epoch."""
        if stage not in self.stages:
            self.stages[stage] = self.bar.add_task(stage, total=self.epochs, scores="")
        shown = " ".join(
            f"{name.replace('_', ' ')} {scores[name]:.3f}"
            for name in ("loss", "val_accuracy")
            if name in scores
        )
        self.bar.update(self.stages[stage], completed=scores["epoch"] + 1, scores=shown)
