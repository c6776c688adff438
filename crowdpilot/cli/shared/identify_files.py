"""Scores of `crowdpilot identify` for votes in many files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdpilot.aggregation import GLAD, NaiveSoft, parse_strategy
from crowdpilot.arrays import divide
from crowdpilot.cli.shared import many_files
from crowdpilot.cli.shared.output import print_message

if TYPE_CHECKING:
    from crowdpilot.scale import Shards
    from crowdpilot.scale.engines import Engine
    from crowdpilot.votes import Votes

Columns = dict[str, Any]

WORKER_SCORES = ("trace_confusion", "spam_score", "gold", "glad")
TASK_SCORES = ("entropy",)


def check_files(strategy: str) -> str:
    """The name of an identification, if it can be computed for votes in many files."""
    name = strategy.strip().lower().replace("-", "_")
    if name not in (*WORKER_SCORES, *TASK_SCORES):
        known = ", ".join((*WORKER_SCORES, *TASK_SCORES))
        raise ValueError(f"{strategy} needs all votes at once; for votes in many files choose one of {known}")
    return name


def score_workers_in_files(name: str, files: Shards, labels: str | None, engine: Engine | None) -> Columns:
    """A score of each worker, (workers,) columns."""
    from crowdpilot.diagnosis.identify import spam_columns, trace_columns
    from crowdpilot.diagnosis.leave_one_out import estimate_confusion
    from crowdpilot.scale.files.identify import record_workers

    model = GLAD(max_iter=50) if name == "glad" else NaiveSoft() if name == "gold" else None
    with many_files.bars() as tell:
        record = record_workers(model or parse_strategy(labels or "dawid_skene"), files, on=engine, tell=tell)
    head: Columns = {"worker": record.workers, "votes": record.given}
    if name == "glad":
        nobody = np.full(len(record.workers), np.nan)
        return head | {"ability": np.where(record.given > 0, record.params.get("ability", nobody), np.nan)}
    if name == "gold":
        if not record.tried.any():
            raise ValueError("no true label is known, so accuracy on gold tasks is not either; give --gold")
        return head | {"gold_votes": record.tried, "gold_accuracy": divide(record.right, record.tried)}
    _, confusion = estimate_confusion(record.counts)
    return head | (spam_columns(confusion) if name == "spam_score" else trace_columns(confusion))


def score_tasks_in_files(files: Shards, output: Path | None, engine: Engine | None, shown: int) -> Columns:
    """Write the entropy of all tasks, one table for each file of votes; return the highest."""
    from crowdpilot.scale.files.identify import score_tasks

    folder = files.folder / "_entropy" if output is None else output
    if folder.suffix or folder.is_file():
        raise ValueError(f"{folder}: each file of votes gets a table of its own, expected a folder for them")
    with many_files.bars() as tell:
        first = score_tasks(entropies, files, output=folder, shown=shown, on=engine, tell=tell)
    print_message(f"{len(files.files)} tables with all tasks are in {folder}")
    return {name: np.concatenate([table[name] for table in first]) for name in first[0]}


def entropies(votes: Votes) -> Columns:
    """The entropy of the votes on each task, the highest first."""
    from crowdpilot.diagnosis import find_identification

    kind = find_identification("entropy")
    return kind.worst_first(kind.run(votes, NaiveSoft()))
