"""A simulated scenario: items with drawn classes, and workers whose accuracies have a beta distribution."""

from __future__ import annotations

import numpy as np

from crowdpilot.hybrid.replay.vote_source import Scenario, SimulatedVotes
from crowdpilot.names import to_names
from crowdpilot.votes import Votes


def simulate_scenario(
    seed: int,
    *,
    items: int = 500,
    workers: int = 50,
    skill: float = 0.8,
    spread: float = 0.1,
    classes: int = 2,
    share: float | None = None,
) -> tuple[Scenario, SimulatedVotes]:
    """Items without votes, and simulated workers who answer any number of questions about them.

    The accuracies of workers have a beta distribution; all errors of a worker are equally probable.

    Parameters
    ----------
    seed
        Seed of the classes of items, the accuracies of workers and their answers.
    items, workers, classes
        Their numbers.
    skill, spread
        Mean and standard deviation of the accuracy of workers.
    share
        Share of the last class among the items; the others have equal shares of the rest.
    """
    for name, count, minimum in (("items", items, 1), ("workers", workers, 1), ("classes", classes, 2)):
        if not isinstance(count, int) or count < minimum:
            raise ValueError(f"{name} is {count}, expected a whole number of {minimum} or more")
    share = 1 / classes if share is None else share
    for name, value in (("skill", skill), ("share", share), ("spread", spread)):
        if not isinstance(value, int | float) or not 0 <= value < 1 or (value == 0 and name != "spread"):
            raise ValueError(f"{name} is {value}, expected a number between 0 and 1")
    if not spread**2 < skill * (1 - skill):
        raise ValueError(f"spread is {spread}, too large for a mean accuracy of {skill}")
    rng = np.random.default_rng(seed)
    shares = np.append(np.full(classes - 1, (1 - share) / (classes - 1)), share)
    truth = rng.choice(classes, items, p=shares).astype(np.int32)
    size = skill * (1 - skill) / spread**2 - 1 if spread else np.inf
    right = rng.beta(skill * size, (1 - skill) * size, workers) if spread else np.full(workers, skill)
    wrong = (1 - right) / (classes - 1)
    confusion = wrong[:, None, None] + (right - wrong)[:, None, None] * np.eye(classes)
    tasks, names = np.arange(items), to_names(["no", "yes"] if classes == 2 else list(range(classes)))
    none = np.zeros(0, np.int32)
    scenario = Scenario(tasks, names, truth, {"": Votes(none, none, none, tasks, np.arange(workers), names)})
    return scenario, SimulatedVotes(tasks, names, truth, confusion, seed)
