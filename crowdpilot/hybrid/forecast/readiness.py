"""Readiness: whether the votes of a campaign tell enough about its crowd for a forecast."""

from __future__ import annotations

import numpy as np

from crowdpilot.hybrid.campaign.campaign import Campaign

MIN_VOTES = 50
MAX_OVERLAP = 100  # items with votes of two workers that are always enough
MIN_OVERLAP = 10


def why_too_early(campaign: Campaign) -> str:
    """Why a forecast would mean little yet; empty if it does.

    The number of votes that are still needed depends on how good workers are, and only items with votes of
    several workers tell that, or a classifier. Half of the items with votes should have two or more, or
    `MAX_OVERLAP` items; with a classifier `MIN_OVERLAP`.
    """
    view = campaign.view
    items, votes = view.items(), view.vote_count
    if not items.open.any() or view.is_finished:
        return "no item is open"
    if votes < MIN_VOTES:
        return f"it needs {MIN_VOTES} votes, and there are {votes}"
    finished = items.done | (items.gold >= 0).all(axis=1)  # also those that were overridden or stopped
    waiting = items.pilot & items.open & ~finished & ~items.votes.any(axis=1)
    if waiting.any():
        return f"{int(waiting.sum()):,} of the first items have no vote yet"
    found = [view.votes(criterion) for criterion in campaign.criteria]
    if len(np.unique(np.concatenate([v.worker for v in found]))) < 2:
        return "all votes come from one worker"
    if len(np.unique(np.concatenate([v.label for v in found]))) < 2:
        return "all votes are for one class"
    voted, overlap = int((items.votes > 0).sum()), int((items.votes > 1).sum())
    needed = MIN_OVERLAP if view.is_classified else min(MAX_OVERLAP, max(MIN_OVERLAP, voted // 2))
    if overlap < needed:
        return f"{needed - overlap:,} more items need votes of two workers"
    return ""
