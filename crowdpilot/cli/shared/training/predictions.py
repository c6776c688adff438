"""Predictions: labels and probabilities of tasks, written to a file or standard output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.output import print_columns

if TYPE_CHECKING:
    from crowdpilot.arrays import Floats, Names

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File for the tasks: .csv, .tsv, .parquet, .jsonl, or .npy."),
]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Class probabilities of tasks, and their labels.

    Parameters
    ----------
    tasks, classes
        Their names.
    probs
        (tasks, classes).
    all
        Whether a table has a column for each class.
    more
        Columns for a file, which standard output does not have.
    """

    tasks: Names
    classes: Names
    probs: Floats
    all: bool
    more: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def check_writable(target: Path | None) -> None:
        """Raise before any work is done if the file could not be written after it."""
        from crowdpilot import io

        options.check_writable(target, (*io.TABLES, ".npy"))

    def write(self, path: Path) -> None:
        """Write a table, or the array of probabilities alone, as the suffix says."""
        import numpy as np

        from crowdpilot import io

        if path.suffix == ".npy":
            np.save(path, self.probs)
        else:
            io.write_table(self._columns(self.more), path)

    def print_table(self, *, as_json: bool) -> None:
        """Print the table as CSV or JSON."""
        print_columns(self._columns({}), as_json=as_json)

    def _columns(self, more: Mapping[str, Any]) -> dict[str, Any]:
        label, confidence = self.classes[self.probs.argmax(axis=1)], self.probs.max(axis=1)
        columns = {"task": self.tasks, "label": label, "confidence": confidence, **more}
        each = zip(self.classes.tolist(), self.probs.T, strict=True)
        return columns | ({f"p_{name}": probs for name, probs in each} if self.all else {})
