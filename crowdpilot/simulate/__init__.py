"""Crowds whose truth is known: votes to try methods on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from crowdpilot.simulate.crowd import Crowd, Simulation
from crowdpilot.simulate.discrete_difficulty import DiscreteDifficulty
from crowdpilot.simulate.hammer_spammer import HammerSpammer
from crowdpilot.simulate.independent_confusion import IndependentConfusion
from crowdpilot.simulate.one_coin import OneCoin, one_coin
from crowdpilot.simulate.save import save
from crowdpilot.simulate.student_teacher import StudentTeacher

STRATEGIES: dict[str, type[Crowd]] = {
    strategy.name: strategy
    for strategy in (HammerSpammer, StudentTeacher, IndependentConfusion, DiscreteDifficulty)
}

__all__ = [
    "STRATEGIES",
    "Crowd",
    "DiscreteDifficulty",
    "HammerSpammer",
    "IndependentConfusion",
    "OneCoin",
    "Simulation",
    "StudentTeacher",
    "make_crowd",
    "one_coin",
    "save",
]


def make_crowd(strategy: str, options: Mapping[str, Any]) -> Crowd:
    """The crowd of a strategy by its name, in any case, with hyphens or underscores.

    Examples
    --------
    >>> make_crowd("Hammer_Spammer", {"n_task": 50, "ratio": 0.3}).run().votes
    Votes(1500 votes, 50 tasks, 30 workers, 5 classes)
    """
    kind = STRATEGIES.get(strategy.lower().replace("_", "-"))
    if kind is None:
        raise ValueError(f"there is no strategy {strategy!r}, expected one of {', '.join(STRATEGIES)}")
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            raise ValueError(f"{kind.name} has no option {name!r}, expected one of {', '.join(known)}")
    return kind(**options)
