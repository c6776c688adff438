"""Simulated crowds: votes whose truth is known, to try methods on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from crowdpilot.option_strings import choose
from crowdpilot.simulation.base import Crowd, Simulation
from crowdpilot.simulation.crowds.discrete_difficulty import DiscreteDifficulty
from crowdpilot.simulation.crowds.hammer_spammer import HammerSpammer
from crowdpilot.simulation.crowds.independent_confusion import IndependentConfusion
from crowdpilot.simulation.crowds.one_coin import OneCoin, one_coin
from crowdpilot.simulation.crowds.student_teacher import StudentTeacher
from crowdpilot.simulation.peerannot_folder import save

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
    "simulate",
]


def make_crowd(strategy: str, options: Mapping[str, Any]) -> Crowd:
    """The crowd of a strategy by its name, in any case, with hyphens or underscores.

    Examples
    --------
    >>> make_crowd("Hammer_Spammer", {"tasks": 50, "ratio": 0.3}).run().votes
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


def simulate(
    strategy: str = "independent-confusion",
    *,
    tasks: int = 200,
    workers: int = 30,
    classes: int = 5,
    votes_per_task: int | None = None,
    seed: int = 0,
) -> Simulation:
    """Votes of a simulated crowd, and the truth: unpacks as `votes, truth`.

    Parameters
    ----------
    strategy
        A name of `STRATEGIES` with other settings in brackets, such as "hammer-spammer[ratio=.3]".
    tasks, workers, classes, votes_per_task, seed
        As in `Crowd`.

    Examples
    --------
    >>> votes, truth = simulate("hammer-spammer[ratio=.3]", tasks=50, votes_per_task=5)
    >>> votes
    Votes(250 votes, 50 tasks, 30 workers, 5 classes)
    """
    kind, settings = choose(strategy, STRATEGIES, "strategy")
    sizes = {"tasks": tasks, "workers": workers, "classes": classes, "votes_per_task": votes_per_task}
    return kind(**{**sizes, "seed": seed, **settings}).run()
