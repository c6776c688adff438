"""Plan: the settings of a campaign (policy, priors of workers, pilot, limits, when to refit)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.calibration.experience import CrowdMap
from crowdpilot.hybrid.costs import CROWD, EXPERT

CROWD_SKILL = 0.8
EXPERT_SKILL = 0.97
MIN_PILOT_ITEMS = 50
PILOT_SHARE = 20  # one item in so many, if a classifier is trained on the pilot

SHARES = ("explore", "gold")
NOT_NEGATIVE = (
    "kind_pseudo_counts",
    "worker_pseudo_counts",
    "pilot",
    "pilot_votes",
    "per_worker",
    "per_item",
    "refit_every",
    "refit_growth",
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The settings of a campaign.

    Parameters
    ----------
    policy
        Which votes are asked for, and when an item has enough; see `POLICIES`.
    fusion
        How classifier and crowd are combined; see `FUSIONS`.
    skill
        Prior accuracy of each kind of worker; kinds that are not named have that of the crowd.
    kind_pseudo_counts
        Dirichlet pseudo-counts for each true class behind that accuracy, for a kind of worker.
    worker_pseudo_counts
        The same for each single worker, around the confusion matrix of their kind.
    pilot
        Random items that are asked about first; if not given, 50, and at least a twentieth of all if
        a classifier is trained on them.
    pilot_votes
        Votes on each of them.
    explore
        Share of later votes that go to random items, whatever their value.
    gold
        Share of a worker's items whose class is known, to test them.
    per_worker
        Votes of one worker at most; None for no limit.
    per_item
        Votes on one question about an item at most; None for no limit.
    refit_every
        Votes after which confusion matrices and classifier are fitted again, at least; 0 for never.
    refit_growth
        And at least this share of all votes so far.
    online
        Whether confusion matrices also move with every vote between refits, by incremental EM.
    floor
        Least probability of a class by the classifier.
    map
        How the classifier is calibrated against the crowd; see `crowdpilot.calibration.MAPS`.
    honest
        Whether some items may mislead the whole crowd, as many as experience with many crowds says, so that
        votes cannot tell everything; otherwise the errors of workers are taken as independent.
    experts
        Kinds of worker who are not misled by what misleads the crowd.
    experience
        Of many crowds, see `crowdpilot.calibration.experience`; that of the package if not given.
    seed
        Of everything that is drawn.
    """

    policy: str = "value"
    fusion: str = "bayes"
    skill: Mapping[str, float] = field(default_factory=lambda: {CROWD: CROWD_SKILL, EXPERT: EXPERT_SKILL})
    kind_pseudo_counts: float = 10.0
    worker_pseudo_counts: float = 12.0
    pilot: int | None = None
    pilot_votes: int = 1
    explore: float = 0.0
    gold: float = 0.0
    per_worker: int | None = None
    per_item: int | None = None
    refit_every: int = 50
    refit_growth: float = 0.05
    online: bool = False
    floor: float = 0.002
    map: str = ""
    honest: bool = True
    experts: Sequence[str] = (EXPERT,)
    experience: CrowdMap | None = field(default=None, repr=False)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}, expected a share from 0 to 1")
        for name in NOT_NEGATIVE:
            if (value := getattr(self, name)) is not None and not value >= 0:
                raise ValueError(f"{name} is {getattr(self, name)}, expected a number of 0 or more")
        if self.online and not self.worker_pseudo_counts > 0:
            raise ValueError("online updates of workers need worker_pseudo_counts above 0")
        if not 0 <= self.floor < 0.5:
            raise ValueError(f"floor is {self.floor}, expected a number from 0 to 0.5")
        object.__setattr__(self, "experts", tuple(self.experts))
        for kind, skill in self.skill.items():
            if not 0 < skill < 1:
                raise ValueError(f"the skill of '{kind}' is {skill}, expected a share between 0 and 1")

    def pilot_size(self, items: int, trains_classifier: bool) -> int:
        """Number of items in the pilot, of so many."""
        if self.pilot is not None:
            return self.pilot
        return max(MIN_PILOT_ITEMS, items // PILOT_SHARE) if trains_classifier else MIN_PILOT_ITEMS

    def pseudo_counts(self, kind: str, classes: int) -> Floats:
        """Dirichlet pseudo-counts of the confusion matrix of a kind of worker, (true, said)."""
        skill = self.skill.get(kind, self.skill.get(CROWD, CROWD_SKILL))
        error = (1 - skill) / max(classes - 1, 1)
        counts: Floats = self.kind_pseudo_counts * (error + (skill - error) * np.eye(classes))
        return counts

    def refit_due(self, new_votes: int, votes: int) -> bool:
        """Whether `new_votes` since the last fit, among `votes` in all, are enough to fit again."""
        return 0 < self.refit_every <= new_votes and new_votes >= self.refit_growth * votes

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts that JSON can hold."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        experience = None if self.experience is None else {
            "mean": self.experience.mean.tolist(),
            "covariance": self.experience.covariance.tolist(),
        }  # fmt: skip
        return {**plain, "skill": dict(self.skill), "experts": list(self.experts), "experience": experience}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that `to_dict` returned; ValueError for a setting that does not exist."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise ValueError(f"a plan has no setting {unknown[0]!r}; it has {', '.join(sorted(known))}")
        if (saved := data.get("experience")) is None:
            return cls(**data)
        mean, covariance = (np.asarray(saved[name], np.float64) for name in ("mean", "covariance"))
        return cls(**{**data, "experience": CrowdMap(mean, covariance)})
