"""Votes that each task still needs: by how much the honest confidence grows with more votes of the crowd."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats
from crowdpilot.calibration.experience.evidence import FEATURES, NO_VOTE, design_effect
from crowdpilot.diagnosis.skill_intervals import ensure_honest

MAX_MORE_VOTES = 999  # needed by a task; also where more votes would not help
STEPS = (*range(1, 21), 25, 30, 40, 50)  # numbers of further votes that are tried


def more_votes(result: Aggregate, target: float) -> NDArray[np.int64]:
    """Votes of typical workers that each task still needs to reach the target confidence, (tasks,).

    Further votes are taken to say about the label what the votes of the crowd say on average, and the
    confidence after them is that of the crowd's map. It has a limit: errors on a task are not independent,
    so that more votes of the same crowd say ever less. 999 where the target is not reached by 50 more.

    Parameters
    ----------
    result
        Of any aggregator.
    target
        Confidence that a label should have.

    Examples
    --------
    >>> from crowdpilot.aggregation import Auto
    >>> from crowdpilot.simulation import one_coin
    >>> votes, _ = one_coin(tasks=200, skill=[0.9, 0.9, 0.8, 0.8, 0.7], votes_per_task=2, seed=0)
    >>> needed = more_votes(Auto().fit(votes), 0.8)
    >>> int(needed.min()), bool(needed.max() > 0)
    (0, True)
    """
    honest = ensure_honest(result)
    needed = np.zeros(len(honest.votes.tasks), np.int64)
    if len(honest.votes.classes) < 2:
        return needed
    below = honest.confidence < target
    needed[below] = MAX_MORE_VOTES
    for more in reversed(STEPS):
        needed[below & (confidence_after(honest, more) >= target)] = more
    return needed


def confidence_after(honest: Aggregate, more: int) -> Floats:
    """Expected confidence of each label after so many further votes of typical workers, (tasks,).

    The evidence of votes and pool (see `collect_evidence`) moves by what a vote adds on average, over
    tasks with several votes: a single vote chose its label itself.
    """
    crowd, K = honest.crowd, len(honest.votes.classes)
    n = honest.votes.task_sum()
    features = crowd.features.copy()
    decided, votes, pool = (FEATURES.index(name) for name in ("decided", "votes", "pool"))
    log_odds, mass = features[:, votes] * design_effect(n), expit(features[:, pool]) * (n + NO_VOTE)
    checked = np.maximum(n - 1, 0) / np.maximum(n, 1)
    checked = checked if checked.any() else np.ones(len(n))
    total = max(float(checked @ n), 1.0)
    log_odds_per_vote = float(checked @ log_odds) / total
    share_per_vote = float(np.clip(checked @ (mass - NO_VOTE / K) / total, 1 / K, 1))
    features[:, decided] = 1
    features[:, votes] = (log_odds + more * log_odds_per_vote) / design_effect(n + more)
    share = (mass + more * share_per_vote) / (n + NO_VOTE + more)
    features[:, pool] = logit(np.clip(share, 1e-9, 1 - 1e-9))
    return crowd.map.confidence(features)
