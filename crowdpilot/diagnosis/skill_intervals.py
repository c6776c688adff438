"""Skill of each worker, P(the worker is right), with a posterior interval."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from crowdpilot.arrays import Floats
from crowdpilot.diagnosis.leave_one_out import MIN_PROBABILITY, LeaveOneOut
from crowdpilot.metrics import Interval

EM_ITERATIONS = 30  # for one number each; the remaining error is far below the width of the interval
JEFFREYS = 0.5  # pseudo-votes right, and as many wrong (Jeffreys' prior)


def skill_interval(loo: LeaveOneOut, level: float = 0.9) -> Interval[Floats]:
    """Skill of each worker with its posterior interval, (workers,) each; NaN without votes.

    Vote *v* is right with the leave-one-out posterior probability r_v, so the likelihood of a
    skill s is prod_v (r_v s + (1 - r_v) (1 - s) / (K - 1)), with Jeffreys' prior Beta(1/2, 1/2).
    The interval is that of a Beta distribution with the same mode and curvature: as wide as a
    binomial one where the class of a task is certain, wider where it is not.

    Parameters
    ----------
    loo
        Leave-one-out posteriors of the votes.
    level
        Probability that the interval holds the true skill.

    Examples
    --------
    >>> from crowdpilot.aggregation import DawidSkene
    >>> from crowdpilot.diagnosis import leave_one_out_posteriors
    >>> from crowdpilot.simulation import one_coin
    >>> votes, _ = one_coin(tasks=200, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    >>> skill, low, high = skill_interval(leave_one_out_posteriors(DawidSkene().fit(votes)))
    >>> bool((low < skill).all() and (skill < high).all())
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a number between 0 and 1")
    votes, right = loo.votes, loo.p_correct
    wrong = (1 - right) / max(len(votes.classes) - 1, 1)
    count, skill = votes.worker_sum(), np.full(len(votes.workers), 0.7)
    for _ in range(EM_ITERATIONS):
        s = skill[votes.worker]
        hit = right * s / np.maximum(right * s + wrong * (1 - s), MIN_PROBABILITY)
        skill = (votes.worker_sum(hit) + JEFFREYS) / (count + 2 * JEFFREYS)
    s = skill[votes.worker]
    slope = (right - wrong) / np.maximum(right * s + wrong * (1 - s), MIN_PROBABILITY)
    curvature = votes.worker_sum(slope**2)
    curvature += JEFFREYS / skill**2 + JEFFREYS / (1 - skill) ** 2
    effective_votes = np.minimum(skill * (1 - skill) * curvature, count + 2 * JEFFREYS)
    hits, misses = effective_votes * skill, effective_votes * (1 - skill)
    bounds = [beta.ppf(q, hits, misses) for q in ((1 - level) / 2, (1 + level) / 2)]
    return Interval(*(np.where(count > 0, values, np.nan) for values in (skill, *bounds)))
