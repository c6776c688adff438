"""Learn the experience of the package from real crowds: `python -m benchmarks.experience --data DIR`."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from benchmarks import sets
from benchmarks.honesty_crowds import VOTES_A_TASK, Crowd, read_crowd
from benchmarks.process import launch
from crowdpilot.aggregation import Auto, auto, panel_scores
from crowdpilot.arrays import Floats
from crowdpilot.calibration import experience
from crowdpilot.calibration.experience import CrowdMap, collect_evidence, evidence, learn_experience

FILE = Path(inspect.getfile(experience)).parent / "experience.json"
CACHE = Path(__file__).parent.parent / ".cache" / "experience"
MAX_TASKS = 1500  # of a crowd of each size; of more, a random sample
WEAK_WEIGHT = 0.5  # of a set with weak truth, in its group


class Labels(NamedTuple):
    """The labels of one set at all its sizes: their features, and which are right."""

    name: str
    features: Floats  # (labels, features)
    right: Floats  # (labels,)


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    output: Annotated[Path, typer.Option(help="The file to write.")] = FILE,
) -> None:
    """Fit `auto` to every set, all votes and thinned, and learn how often its labels are right."""
    crowds = [labels_of(read_crowd(folder)) for folder in sets.find(data)]
    learned = learn(crowds)
    groups: dict[str, list[str]] = {}
    for crowd in crowds:
        groups.setdefault(sets.group_of(crowd.name), []).append(crowd.name)
    source = {
        "command": "python -m benchmarks.experience --data DIR",
        "votes_a_task": ["all" if n is None else n for n in VOTES_A_TASK],
        "labels": sum(len(crowd.right) for crowd in crowds),
        "groups": groups,
        "weak_truth": sorted(sets.WEAK),
    }
    experience.write_experience(learned, output, source)
    names, deviations = evidence.FEATURES, np.sqrt(np.diag(learned.covariance))
    for name, mean, deviation in zip(names, learned.mean, deviations, strict=True):
        typer.echo(f"{name}: {mean:.3f}, standard deviation between crowds {deviation:.3f}")


def learn(crowds: Iterable[Labels], without: str = "") -> CrowdMap:
    """The experience of all crowds but those of one group; each group has the same weight."""
    kept = [crowd for crowd in crowds if sets.group_of(crowd.name) != without]
    in_group: dict[str, int] = {}
    for crowd in kept:
        group = sets.group_of(crowd.name)
        in_group[group] = in_group.get(group, 0) + 1
    return learn_experience(
        [
            experience.Crowd(
                crowd.features,
                crowd.right,
                np.full(len(crowd.right), 1 / len(VOTES_A_TASK)),
                (WEAK_WEIGHT if crowd.name in sets.WEAK else 1) / in_group[sets.group_of(crowd.name)],
            )
            for crowd in kept
        ]
    )


@lru_cache(maxsize=64)
def experience_without(group: str, data: Path) -> CrowdMap:
    """What can be learned from the sets of all groups but one."""
    return learn(_all_labels(data), without=group)


@lru_cache(maxsize=1)
def _all_labels(data: Path) -> list[Labels]:
    return [labels_of(read_crowd(folder)) for folder in sets.find(data)]


def labels_of(crowd: Crowd) -> Labels:
    """The labels that `auto` gives to the tasks of known class; kept in a file until votes or code change."""
    code = b"".join(Path(inspect.getfile(module)).read_bytes() for module in (auto, panel_scores, evidence))
    key = hashlib.sha256(code + crowd.fingerprint.encode()).hexdigest()[:16]
    path = CACHE / f"{crowd.name}_{key}.npz"
    if path.exists():
        with np.load(path) as file:
            return Labels(crowd.name, file["features"], file["right"])
    parts = [_labels(crowd.thinned(n)) for n in VOTES_A_TASK]
    features, right = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, features=features, right=right)
    return Labels(crowd.name, features, right)


def _labels(crowd: Crowd) -> tuple[Floats, Floats]:
    """Features of the labels of tasks of known class, and which are right."""
    result = Auto().fit(crowd.votes)
    found = collect_evidence(crowd.votes.merged, result.params["model_probs"], result.codes)
    known = np.flatnonzero(crowd.truth >= 0)
    if len(known) > MAX_TASKS:
        known = np.random.default_rng(0).permutation(known)[:MAX_TASKS]
    right = (result.codes == crowd.truth)[known].astype(np.float64)
    return found.features[known], right


if __name__ == "__main__":
    launch(main)
