"""Scores of `crowdpilot identify` for the workers and tasks of votes in many files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdpilot.aggregation import GLAD, Aggregator, NaiveSoft, parse_strategy
from crowdpilot.arrays import divide
from crowdpilot.cli.shared import many_files
from crowdpilot.cli.shared.output import print_message

if TYPE_CHECKING:
    from crowdpilot.scale import Shards
    from crowdpilot.scale.engine import Engine
    from crowdpilot.votes import Votes

Columns = dict[str, Any]

WORKER_SCORES = ("trace_confusion", "spam_score", "gold", "glad")
TASK_SCORES = ("entropy",)


def check_files(strategy: str) -> str:
    """The name of an identification; raise if it cannot be computed for votes in many files."""
    name = strategy.strip().lower().replace("-", "_")
    if name not in (*WORKER_SCORES, *TASK_SCORES):
        known = ", ".join((*WORKER_SCORES, *TASK_SCORES))
        raise ValueError(f"{strategy} needs all votes at once; for votes in many files choose one of {known}")
    return name


def worker_score_columns(name: str, files: Shards, labels: str | None, engine: Engine | None) -> Columns:
    """Columns of scores, one value for each worker."""
    from crowdpilot.aggregation.workers.confusion import estimate_confusion
    from crowdpilot.diagnosis.identify import spam_columns, trace_columns
    from crowdpilot.scale import count_labels_in_files

    models: dict[str, Aggregator] = {"glad": GLAD(max_iter=50), "gold": NaiveSoft()}
    model = models.get(name) or parse_strategy(labels or "dawid_skene")
    with many_files.progress_bars() as progress:
        counted = count_labels_in_files(model, files, engine=engine, progress=progress)
    n_votes = counted.votes_per_worker
    head: Columns = {"worker": counted.workers, "votes": n_votes}
    if name == "glad":
        unknown = np.full(len(counted.workers), np.nan)
        return head | {"ability": np.where(n_votes > 0, counted.params.get("ability", unknown), np.nan)}
    if name == "gold":
        if not counted.gold_votes.any():
            raise ValueError("no true label is known, so accuracy on gold tasks is not either; give --gold")
        accuracy = divide(counted.gold_right, counted.gold_votes)
        return head | {"gold_votes": counted.gold_votes, "gold_accuracy": accuracy}
    _, confusion = estimate_confusion(counted.counts)
    return head | (spam_columns(confusion) if name == "spam_score" else trace_columns(confusion))


def task_score_columns(files: Shards, output: Path | None, engine: Engine | None, rows: int) -> Columns:
    """Write the entropy of all tasks, one table for each file of votes; return the highest `rows` of each."""
    from crowdpilot.scale import score_tasks_in_files

    folder = files.folder / "_entropy" if output is None else output
    if folder.suffix or folder.is_file():
        raise ValueError(f"{folder}: each file of votes gets a table of its own, expected a folder for them")
    with many_files.progress_bars() as progress:
        tables = score_tasks_in_files(
            entropy_columns, files, output=folder, returned_rows=rows, engine=engine, progress=progress
        )
    print_message(f"{len(files.files)} tables with all tasks are in {folder}")
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def entropy_columns(votes: Votes) -> Columns:
    """The entropy of the votes on each task, the highest first."""
    from crowdpilot.diagnosis import find_identification

    kind = find_identification("entropy")
    return kind.worst_first(kind.run(votes, NaiveSoft()))
