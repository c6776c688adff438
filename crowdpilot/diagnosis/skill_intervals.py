"""How often each worker is right, and how sure that is."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis.leave_one_out import TINY, Evidence
from crowdpilot.metrics import Interval

ROUNDS = 30  # of EM for one number each; what is left is far below the width of the interval
VAGUE = 0.5  # imaginary votes right and wrong (Jeffreys' prior)


def skill_interval(evidence: Evidence, level: float = 0.9) -> Interval[Floats]:
    """Probability that each worker is right, with a posterior interval; NaN without votes.

    Vote *v* is right with probability r_v by the other votes of its task, so the likelihood of a
    skill s is prod_v (r_v s + (1 - r_v) (1 - s) / (K - 1)). The interval is that of a Beta law with
    its maximum and its curvature there: as wide as a binomial one where the others are sure of the
    class, wider where they are not.

    Parameters
    ----------
    evidence
        Of the votes.
    level
        How often the interval should hold the true skill.

    Examples
    --------
    >>> from crowdpilot.aggregation import DawidSkene
    >>> from crowdpilot.diagnosis.leave_one_out import weigh
    >>> from crowdpilot.simulation import one_coin
    >>> votes, _ = one_coin(tasks=200, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    >>> skill, low, high = skill_interval(weigh(DawidSkene().fit(votes)))
    >>> bool((low < skill).all() and (skill < high).all())
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a number between 0 and 1")
    votes, right = evidence.votes, evidence.right
    wrong = (1 - right) / max(len(votes.classes) - 1, 1)
    count, skill = votes.worker_sum(), np.full(len(votes.workers), 0.7)
    for _ in range(ROUNDS):
        s = skill[votes.worker]
        hit = right * s / np.maximum(right * s + wrong * (1 - s), TINY)
        skill = (votes.worker_sum(hit) + VAGUE) / (count + 2 * VAGUE)
    s = skill[votes.worker]
    bend = votes.worker_sum(((right - wrong) / np.maximum(right * s + wrong * (1 - s), TINY)) ** 2)
    bend += VAGUE / skill**2 + VAGUE / (1 - skill) ** 2
    sure = np.minimum(skill * (1 - skill) * bend, count + 2 * VAGUE)  # votes that would be as telling
    hits, misses = sure * skill, sure * (1 - skill)
    bounds = [beta.ppf(q, hits, misses) for q in ((1 - level) / 2, (1 + level) / 2)]
    return Interval(*(np.where(count > 0, values, np.nan) for values in (skill, *bounds)))
