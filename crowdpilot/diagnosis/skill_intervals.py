"""Skill of each worker, P(the worker is right), with a posterior interval."""

from __future__ import annotations

from crowdpilot.aggregation import Aggregate
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.aggregation.workers.skill import skill_distribution
from crowdpilot.arrays import Floats
from crowdpilot.metrics import Interval


def skill_interval(result: Aggregate, level: float = 0.9) -> Interval[Floats]:
    """Skill of each worker with its posterior interval, (workers,) each; NaN without votes.

    The skill is the mean honest probability of the worker's labels, whatever the model of the result. The
    interval is wide where few votes or doubtful classes make it so, and also where nobody can tell whether
    the crowd errs together; gold labels narrow it (see `crowdpilot.aggregation.workers.skill`).

    Parameters
    ----------
    result
        Of any aggregator.
    level
        Probability that the interval holds the true skill.

    Examples
    --------
    >>> from crowdpilot.aggregation import DawidSkene
    >>> from crowdpilot.simulation import one_coin
    >>> votes, _ = one_coin(tasks=200, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    >>> skill, low, high = skill_interval(DawidSkene().fit(votes))
    >>> bool((low < skill).all() and (skill < high).all())
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a number between 0 and 1")
    honest = ensure_honest(result)
    skill = skill_distribution(honest.votes, honest.posterior, honest.codes, honest.crowd)
    return Interval(skill.mean, skill.quantile((1 - level) / 2), skill.quantile((1 + level) / 2))


def ensure_honest(result: Aggregate) -> Aggregate:
    """The result with honest probabilities; the same if it has them, or has one class alone."""
    if "model_probs" in result.params or len(result.votes.classes) < 2:
        return result
    return make_honest(result)
