"""Progress of items: open, settled (no further vote is worth its price now) or final."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import fixed_votes
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row

OPEN, SETTLED, FINAL = range(3)
STATE_NAMES = "open", "settled", "final"


class ItemProgress(NamedTuple):
    """How many items are in each state; withdrawn ones are in none."""

    open: int = 0
    settled: int = 0
    final: int = 0

    @property
    def items(self) -> int:
        """All together."""
        return sum(self)


def item_states(replica: Replica, project: Row) -> NDArray[np.int8]:
    """The state of every item that is not withdrawn, in the order of `Campaign.decide`: OPEN, SETTLED, FINAL.

    An item is final if no vote will be asked for that could change its decision, whatever the model learns:

    - each question about it has a known class, was decided by an expert, was stopped by the requester, or
      has as many votes as an item may have, or as the policy gives every item, which cannot be left out,
      unless somebody has asked for more;
    - or the project is done, or stopped.

    It is settled if the campaign would not ask about it now. A refit may open it again. The model never takes
    back that an item is final; only a person does, by an undone vote, a request for votes, votes that are
    left out by hand, new items in a project that was done, or a project that is opened again.
    """
    items = replica.campaign.view.items()
    if project.done or project.state == projects.CLOSED:
        return np.full(int((~items.withdrawn).sum()), FINAL, np.int8)
    limits = replica.campaign.plan.per_item, fixed_votes(replica.spec["policy"])
    fixed = (items.gold >= 0) | (items.override >= 0) | items.stopped
    if any(limits) and not _may_leave_out_votes(replica, items.gold):
        fixed |= items.votes >= min(limit for limit in limits if limit is not None)
    fixed &= (items.votes >= items.votes_wanted) | (items.gold >= 0)
    final = fixed.all(axis=1) | (items.final >= 0)
    states = np.where(final, FINAL, np.where(items.done, SETTLED, OPEN)).astype(np.int8)
    kept: NDArray[np.int8] = states[~items.withdrawn]
    return kept


def _may_leave_out_votes(replica: Replica, gold: Codes) -> bool:
    """Whether votes may stop to count by themselves: gold checks guests, who may come at any time."""
    return bool((gold >= 0).any()) and int(trust.settings_of(replica.spec)["checks"]) > 0


def count_items(replica: Replica, project: Row) -> ItemProgress:
    """How many items are open, settled and final."""
    return ItemProgress(*np.bincount(item_states(replica, project), minlength=3).tolist())
