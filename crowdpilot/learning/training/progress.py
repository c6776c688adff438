"""A bar that shows how far the training is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

Tell = Callable[[str, dict[str, float]], None]  # told the stage and the scores of each epoch


class Progress:
    """Bars on standard error, one for each stage.

    Parameters
    ----------
    epochs
        How many each stage has, at most.
    shown
        Whether there is anything to see.
    """

    def __init__(self, epochs: int, *, shown: bool) -> None:
        said = TextColumn("{task.description}"), TextColumn("{task.fields[scores]}")
        columns = said[0], BarColumn(), MofNCompleteColumn(), said[1], TimeRemainingColumn()
        self.bar = Bar(*columns, console=Console(stderr=True), disable=not shown)
        self.epochs = epochs
        self.stages: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def tell(self, stage: str, scores: dict[str, float]) -> None:
        """Move the bar of a stage to an epoch."""
        if stage not in self.stages:
            self.stages[stage] = self.bar.add_task(stage, total=self.epochs, scores="")
        shown = " ".join(
            f"{name.replace('_', ' ')} {scores[name]:.3f}"
            for name in ("loss", "val_accuracy")
            if name in scores
        )
        self.bar.update(self.stages[stage], completed=scores["epoch"] + 1, scores=shown)
