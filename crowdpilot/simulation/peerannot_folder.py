"""Write a simulation as a folder in the layout of peerannot."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from crowdpilot.simulation.base import Simulation
from crowdpilot.votes import Votes

PEERANNOT_OPTIONS = {
    "tasks": "n_task",
    "workers": "n_worker",
    "classes": "K",
    "votes_per_task": "feedback",
    "max_votes_per_worker": "workerload",
}  # our names of settings: theirs


def save(simulation: Simulation, folder: str | Path) -> None:
    """Write a new folder in the layout of peerannot, or none at all.

    It holds `answers.json`, `metadata.json`, `ground_truth.npy`, `matrices.npy`, and where they
    apply `difficulties.npy` or `student_teacher_association.npy`. Times are no part of the layout.
    """
    target = Path(folder)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise ValueError(f"{target} exists already, expected a folder that is new or empty")
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent, prefix=".simulation-") as temporary:
        draft = Path(temporary) / "draft"
        draft.mkdir()
        _write(simulation, draft)
        if target.exists():
            target.rmdir()
        draft.rename(target)


def _write(simulation: Simulation, folder: Path) -> None:
    (folder / "answers.json").write_text(json.dumps(_answers(simulation.votes)))
    (folder / "metadata.json").write_text(json.dumps(_metadata(simulation), indent=2))
    np.save(folder / "ground_truth.npy", simulation.truth.astype(np.int64))
    np.save(folder / "matrices.npy", simulation.confusion)
    if simulation.difficulty is not None:
        np.save(folder / "difficulties.npy", simulation.difficulty)
    if simulation.teacher is not None:
        students = np.flatnonzero(simulation.teacher != np.arange(len(simulation.teacher)))
        pairs = np.stack([students, simulation.teacher[students]], axis=1)
        np.save(folder / "student_teacher_association.npy", pairs)


def _answers(votes: Votes) -> dict[str, dict[str, int]]:
    """`{task: {worker: label}}`, with an empty one for a task nobody voted on."""
    by_task = votes.merged
    ends = np.searchsorted(by_task.task, np.arange(1, len(votes.tasks)))
    workers = np.split(votes.workers[by_task.worker].astype(str), ends)
    labels = np.split(by_task.label, ends)
    pairs = zip(votes.tasks.astype(str).tolist(), workers, labels, strict=True)
    return {task: dict(zip(w.tolist(), label.tolist(), strict=True)) for task, w, label in pairs}


def _metadata(simulation: Simulation) -> dict[str, Any]:
    crowd = simulation.crowd
    settings = asdict(crowd).items()
    options = {PEERANNOT_OPTIONS.get(name, name): value for name, value in settings if value is not None}
    if "matrix_file" in options:
        options["matrix_file"] = str(options["matrix_file"])
    sizes = {"n_workers": crowd.workers, "n_classes": crowd.classes, "n_task": crowd.tasks}
    return {"name": crowd.name, "strategy": crowd.name, **sizes, **options}
