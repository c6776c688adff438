"""Plan: how a campaign is run, as settings that a file can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.costs import CROWD, EXPERT

SKILL = 0.8
PILOT = 50
PART = 20


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The settings of a campaign.

    Parameters
    ----------
    policy
        Who is asked about what, and when it is enough; see `POLICIES`.
    fusion
        How machine and crowd are joined; see `FUSIONS`.
    skill
        How often a worker of each kind is right, before any vote; of other kinds as of the crowd.
    certainty
        Imaginary votes on each class that stand behind that skill.
    shared
        Imaginary votes of each worker on each class, divided as that skill says.
    pilot
        Random items that are asked about first; if not given, 50, and at least a twentieth of all if
        a machine has to learn from them.
    pilot_votes
        Votes on each of them.
    explore
        Share of later votes that go to random items, whatever they are worth.
    gold
        Share of a worker's items whose class is known, to test them.
    per_worker
        Votes of one worker at most; None for as many as they like.
    per_item
        Votes on one question about an item at most; None for as many as it pays.
    every
        Votes after which workers and machine are learned anew, at least.
    growth
        And at least this share of all votes so far.
    follow
        Whether what is known of workers moves with every vote in between, by incremental EM; if not, it
        stays as learned.
    floor
        The machine never says less than this of a class.
    map
        How the machine is calibrated against the crowd; see `crowdpilot.calibration.MAPS`.
    seed
        Draws everything that is drawn.
    """

    policy: str = "value"
    fusion: str = "bayes"
    skill: Mapping[str, float] = field(default_factory=lambda: {CROWD: SKILL, EXPERT: 0.97})
    certainty: float = 10.0
    shared: float = 12.0
    pilot: int | None = None
    pilot_votes: int = 1
    explore: float = 0.0
    gold: float = 0.0
    per_worker: int | None = None
    per_item: int | None = None
    every: int = 50
    growth: float = 0.05
    follow: bool = False
    floor: float = 0.002
    map: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("explore", "gold"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}, expected a share from 0 to 1")
        for name in (
            "certainty",
            "shared",
            "pilot",
            "pilot_votes",
            "per_worker",
            "per_item",
            "every",
            "growth",
        ):
            if (value := getattr(self, name)) is not None and not value >= 0:
                raise ValueError(f"{name} is {getattr(self, name)}, expected a number of 0 or more")
        if self.follow and not self.shared > 0:
            raise ValueError("what is known of workers can be followed only with shared above 0")
        if not 0 <= self.floor < 0.5:
            raise ValueError(f"floor is {self.floor}, expected a number from 0 to 0.5")
        for kind, skill in self.skill.items():
            if not 0 < skill < 1:
                raise ValueError(f"the skill of '{kind}' is {skill}, expected a share between 0 and 1")

    def first(self, items: int, learns: bool) -> int:
        """How many items come first, of so many."""
        if self.pilot is not None:
            return self.pilot
        return max(PILOT, items // PART) if learns else PILOT

    def usual(self, kind: str, K: int) -> Floats:
        """Imaginary votes of a kind of worker, (true, said)."""
        skill = self.skill.get(kind, self.skill.get(CROWD, SKILL))
        off = (1 - skill) / max(K - 1, 1)
        votes: Floats = self.certainty * (off + (skill - off) * np.eye(K))
        return votes

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts that JSON can hold."""
        return {**asdict(self), "skill": dict(self.skill)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that `to_dict` has written down; a setting that does not exist is refused."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise ValueError(f"a plan has no setting {unknown[0]!r}; it has {', '.join(sorted(known))}")
        return cls(**data)
