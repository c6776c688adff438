"""Calibration of a classifier by the votes that it was trained on, by each way to fit the map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from statistics import fmean
from typing import Any, get_args

from benchmarks.fusion_sets import AssistedCrowd
from benchmarks.honesty_measures import Prediction, measure
from benchmarks.tables import markdown
from crowdpilot.aggregation import DawidSkene, Fusion
from crowdpilot.aggregation.fusion import FusionExperience
from crowdpilot.calibration import find_map, fit_on_votes
from crowdpilot.learning.held_out_calibration import CalibrateBy, Candidates

MAP = "temperature"
WAYS = ("none", *get_args(CalibrateBy))
MEASURES = ("ece", "log_loss")


def calibrations(
    crowds: Iterable[AssistedCrowd], learned: Mapping[str, FusionExperience]
) -> list[dict[str, Any]]:
    """ECE and log-loss of each classifier after each way to fit a map."""
    return [
        {
            "set": c.crowd.name,
            "group": c.group,
            "votes": c.crowd.votes_a_task,
            "ways": _measure(c, Fusion(experience=learned[c.group])),
        }
        for c in crowds
    ]


def _measure(assisted: AssistedCrowd, fusion: Fusion) -> dict[str, dict[str, float]]:
    map, probs, votes = find_map(MAP), assisted.probs, assisted.crowd.votes
    candidates = Candidates(map, probs, votes, seed=0, balanced=False, fusion=fusion)
    workers = DawidSkene().fit(votes)
    found = {"none": probs}
    for way in ("best", "fusion", "one_vote"):
        found[way] = candidates.fit(way)(probs)
    found["votes"] = fit_on_votes(map, probs, votes, workers.params["confusion"])(probs)
    found["posterior"] = map.fit(probs, workers.probs)(probs)
    measures = {way: asdict(measure(assisted.crowd, Prediction(p))) for way, p in found.items()}
    return {way: {key: round(each[key], 5) for key in MEASURES} for way, each in measures.items()}


def render(found: list[dict[str, Any]]) -> str:
    """Means over groups for each number of votes, and every set."""
    numbers = sorted({row["votes"] for row in found})
    groups = sorted({row["group"] for row in found})

    def mean(way: str, n: int, key: str) -> float:
        return fmean(
            fmean(row["ways"][way][key] for row in found if row["group"] == group and row["votes"] == n)
            for group in groups
        )

    rows = [
        [way, *(f"{100 * mean(way, n, 'ece'):.1f} / {mean(way, n, 'log_loss'):.3f}" for n in numbers)]
        for way in WAYS
    ]
    each = [
        [f"{row['set']}, {row['votes']}", *(f"{100 * row['ways'][way]['ece']:.1f}" for way in WAYS)]
        for row in found
    ]
    head = ["ECE % / log-loss", *(f"{n} votes a task" for n in numbers)]
    return markdown(head, rows) + "\nECE % of each set:\n\n" + markdown(["set, votes a task", *WAYS], each)
