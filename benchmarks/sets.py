"""Real data sets: folders with `answers.csv` (task, worker, label) and `truth.csv` (task, label)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pyarrow import csv

from crowdpilot.votes import Repeats, Votes

# Sets that share workers, items or kind: what is chosen for one may not be chosen by the others.
GROUPS = {
    "rte": "snow", "snow_temp": "snow", "snow_wsd": "snow", "snow_valence3": "snow", "snow_emotion6": "snow",
    "cifar10h": "cifar10", "cifar10h_models": "cifar10", "cifar10s": "cifar10",
    "truthfulness_s3": "truthfulness", "truthfulness_s6bin": "truthfulness",
    "recidivism_dressel": "recidivism", "recidivism_balanced": "recidivism",
    "medical_cause": "medical relations", "drug_label_relation": "medical relations",
    "amazon_isbook": "amazon", "amazon_screening_min3": "amazon",
    "fig8_01_gop_sentiment": "fig8", "fig8_02_disaster_relevance": "fig8",
    "fig8_05_corporate_messaging": "fig8", "fig8_06_gop_rel_only": "fig8", "fig8_08_drug_relation": "fig8",
    "trec": "search results", "s4_relevance": "search results", "s5_adult": "search results",
    "dog": "photos", "bluebirds": "photos", "leaves6": "photos", "mvh16": "photos",
}  # fmt: skip
# Sets whose truth is one person's word, automatic, or an outcome that nobody can know.
WEAK = frozenset(
    {
        "snow_valence3", "barzan_tweets", "truthfulness_s3", "truthfulness_s6bin", "recidivism_dressel",
        "recidivism_balanced", "hitspam_cf",
    }
)  # fmt: skip


def group_of(name: str) -> str:
    """The group of a set: its own name if it belongs with no other."""
    return GROUPS.get(name, name)


@dataclass(frozen=True)
class Set:
    """Votes, repeated ones included, and the class of some tasks."""

    name: str
    votes: Votes
    truth: dict[str, str]  # by task; only tasks that have a vote

    def score(self, labels: Mapping[str, str]) -> float:
        """Share of the tasks with a known class whose label is right."""
        return fmean(labels.get(task) == label for task, label in self.truth.items())

    def with_repeats(self, repeats: Repeats) -> Votes:
        """The votes that count by a rule for workers who vote on a task again."""
        v = self.votes
        columns = v.tasks[v.task], v.workers[v.worker], v.classes[v.label]
        return Votes.of(*columns, classes=v.classes.tolist(), tasks=v.tasks.tolist(), repeats=repeats)

    def describe(self) -> dict[str, Any]:
        """Its sizes, and a fingerprint that changes with any vote."""
        v = self.votes
        digest = hashlib.sha256(b"".join(c.tobytes() for c in (v.task, v.worker, v.label))).hexdigest()
        sizes = {"tasks": len(v.tasks), "workers": len(v.workers), "classes": len(v.classes), "votes": len(v)}
        return sizes | {"gold": len(self.truth), "fingerprint": digest[:16]}


def read(folder: Path) -> Set:
    """Read one set; a repeated vote of a worker on a task counts every time."""
    answers, truth = (csv.read_csv(folder / name) for name in ("answers.csv", "truth.csv"))
    votes = Votes.of(*(answers[c].to_numpy() for c in ("task", "worker", "label")), repeats="all")
    tasks = set(map(str, votes.tasks.tolist()))
    pairs = zip(*(map(str, truth[c].to_pylist()) for c in ("task", "label")), strict=True)
    return Set(folder.name, votes, {task: label for task, label in pairs if task in tasks})


def find(data: Path, names: str = "") -> list[Path]:
    """The folders of `data` that hold a set, or those of them that are named, in order."""
    found = {path.parent.name: path.parent for path in sorted(data.glob("*/answers.csv"))}
    found = {name: path for name, path in found.items() if (path / "truth.csv").exists()}
    wanted = [name for name in names.split(",") if name] or list(found)
    if missing := [name for name in wanted if name not in found]:
        raise ValueError(f"there is no set called {missing[0]!r} with answers.csv and truth.csv in {data}")
    return [found[name] for name in wanted]
