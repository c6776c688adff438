"""Leave out: a copy of a campaign as it would be if one worker had never voted."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from crowdpilot.hybrid.campaign.campaign import Campaign
from crowdpilot.hybrid.campaign.decisions import Ask


def leave_out_worker(campaign: Campaign, worker: Any) -> Campaign:
    """A copy of a campaign without the votes of a worker, refitted to those of the others.

    The worker is not asked again about what they have answered. The campaign itself stays as it is.
    """
    copy = deepcopy(campaign)
    table = copy.view.workers()
    if worker not in table.names:
        copy.refit()
        return copy
    number = table.names.index(worker)
    names = copy.view.item_names
    asked = [
        Ask(names[row], copy.criteria[question])
        for who, row, question in table.asked.tolist()
        if who == number
    ]
    answered = [ask for ask in asked if copy.view.has_answered(ask, worker)]
    copy.retract(answered, worker)
    copy.release(worker, answered, ask_again=False)
    copy.refit()
    return copy
