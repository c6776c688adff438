"""Progress bars of training, one for each stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from crowdpilot.progress_bars import ProgressBars

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
        self.epochs, self.bars = epochs, ProgressBars(shown=shown)

    def __enter__(self) -> Self:
        self.bars.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.bars.__exit__(*error)

    def on_epoch(self, stage: str, scores: dict[str, float]) -> None:
        """Advance the bar of a stage to this epoch."""
        shown = " ".join(
            f"{name.replace('_', ' ')} {scores[name]:.3f}"
            for name in ("loss", "val_accuracy")
            if name in scores
        )
        self.bars.update(stage, int(scores["epoch"]) + 1, self.epochs, shown)
