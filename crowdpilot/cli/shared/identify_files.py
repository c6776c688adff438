"""`crowdpilot identify` for votes in many files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdpilot.aggregation import GLAD, NaiveSoft, parse_strategy
from crowdpilot.arrays import divide
from crowdpilot.cli.shared import many_files
from crowdpilot.cli.shared.output import note

if TYPE_CHECKING:
    from crowdpilot.scale import Shards
    from crowdpilot.scale.engines import Engine
    from crowdpilot.votes import Votes

Columns = dict[str, Any]

OF_WORKERS = ("trace_confusion", "spam_score", "gold", "glad")
OF_TASKS = ("entropy",)


def check_files(strategy: str) -> str:
    """The name of an identification, if many files can be looked at with it."""
    name = strategy.strip().lower().replace("-", "_")
    if name not in (*OF_WORKERS, *OF_TASKS):
        known = ", ".join((*OF_WORKERS, *OF_TASKS))
        raise ValueError(f"{strategy} needs all votes at once; for votes in many files choose one of {known}")
    return name


def look_at_workers(name: str, files: Shards, labels: str | None, engine: Engine | None) -> Columns:
    """Columns with a row for each worker."""
    from crowdpilot.diagnosis import spam_distance, spam_score
    from crowdpilot.diagnosis.leave_one_out import estimate_confusion
    from crowdpilot.scale.files.identify import record_workers

    model = GLAD(max_iter=50) if name == "glad" else NaiveSoft() if name == "gold" else None
    with many_files.bars() as tell:
        found = record_workers(model or parse_strategy(labels or "dawid_skene"), files, on=engine, tell=tell)
    head: Columns = {"worker": found.workers, "votes": found.given}
    if name == "glad":
        nobody = np.full(len(found.workers), np.nan)
        return head | {"ability": np.where(found.given > 0, found.params.get("ability", nobody), np.nan)}
    if name == "gold":
        if not found.tried.any():
            raise ValueError("no true label is known, without which nobody can be tried; give --gold")
        return head | {"gold_votes": found.tried, "gold_accuracy": divide(found.right, found.tried)}
    _, confusion = estimate_confusion(found.counts)
    if name == "spam_score":
        scores = {"spam_score": spam_score(confusion), "spam_distance": spam_distance(confusion)}
        return head | scores
    trace = np.trace(confusion, axis1=1, axis2=2)
    return head | {"trace": trace, "share_of_most": trace / len(found.classes)}


def look_at_tasks(files: Shards, output: Path | None, engine: Engine | None, shown: int) -> Columns:
    """Tables of all tasks in files of their own, and the rows of all to look at first."""
    from crowdpilot.scale.files.identify import score_tasks

    folder = files.folder / "_entropy" if output is None else output
    if folder.suffix or folder.is_file():
        raise ValueError(f"{folder}: each file of votes gets a table of its own, expected a folder for them")
    with many_files.bars() as tell:
        first = score_tasks(entropies, files, output=folder, shown=shown, on=engine, tell=tell)
    note(f"{len(files.files)} tables with all tasks are in {folder}")
    return {name: np.concatenate([table[name] for table in first]) for name in first[0]}


def entropies(votes: Votes) -> Columns:
    """The entropy of the votes on each task, those that disagree most in front."""
    from crowdpilot.diagnosis import find_identification

    kind = find_identification("entropy")
    return kind.worst_first(kind.run(votes, NaiveSoft()))
