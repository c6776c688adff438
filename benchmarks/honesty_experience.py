"""Experience of `auto` with many crowds: learned from all groups of sets but one, or from all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks import sets
from benchmarks.honesty_crowds import VOTES_A_TASK, Crowd, read_crowd
from benchmarks.process import launch
from crowdpilot.aggregation import Auto
from crowdpilot.aggregation.honest import without_honesty
from crowdpilot.calibration import experience
from crowdpilot.calibration.experience import CrowdMap, collect_evidence, learn_experience, write_experience

WEAK_WEIGHT = 0.5  # of a set whose truth is weak


@dataclass(frozen=True)
class LeaveOneGroupOut:
    """The crowds to learn from, each with all its votes and thinned; a group of sets counts as one crowd."""

    crowds: Sequence[Crowd]

    @cached_property
    def learned(self) -> Mapping[str, Sequence[experience.Crowd]]:
        """By group, what there is to learn from its sets."""
        found: dict[str, list[experience.Crowd]] = {}
        weights = set_weights([crowd.name for crowd in self.crowds])
        for crowd in self.crowds:
            weight = weights[crowd.name] / len(VOTES_A_TASK)
            versions = [labels_and_truth(crowd.thinned(most), weight) for most in VOTES_A_TASK]
            found.setdefault(crowd.group, []).extend(versions)
        return found

    def without_group(self, group: str | None) -> CrowdMap:
        """The experience with the sets of all groups but one, or with all if it is None."""
        return learn_experience([c for g, crowds in self.learned.items() if g != group for c in crowds])


def set_weights(names: Sequence[str]) -> dict[str, float]:
    """How much each set counts: those of a group together as one, and less where the truth is weak."""
    sets_of_group = Counter(map(sets.group_of, names))
    return {n: (WEAK_WEIGHT if n in sets.WEAK else 1.0) / sets_of_group[sets.group_of(n)] for n in names}


def labels_and_truth(crowd: Crowd, weight: float) -> experience.Crowd:
    """The evidence for the labels of `auto` on the tasks of a known class, and which labels are right."""
    result = without_honesty(Auto().fit(crowd.votes))  # without gold its labels owe nothing to experience
    evidence = collect_evidence(crowd.votes.merged, result.probs, result.codes)
    known = np.flatnonzero(crowd.truth >= 0)
    right = (evidence.label == crowd.truth)[known].astype(np.float64)
    return experience.Crowd(evidence.features[known], right, np.ones(len(known)), weight)


def main(
    data: Annotated[Path, typer.Option(help="Folder with a folder for each set.")],
    output: Annotated[Path, typer.Option(help="The file of experience to write.")],
) -> None:
    """Learn from all sets and write the file that the package reads."""
    crowds = [read_crowd(folder) for folder in sets.find(data)]
    source = {
        "sets": [crowd.name for crowd in crowds],
        "groups": len({crowd.group for crowd in crowds}),
        "votes_a_task": ["all" if n is None else n for n in VOTES_A_TASK],
        "weak_weight": WEAK_WEIGHT,
    }
    write_experience(LeaveOneGroupOut(crowds).without_group(None), output, source)


if __name__ == "__main__":
    launch(main)
