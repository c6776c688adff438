"""Block preview: what would change without the votes of a worker, computed on a copy of the campaign."""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

import numpy as np

from crowdpilot.hybrid import Campaign, leave_out_worker
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store.engine import Row

MAX_ITEMS, MAX_VOTES = 20_000, 100_000  # of a project for which it is computed, in seconds
MAX_EXAMPLES = 10
TOO_LARGE = "This project is too large to compute it here."


class ChangedLabel(NamedTuple):
    """An item whose label would be another one."""

    item: str
    before: str
    after: str


class BlockPreview(NamedTuple):
    """What leaving out the votes of a worker would change."""

    votes: int  # of the worker that count now
    items: int  # of the project
    changed: int  # items whose label would be another one
    reopened: int  # decided items that would need votes again
    examples: list[ChangedLabel]
    note: str = ""  # why nothing was computed


def copy_campaign(replica: Replica, _: Row) -> Campaign | None:
    """A copy of the campaign of a project, for other threads; None if it is too large."""
    campaign = replica.campaign
    if len(campaign) > MAX_ITEMS or campaign.view.vote_count > MAX_VOTES:
        return None
    return deepcopy(campaign)


def preview_block(campaign: Campaign | None, worker: int) -> BlockPreview:
    """Compare decisions with and without the votes of a worker, both after a refit.

    A classifier that is trained on the votes keeps its probabilities.
    """
    if campaign is None:
        return BlockPreview(0, 0, 0, 0, [], TOO_LARGE)
    campaign.refit()
    before = campaign.decide()
    votes = _count_votes(campaign, worker)
    after = leave_out_worker(campaign, worker).decide() if votes else before
    changed = np.flatnonzero(before.codes != after.codes)
    names = ["out", "in"] if campaign.has_criteria else [str(name) for name in campaign.classes]
    examples = [
        ChangedLabel(str(before.items[n]), names[before.codes[n]], names[after.codes[n]])
        for n in changed[:MAX_EXAMPLES].tolist()
    ]
    reopened = int((before.done & ~after.done).sum())
    return BlockPreview(votes, len(before), len(changed), reopened, examples)


def _count_votes(campaign: Campaign, worker: int) -> int:
    names = campaign.view.workers().names
    if worker not in names:
        return 0
    number = names.index(worker)
    return sum(int((campaign.view.votes(q).worker == number).sum()) for q in campaign.criteria)
